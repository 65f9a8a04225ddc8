package adjoint_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// drawnOften is a loss whose sites with a first target among some are drawn more often. It has the weights of
// the examples, by their targets.
type drawnOften struct {
	loss.Loss
	by     float64 // logarithm of the factor
	target []float64
	weight map[float64]float64
}

func (d drawnOften) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	if slices.Contains(d.target, y[0]) {
		law = resample.Poisson{Ratio: law.Mean() * math.Exp(d.by)}
	}
	if w, weighted := d.weight[y[0]]; weighted {
		l, err := loss.Times(d.Loss, w)
		if err != nil {
			return nil, err
		}
		return l.Site(y, law)
	}
	return d.Loss.Site(y, law)
}

// TestInfluence: the infinitesimal jackknife of groups of examples is the difference of
// solves in which they are drawn more or less often, with their shares in the mean; those that have one
// target among them, so that a loss can tell them; with weights of the examples, too. Tolerances are as for
// TestGradient.
func TestInfluence(t *testing.T) {
	poisson, zeroOne := resample.Poisson{Ratio: 1}, adjoint.Objective{Test: loss.ZeroOne{}}
	for _, c := range []slopeCase{
		{"square, sites", func(float64) loss.Loss { return loss.Square{Noise: 0.3} }, poisson,
			adjoint.Objective{Test: loss.SquareTest{}}, true, false},
		{"eps, bias", func(float64) loss.Loss { return loss.EpsInsensitive{C: 3, Epsilon: 0.2} },
			resample.Poisson{Ratio: 0.7}, adjoint.Objective{Test: loss.Absolute{}}, false, true},
		{"hinge", func(float64) loss.Loss { return loss.Hinge{C: 1} }, poisson, zeroOne, false, false},
		{"hinge2, bias", func(float64) loss.Loss { return loss.SquaredHinge{C: 1} }, poisson, zeroOne, false,
			true},
		{"square, weights", func(float64) loss.Loss { return loss.Square{Noise: 0.3} }, poisson,
			adjoint.Objective{Test: loss.SquareTest{}}, false, false},
		{"hinge, bias, weights", func(float64) loss.Loss { return loss.Hinge{C: 1} }, poisson, zeroOne, false,
			true},
	} {
		p, _ := c.problem(t, -0.2, 0)
		weight, of := map[float64]float64{}, slices.Repeat([]float64{1}, len(p.Y))
		if strings.Contains(c.name, "weights") {
			p.Weights = of
			for i, y := range p.Y {
				weight[y] = 1.5 + math.Tanh(y)
				of[i] = weight[y]
			}
		}
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
		all := testutil.Must(adjoint.Influence(t.Context(), s, c.objective.Test))(t)
		slope := func(targets []float64) float64 {
			at := func(step float64) float64 {
				moved := p
				moved.Loss, moved.Weights = drawnOften{p.Loss, step, targets, weight}, nil
				_, e := mustConverge(t, moved, solver.Settings{Tolerance: 1e-11}).LeftOut(c.objective.Test)
				return stat.Mean(e, of)
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
				want += of[i] * (each[i] - mean) / floats.Sum(of)
			}
			if math.Abs(got-want) > 1e-5*(math.Abs(want)+1e-2*mean) {
				t.Errorf("%s: influence of %v is %g, differences %g", c.name, group, got, want)
			}
		}
	}
}

// TestInteractions: summed over the left-out examples j, and over n, they are the influence of example i by
// training, which the adjoint has to all orders in the answer of the sites, and so are their squares in size.
func TestInteractions(t *testing.T) {
	for name, l := range map[string]loss.Loss{"square": loss.Square{Noise: 0.3}, "hinge": loss.Hinge{C: 1},
		"square, weights": loss.Square{Noise: 30}} {
		test := loss.Test(loss.SquareTest{})
		if name == "hinge" {
			test = loss.ZeroOne{}
		}
		c := slopeCase{name, func(float64) loss.Loss { return l }, resample.Poisson{Ratio: 1},
			adjoint.Objective{Test: test}, false, false}
		p, _ := c.problem(t, 0, 0)
		of, least := slices.Repeat([]float64{1}, len(p.Y)), 0.75
		if name == "square, weights" {
			for i := range of {
				of[i] = 0.5 + float64(i%3)
			}
			p.Weights, least = of, 0.98 // the first order of much noise
		}
		s := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
		influence := testutil.Must(adjoint.Influence(t.Context(), s, test))(t)
		q := testutil.Must(adjoint.Interactions(s, test, influence))(t)
		n, value, each := float64(len(p.Y)), 0.0, []float64(nil)
		value, each = s.LeftOut(test)
		byTraining, sums := make([]float64, len(p.Y)), make([]float64, len(p.Y))
		for i := range p.Y {
			byTraining[i] = influence[i] - of[i]*(each[i]-value)/floats.Sum(of)
			for j := range p.Y {
				sums[i] += q.Data[i*q.Stride+j] / n
			}
		}
		if correlation, ratio := stat.Correlation(sums, byTraining, nil), stat.StdDev(sums, nil)/
			stat.StdDev(byTraining, nil); !(correlation > least) || !(ratio > least && ratio < 1.05) {
			t.Errorf("%s: correlation %.3f with the influences by training, %.3f of their size",
				name, correlation, ratio)
		}
	}
}
