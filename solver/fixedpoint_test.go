package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train/gp"
)

// smallProblem draws a problem of 1 to 12 sites with 1 to 4 examples each, in any order.
func smallProblem(rng *rand.Rand) solver.Problem {
	m := 1 + rng.IntN(12)
	x, k := line(rng, m, logUniform(rng, 0.2, 2), 0.05)
	amplitude := logUniform(rng, 0.1, 10)
	p := solver.Problem{Gram: symmetric(m, func(i, j int) float64 { return amplitude * k.At(i, j) })}
	for i := range m {
		for copies := 1 + rng.IntN(4)*rng.IntN(2); copies > 0; copies-- {
			p.Site = append(p.Site, i)
			p.Y = append(p.Y, math.Sin(2*x[i])+0.5*rng.NormFloat64())
		}
	}
	if len(p.Y) == m {
		p.Site = nil
	} else {
		rng.Shuffle(len(p.Y), func(a, b int) {
			p.Site[a], p.Site[b] = p.Site[b], p.Site[a]
			p.Y[a], p.Y[b] = p.Y[b], p.Y[a]
		})
	}
	p.Loss = loss.Square{Noise: logUniform(rng, 1e-3, 10)}
	ratio := logUniform(rng, 0.1, 10)
	p.Law = resample.Poisson{Ratio: ratio}
	if rng.IntN(2) == 0 {
		p.Law = resample.Multinomial{Size: 1 + int(ratio*float64(len(p.Y))), N: len(p.Y)}
	}
	return p
}

// TestResidual: the residual that a solution reports is the largest change of d that one more sweep makes,
// relative to d_i plus 1e-3 max_j(d_j chi_j)/chi_i, at a start far from the fixed point as well as near it.
// The site with 20 examples makes the two scales differ by orders of magnitude.
func TestResidual(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	_, k := line(rng, 8, 0.7, 0.05)
	p := bootstrap(k, normals(rng, 27), loss.Square{Noise: 1e-4}, 0.8)
	for e := range p.Y {
		p.Site = append(p.Site, max(0, e-19))
	}
	sites := boundSites(t, p)
	for sweeps := 1; sweeps <= 6; sweeps++ {
		s := mustSolve(t, p, solver.Settings{MaxSweeps: sweeps, Steps: solver.ExactSteps, Tolerance: 1e-12})
		g, share, want := denseG(t, k, s.SitePrecision), 0.0, 0.0
		for i, d := range s.SitePrecision {
			share = math.Max(share, d*g.At(i, i))
		}
		for i, d := range s.SitePrecision {
			c := 1/g.At(i, i) - d
			a1, _, _, _ := sites[i].Responses(c)
			want = math.Max(want, math.Abs(1/a1-c-d)/(d+1e-3*share/g.At(i, i)))
		}
		// Rounding of the differences: 1e-16 times d/c, up to 1e8 at the large
		// site, where they are not compared at all if the residual is small.
		sameNumber(t, fmt.Sprintf("residual after %d sweeps", sweeps), s.Residual, want, 1e-5)
	}
}

func times(a float64, v []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(v)), a, v)
}

// TestEveryExampleOnce: when every count is k for certain, the resample is the data, and to leave an example
// out is leave-one-out. The theory is then exact. k copies count as one with the noise divided by k.
// Tolerance 1e-8: beside the solver's 1e-12, 1/(1 - H_ii) loses up to five digits of dense inverses.
func TestEveryExampleOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for _, noise := range []float64{1e-3, 0.1, 5} {
		for _, k := range []int{1, 3} {
			t.Run(fmt.Sprintf("noise=%g/k=%d", noise, k), func(t *testing.T) {
				_, gram := line(rng, 30, 0.5, 0.01)
				y := normals(rng, 30)
				p := solver.Problem{Gram: gram, Y: y, Loss: loss.Square{Noise: noise}, Law: exactly{k}}
				s := mustConverge(t, p, solver.Settings{Tolerance: 1e-12})
				_, each := s.LeftOut(loss.SquareTest{})
				for i, v := range s.Var {
					if v != 0 || s.Cavity[i].Var != 0 {
						t.Errorf("site %d: variance %g, of the cavity %g", i, v, s.Cavity[i].Var)
					}
				}
				all := testutil.Must(gp.NewLeftOut(gram, nil, y, nil, nil, noise/float64(k)))(t)
				same(t, "left-out loss", each, floats.MulTo(all.Error, all.Error, all.Error), 1e-8)
				count := slices.Repeat([]float64{1}, len(y))
				fit := testutil.Must(gp.FitFull(gram, noise/float64(k), false, count, y))(t)[0]
				same(t, "mean", s.Mean, fit, 1e-8)
			})
		}
	}
}
