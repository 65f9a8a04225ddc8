package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// smallProblem draws a problem of 1 to 12 sites with 1 to 4 examples each.
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
	}
	p.Loss = loss.Square{Noise: logUniform(rng, 1e-3, 10)}
	ratio := logUniform(rng, 0.1, 10)
	p.Law = resample.Poisson{Ratio: ratio}
	if rng.IntN(2) == 0 {
		p.Law = resample.Multinomial{Size: 1 + int(ratio*float64(len(p.Y))), N: len(p.Y)}
	}
	return p
}

// gaussianSide is the left column of the theory at the site parameters of s,
// all from (K^-1 + diag d)^-1 by dense inversion (T5), and the cavities that
// the single-site identities then give (T6), each by the plain difference.
func gaussianSide(t rapid.TB, k linalg.Kernel, s *solver.Solution) (chi, m, v []float64,
	cavities []loss.Cavity) {
	g := denseG(t, k, s.SitePrecision)
	for i, d := range s.SitePrecision {
		var mean, variance float64
		for j := range s.SitePrecision {
			mean += g.At(i, j) * s.SiteMean[j]
			variance += g.At(i, j) * g.At(i, j) * s.SiteVariance[j]
		}
		x := g.At(i, i)
		c, gc, lc := 1/x-d, mean/x-s.SiteMean[i], -variance/(x*x)+s.SiteVariance[i]
		chi, m, v = append(chi, x), append(m, mean), append(v, variance)
		cavities = append(cavities, loss.Cavity{C: c, Mean: gc / c, Var: -lc / (c * c)})
	}
	return chi, m, v, cavities
}

// TestFixedPoint holds a solution to what defines it: the moments of the one
// Gaussian (T5) and those of the sites under their cavities (T4) are the same.
// Nothing of the solver's algebra is used. Solved to 1e-11; what is left is the
// rounding of two inversions and of 1/chi - d: 1e-16 times a condition number
// of a few 100 for K^-1 (jitter 0.05) times d/c up to 1e5 (noise 1e-3, ratio 10); and
// of u - V/chi^2, 1e-16 (d/c)^2 of V, of which a thousandth counts: 2e-6 at
// d/c = 4000, where the cavity's own is 1e-11 of it. So 1e-5 has room, and an error in any
// formula shows at 1e-2 or more.
func TestFixedPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for trial := range 150 {
		p := smallProblem(rng)
		settings := solver.Settings{Tolerance: 1e-11,
			Plain: trial%2 == 1}
		t.Run(fmt.Sprintf("%d/m=%d,n=%d", trial, p.Gram.N(), len(p.Y)), func(t *testing.T) {
			checkFixedPoint(t, p, settings)
		})
	}
}

func checkFixedPoint(t *testing.T, p solver.Problem, settings solver.Settings) {
	const tol = 1e-5
	s := mustConverge(t, p, settings)
	chi, m, v, cavities := gaussianSide(t, p.Gram, s)
	same(t, "mean (T5)", s.Mean, m, tol)
	same(t, "variance (T5)", s.Var, v, tol)
	sameCavities(t, s.Cavity, cavities, s, tol) // (T6)
	for i, site := range boundSites(t, p) {
		moments := site.Moments(cavities[i])
		sameNumber(t, "chi (T4)", (1-moments.Shrinkage)/cavities[i].C, chi[i], tol)
		same(t, "mean (T4)", []float64{moments.Mean, 1}, []float64{m[i], 1}, tol)
		sameNumber(t, "variance (T4)", moments.Var, v[i], tol)
	}
}

// TestResidual: the residual that a solution reports is the largest change of d
// that one more sweep makes, relative to d_i plus 1e-3 max_j(d_j chi_j)/chi_i, at
// a start far from the fixed point as well as near it. The site with 20
// examples makes the two scales differ by orders of magnitude.
func TestResidual(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	_, k := line(rng, 8, 0.7, 0.05)
	p := solver.Problem{Gram: k, Y: normals(rng, 27), Loss: loss.Square{Noise: 1e-4},
		Law: resample.Poisson{Ratio: 0.8}}
	for e := range p.Y {
		p.Site = append(p.Site, max(0, e-19))
	}
	sites := boundSites(t, p)
	for sweeps := 1; sweeps <= 6; sweeps++ {
		s := mustSolve(t, p, solver.Settings{MaxSweeps: sweeps, Plain: true, Tolerance: 1e-12})
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
