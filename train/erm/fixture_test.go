package erm_test

import (
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
)

// losses are the losses under test; all take labels.
func losses() []erm.Loss {
	return []erm.Loss{
		loss.Square{Noise: 0.3}, loss.Hinge{C: 1.5}, loss.SquaredHinge{C: 1},
		loss.EpsInsensitive{C: 3, Epsilon: 0.2}, loss.LeastAbsolute{C: 1}, loss.Huber{C: 4, Epsilon: 0.5},
		loss.Logistic{C: 2}, loss.Logistic{C: 1, ClassWeights: loss.ClassWeights{Negative: 0.6, Positive: 4}},
	}
}

// bootstrap draws multiplicities.
func bootstrap(rng *rand.Rand, w []float64) {
	clear(w)
	for range w {
		w[rng.IntN(len(w))]++
	}
}

// near is problems.Near.
var near = problems.Near

// small is a Gaussian kernel plus ridge over m points of the plane, and n examples with labels anywhere on
// them.
func small(rng *rand.Rand, m, n int, ridge float64) (*linalg.Sym, train.Set) {
	k := problems.Plane(rng, m)
	k.AddDiag(ridge)
	p := train.Set{Y: make([]float64, n), Site: make([]int, n), Weight: make([]float64, n)}
	for i := range n {
		p.Y[i], p.Site[i], p.Weight[i] = float64(2*rng.IntN(2)-1), rng.IntN(m), float64(rng.IntN(3))
	}
	return k, p
}

func mustTrain(t testing.TB, k *linalg.Sym, l erm.Loss, p train.Set, s train.Settings) *erm.Result {
	t.Helper()
	r := testutil.Must(trainOnce(k, l, p, s))(t)
	if r.Status != train.Converged {
		t.Fatalf("%s: %v, gap %g of %g after %d steps and %d sweeps", l.Name(), r.Status, r.Gap, r.Objective,
			r.Steps, r.Sweeps)
	}
	return r
}

// plainField is K a by a double loop.
func plainField(k *linalg.Sym, a []float64) []float64 {
	f := make([]float64, len(a))
	for i := range f {
		for j, v := range a {
			f[i] += v * k.At(i, j)
		}
	}
	return f
}

// siteLoss is L_i(f).
func siteLoss(l erm.Loss, p train.Set, site int, f float64) float64 {
	v := 0.0
	for j, k := range p.Weight {
		if k > 0 && p.Site.At(j) == site {
			v += k * l.Value(f, p.Y[j])
		}
	}
	return v
}

// objective is (T1) at f = K a.
func objective(k *linalg.Sym, l erm.Loss, p train.Set, a []float64) float64 {
	f, v := plainField(k, a), 0.0
	for i := range f {
		v += a[i]*f[i]/2 + siteLoss(l, p, i, f[i])
	}
	return v
}

// trainOnce is erm.NewTrainer and Trainer.Train in one.
func trainOnce(k *linalg.Sym, l erm.Loss, p train.Set, s train.Settings) (*erm.Result, error) {
	t, err := erm.NewTrainer(k, l)
	if err != nil {
		return nil, err
	}
	return t.Train(p, s)
}
