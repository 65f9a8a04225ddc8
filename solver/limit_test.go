package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/gp"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

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

// TestDecoupled: sites with a diagonal K do not know of each other, the cavity
// is the prior and the theory exact. N = 1 is the case of one site. The laws are
// those of independent counts, with and without replacement.
// Tolerance 1e-9: rounding, second - mean^2 among it.
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
						gram := linalg.NewSym(len(c.k))
						p.Gram = gram
						var mean, variance, leftOut []float64
						for i, k := range c.k {
							gram.Set(i, i, k)
							for _, y := range c.y[i] {
								p.Site, p.Y = append(p.Site, i), append(p.Y, y)
							}
							m, v, l := aloneMoments(k, noise, c.y[i], p.Law)
							mean, variance, leftOut = append(mean, m), append(variance, v), append(leftOut, l...)
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
	var h mat.Dense
	h.Mul(denseOf(k), inverse(t, a))
	losses := make([]float64, len(y))
	for i := range y {
		f := 0.0
		for j := range y {
			f += h.At(i, j) * y[j]
		}
		losses[i] = math.Pow((y[i]-f)/(1-h.At(i, i)), 2)
	}
	return losses
}

// fullFit is the predictor trained once on all data.
func fullFit(t *testing.T, k *linalg.Sym, noise float64, y []float64) []float64 {
	count := make([]float64, len(y))
	for i := range count {
		count[i] = 1
	}
	full, err := gp.FitFull(k, noise, false, count, y)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestEveryExampleOnce: when every count is k for certain, the resample is the
// data, and to leave an example out is leave-one-out. The theory is then exact.
// k copies count as one with the noise divided by k. Tolerance 1e-8: the
// solver's 1e-12 apart, 1/(1 - H_ii) loses up to five digits of dense inverses.
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

// TestFewDraws: as nu -> 0 a resample holds one example with probability nu each
// and else none, so to first order in nu
//
//	m_i = nu sum_j K_ij y_j/(K_jj + s2),   V_i = nu sum_j (K_ij y_j/(K_jj + s2))^2,
//
// and the left-out loss tends to the mean of y^2. The next order is nu = 1e-7
// times a factor of the order of the number of sites.
func TestFewDraws(t *testing.T) {
	const nu, noise, n = 1e-7, 0.05, 20
	rng := rand.New(rand.NewPCG(12, 3))
	_, gram := line(rng, n, 0.5, 0.01)
	y := normals(rng, n)
	p := solver.Problem{Gram: gram, Y: y, Loss: loss.Square{Noise: noise}, Law: resample.Poisson{Ratio: nu}}
	s := mustConverge(t, p, solver.Settings{Tolerance: 1e-12})
	mean, variance, square := make([]float64, n), make([]float64, n), 0.0
	for i := range n {
		square += y[i] * y[i] / n
		for j := range n {
			f := gram.At(i, j) * y[j] / (gram.At(j, j) + noise)
			mean[i] += nu * f
			variance[i] += nu * f * f
		}
	}
	same(t, "mean", s.Mean, mean, 1e-5)
	same(t, "variance", s.Var, variance, 1e-5)
	leftOut, _ := s.LeftOut(loss.SquareTest{})
	sameNumber(t, "left-out error", leftOut, square, 1e-5)
}
