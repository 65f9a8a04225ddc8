package solver_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// drawnOften is a loss whose sites with a first target among some are drawn more often.
type drawnOften struct {
	loss.Loss
	by     float64 // logarithm of the factor
	target []float64
}

func (d drawnOften) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	if slices.Contains(d.target, y[0]) {
		law = resample.Poisson{Ratio: law.Mean() * math.Exp(d.by)}
	}
	return d.Loss.Site(y, law)
}

// TestInfluence: the infinitesimal jackknife of groups of examples is the difference of
// solves in which they are drawn more or less often, with their shares in the mean; those that have one
// target among them, so that a loss can tell them. Tolerances are those of TestGradient.
func TestInfluence(t *testing.T) {
	poisson, zeroOne := resample.Poisson{Ratio: 1}, solver.Objective{Test: loss.ZeroOne{}}
	for _, c := range []slopeCase{
		{"square, sites", func(float64) loss.Loss { return loss.Square{Noise: 0.3} }, poisson,
			solver.Objective{Test: loss.SquareTest{}}, true, false},
		{"eps, bias", func(float64) loss.Loss { return loss.EpsInsensitive{C: 3, Epsilon: 0.2} },
			resample.Poisson{Ratio: 0.7}, solver.Objective{Test: loss.Absolute{}}, false, true},
		{"hinge", func(float64) loss.Loss { return loss.Hinge{C: 1} }, poisson, zeroOne, false, false},
		{"hinge2, bias", func(float64) loss.Loss { return loss.SquaredHinge{C: 1} }, poisson, zeroOne, false, true},
	} {
		p, _ := c.problem(t, -0.2, 0)
		s := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
		mean, each := s.LeftOut(c.objective.Test)
		groups := map[float64][]int{} // by the first target of the site
		for i := range p.Y {
			first := i
			for j := range p.Y {
				if s.SiteOf(j) == s.SiteOf(i) {
					first = j
					break
				}
			}
			groups[p.Y[first]] = append(groups[p.Y[first]], i)
		}
		all, err := s.Influence(context.Background(), p.Loss, c.objective.Test)
		if err != nil {
			t.Fatal(err)
		}
		slope := func(targets []float64) float64 {
			at := func(step float64) float64 {
				moved := p
				moved.Loss = drawnOften{p.Loss, step, targets}
				e, _ := mustConverge(t, moved, solver.Settings{Tolerance: 1e-11}).LeftOut(c.objective.Test)
				return e
			}
			const h = 1e-3
			return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		}
		n, total := float64(len(p.Y)), slope(p.Y)
		for _, target := range p.Y[:3] {
			group := groups[target]
			got, want := 0.0, slope([]float64{target})-total*float64(len(group))/n
			for _, i := range group {
				got += all[i]
				want += (each[i] - mean) / n
			}
			if math.Abs(got-want) > 1e-5*(math.Abs(want)+1e-2*mean) {
				t.Errorf("%s: influence of %v is %g, differences %g", c.name, group, got, want)
			}
		}
	}
}
