package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
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

// TestFixedPoint holds a solution to what defines it: the moments of the one Gaussian (T5) and of the
// sites under their cavities (T4) are the same. Nothing of the solver's algebra is used. Solved to 1e-11;
// what is left is the rounding of two inversions and of 1/chi - d: 1e-16 times a condition number of a few
// 100 for K^-1 (jitter 0.05) times d/c up to 1e5 (noise 1e-3, ratio 10); and of u - V/chi^2, 1e-16 (d/c)^2 of
// V, of which a thousandth counts: 2e-6 at d/c = 4000, where the cavity's own is 1e-11 of it. So 1e-5 has
// room, and an error in any formula shows at 1e-2 or more.
func TestFixedPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for trial := range 150 {
		p := smallProblem(rng)
		if trial%5 == 0 {
			p.Law = resample.KFold{Folds: 2 + trial%9, N: 100}
		}
		settings := solver.Settings{Tolerance: 1e-11, Steps: solver.Steps(trial % 2)}
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

// aloneMoments enumerates all counts (k_1, ..., k_n) of the n <= 3 examples of a
// site that no other site touches. There the predictor is known outright,
//
//	f = K sum_j k_j y_j/(s2 + K sum_j k_j).
//
// It returns the mean and variance of f, and the expected (f - y_j)^2 given k_j = 0.
func aloneMoments(variance, noise float64, y []float64, law resample.CountDistribution) (mean, v float64,
	leftOut []float64) {
	one := law.Counts(1)
	leftOut = make([]float64, len(y))
	absent := make([]float64, len(y))
	second := 0.0
	counts := make([]int, len(y))
	var visit func(j int, p float64)
	visit = func(j int, p float64) {
		if j < len(y) {
			for k, pk := range one.All() {
				counts[j] = k
				visit(j+1, p*pk)
			}
			return
		}
		sum, total := 0.0, 0.0
		for j, k := range counts {
			sum += float64(k) * y[j]
			total += float64(k)
		}
		f := variance * sum / (noise + variance*total)
		mean += p * f
		second += p * f * f
		for j, k := range counts {
			if k == 0 {
				absent[j] += p
				leftOut[j] += p * (f - y[j]) * (f - y[j])
			}
		}
	}
	visit(0, 1)
	for j := range leftOut {
		leftOut[j] /= absent[j]
	}
	return mean, second - mean*mean, leftOut
}

// TestDecoupled: sites with a diagonal K do not know of each other, the cavity is the prior and the theory
// exact. N = 1 is the case of one site. The laws are the ones of independent counts, with and without
// replacement. Tolerance 1e-9: rounding, second - mean^2 among it.
func TestDecoupled(t *testing.T) {
	type sites struct {
		k []float64   // K_ii
		y [][]float64 // targets per site
	}
	for _, c := range []sites{
		{[]float64{2}, [][]float64{{1.5}}},
		{[]float64{0.5}, [][]float64{{1, 1}}},
		{[]float64{3}, [][]float64{{1, -2}}},
		{[]float64{1, 4, 0.01, 100}, [][]float64{{1}, {-0.5}, {2}, {0.3}}},
		{[]float64{1, 4, 0.3}, [][]float64{{1, 0.4, -3}, {2}, {-1, 1}}},
	} {
		for _, law := range []resample.Scheme{
			resample.Poisson{Ratio: 0.2}, resample.Poisson{Ratio: 1}, resample.Poisson{Ratio: 4},
			resample.Bernoulli{Rate: 0.4}, resample.KFold{Folds: 20, N: 100},
		} {
			for _, noise := range []float64{1e-3, 0.3, 10} {
				t.Run(fmt.Sprintf("sites=%d/%s/ratio=%g/noise=%g", len(c.k), law.Name(), law.Mean(), noise),
					func(t *testing.T) {
						p := solver.Problem{Loss: loss.Square{Noise: noise}, Law: law}
						gram := linalg.ZeroSym(len(c.k))
						p.Gram = gram
						var mean, variance, leftOut []float64
						for i, k := range c.k {
							gram.Set(i, i, k)
							for _, y := range c.y[i] {
								p.Site, p.Y = append(p.Site, i), append(p.Y, y)
							}
							m, v, l := aloneMoments(k, noise, c.y[i], p.Law)
							mean, variance, leftOut = append(mean, m), append(variance, v),
								append(leftOut, l...)
						}
						s := mustConverge(t, p, solver.Settings{Tolerance: 1e-12})
						same(t, "mean", s.Mean, mean, 1e-9)
						same(t, "variance", s.Var, variance, 1e-9)
						_, each := s.LeftOut(loss.SquareTest{})
						same(t, "left-out loss", each, leftOut, 1e-9)
					})
			}
		}
	}
}

// leaveOneOut is the exact square loss of leave-one-out with noise s2:
// ((y_i - f_i)/(1 - H_ii))^2, H = K (K + s2 I)^-1.
func leaveOneOut(t *testing.T, k *linalg.Sym, noise float64, y []float64) []float64 {
	a := denseOf(k)
	for i := range y {
		a.Set(i, i, a.At(i, i)+noise)
	}
	var h, f mat.Dense
	h.Mul(denseOf(k), inverse(t, a))
	f.Mul(&h, mat.NewDense(len(y), 1, slices.Clone(y)))
	losses := make([]float64, len(y))
	for i := range y {
		losses[i] = math.Pow((y[i]-f.At(i, 0))/(1-h.At(i, i)), 2)
	}
	return losses
}

// fullFit is the predictor trained once on all data.
func fullFit(t *testing.T, k *linalg.Sym, noise float64, y []float64) []float64 {
	count := slices.Repeat([]float64{1}, len(y))
	return testutil.Must(gp.FitFull(k, noise, false, count, y))(t)[0]
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
				same(t, "left-out loss", each, leaveOneOut(t, gram, noise/float64(k), y), 1e-8)
				same(t, "mean", s.Mean, fullFit(t, gram, noise/float64(k), y), 1e-8)
			})
		}
	}
}
