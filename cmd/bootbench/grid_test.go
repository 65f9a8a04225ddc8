package main

import (
	"math"
	"testing"

	"bootbench/internal/report"
)

// TestGridBy: cells are compared by the objective that tune descends along.
func TestGridBy(t *testing.T) {
	for _, by := range []string{"cv", "leftout", "632plus", "loo", "evidence"} {
		g := decoded[report.Grid](t,
			"grid synthetic:friedman1,n=40 --loss square --over noise=0.5,2,8 --over "+
				"gamma=0.01,0.1 --refine none --by", by)
		value := func(i int) float64 { return float64(g.Results[i].Value()) }
		best := 0
		for i := range g.Results {
			if value(i) < value(best) {
				best = i
			}
			if i != 3 {
				continue
			}
			d := decoded[report.Tuning](t, "tune synthetic:friedman1,n=40 --over noise,gamma --by", by,
				"--noise", g.Results[i].Values[0], "--gamma", g.Results[i].Values[1])
			near := 0.01
			if by == "cv" { // exact, by one partition: of tune by the theory, over all
				near = 0.1
			}
			if math.Abs(float64(*d.Path[0].Objective)/value(i)-1) > near {
				t.Errorf("%s, cell %d: %g, tune has %g", by, i, value(i), *d.Path[0].Objective)
			}
		}
		if *g.Best != best {
			t.Errorf("%s: best %d, want %d", by, *g.Best, best)
		}
	}
}
