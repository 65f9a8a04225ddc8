package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLeaveOneOut: leave-one-out as K-fold with N folds, square loss. The law of
// independent absences leaves each other example out with probability 1/N,
// where leave-one-out has all of them: its left-out error is that of a training
// set smaller by one, too high by some 1/N. The law given absence is exact.
func TestLeaveOneOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		noise float64
	}{{"line", 30, 0.1}, {"line", 30, 5}, {"boston", 506, 0.01}} {
		t.Run(fmt.Sprintf("%s/noise=%g", c.name, c.noise), func(t *testing.T) {
			var p solver.Problem
			if c.name == "boston" {
				p = boston(t, 1)
			} else {
				rng := rand.New(rand.NewPCG(23, 1))
				x, k := line(rng, c.n, 0.5, 0.01)
				p = solver.Problem{Gram: k, Y: normals(rng, c.n), Loss: loss.Square{Noise: c.noise}}
				for i := range p.Y {
					p.Y[i] = 1 + math.Sin(2*x[i]) + 0.3*p.Y[i]
				}
			}
			scheme := resample.KFold{Folds: c.n, N: c.n}
			exact := leaveOneOut(t, p.Gram.(*linalg.Sym), c.noise, p.Y)
			want := 0.0
			for _, l := range exact {
				want += l / float64(c.n)
			}
			p.Law = scheme
			got, _ := mustConverge(t, p, solver.Settings{}).LeftOut(loss.SquareTest{})
			t.Logf("left-out error %.5f by independent absences, exactly %.5f: %+.3f/N", got, want,
				(got/want-1)*float64(c.n))
			if off := (got/want - 1) * float64(c.n); !(off > 0.1 && off < 2) {
				t.Errorf("left-out error %g, exactly %g: off by %.2f/N", got, want, off)
			}
			p.Law = resample.ConditionalOnAbsent(scheme)
			_, each := mustConverge(t, p, solver.Settings{Tolerance: 1e-12}).LeftOut(loss.SquareTest{})
			same(t, "left-out loss given absence", each, exact, 1e-7)
		})
	}
}

func checkWithin(t *testing.T, what string, got, limit float64) {
	t.Helper()
	t.Logf("%s: off by %.4f", what, got)
	if !(got <= limit) {
		t.Errorf("%s: off by %.4f, more than %.4f", what, got, limit)
	}
}
