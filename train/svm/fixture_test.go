package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/train"
)

var symmetric, labels, near = problems.Symmetric, problems.Labels, problems.Near

var hard = math.Inf(1)

// same is n copies of v.
func same(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// problem is one without a bias.
func problem(y []float64, site []int, box []float64) train.Set {
	return train.Set{Y: y, Site: site, Weight: box}
}

// drawProblem has one to two examples a site, of either label, and boxes of all sizes.
func drawProblem(rng *rand.Rand, sites int) train.Set {
	n := sites + rng.IntN(sites)
	p := problem(labels(rng, n), make([]int, n), make([]float64, n))
	for i := range p.Y {
		p.Site[i], p.Weight[i] = rng.IntN(sites), math.Exp(2.5*rng.NormFloat64())
	}
	return p
}

// gram is a Gaussian Gram matrix of n points in the plane plus ridge I.
func gram(rng *rand.Rand, n int, ridge float64) *linalg.Sym {
	k := problems.Plane(rng, n)
	k.AddDiag(ridge)
	return k
}

// embedded is an embedded set with an rbf kernel of gamma = width/d over its distinct inputs.
func embedded(t testing.TB, name string, width, box float64) (*linalg.Sym, train.Set) {
	t.Helper()
	k, y, site := problems.Embedded(t, name, kernel.Spec{Gamma: width})
	return k, problem(y, site, same(len(y), box))
}

func newTrainer(t testing.TB, k *linalg.Sym) *Trainer {
	t.Helper()
	return NewTrainer(testutil.Must(NewRows(k))(t))
}

func mustTrain(t testing.TB, k *linalg.Sym, p train.Set, s train.Settings) *Result {
	t.Helper()
	r := testutil.Must(newTrainer(t, k).Train(p, s))(t)
	if r.Status != train.Converged {
		t.Fatalf("status %v, violation %g after %d steps", r.Status, r.Violation, r.Iterations)
	}
	return r
}

// plainField is f at every site by a plain double loop over examples.
func plainField(k *linalg.Sym, p train.Set, alpha []float64) []float64 {
	f := make([]float64, k.N())
	for s := range f {
		for j, a := range alpha {
			f[s] += a * p.Y[j] * k.At(s, p.Site.At(j))
		}
	}
	return f
}

// plainViolation is the largest Kuhn-Tucker violation of the dual point alpha,
// and an infinite one where alpha leaves its box.
func plainViolation(k *linalg.Sym, p train.Set, alpha []float64) float64 {
	f, worst := plainField(k, p, alpha), 0.0
	for i, a := range alpha {
		margin := p.Y[i] * f[p.Site.At(i)]
		switch {
		case !(a >= 0 && a <= p.Weight[i]):
			return math.Inf(1)
		case a == 0 && p.Weight[i] > 0:
			worst = max(worst, 1-margin)
		case a > 0 && a < p.Weight[i]:
			worst = max(worst, math.Abs(1-margin))
		case a > 0:
			worst = max(worst, margin-1)
		}
	}
	return worst
}

// cyclic solves the dual by plain cyclic coordinate ascent in the examples' weights, until a sweep moves no
// margin by more than 1e-13 or sweeps are up. It is slow and needs a well-conditioned K.
func cyclic(k *linalg.Sym, p train.Set) (alpha, f []float64) {
	alpha, f = make([]float64, len(p.Y)), make([]float64, k.N())
	for range 200000 {
		moved := 0.0
		for i, y := range p.Y {
			s := p.Site.At(i)
			a := min(max(alpha[i]+(1-y*f[s])/k.At(s, s), 0), p.Weight[i])
			step := a - alpha[i]
			for j := range f {
				f[j] += step * y * k.At(s, j)
			}
			alpha[i] = a
			moved = max(moved, math.Abs(step)*k.At(s, s))
		}
		if moved < 1e-13 {
			break
		}
	}
	return alpha, f
}
