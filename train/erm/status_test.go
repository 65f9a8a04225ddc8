package erm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
)

func identity(n int) *linalg.Sym {
	k := linalg.ZeroSym(n)
	k.AddDiag(1)
	return k
}

// TestNoVariance: where K_ii = 0 the predictor is 0, and its losses count.
func TestNoVariance(t *testing.T) {
	k := linalg.ZeroSym(2)
	k.Set(0, 0, 4)
	p := train.Set{Y: []float64{1, -1}, Weight: []float64{1, 3}}
	r := mustTrain(t, k, loss.Hinge{C: 1}, p, train.Settings{})
	// f_0 = 1 with a_0 = 1/4: 1/2 f^2/4 = 1/8, and 3 from the other site.
	near(t, "f", append(r.F, r.Weight...), []float64{1, 0, 0.25, 0}, 1e-12)
	if math.Abs(r.Objective-3.125) > 1e-12 {
		t.Errorf("objective %v", r.Objective)
	}
}

func TestStatus(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	k, p := small(rng, 30, 60, 0)
	for _, c := range []struct {
		s    train.Settings
		want train.Status
	}{
		{train.Settings{}, train.Converged},
		{train.Settings{Tolerance: 1e-300}, train.Stalled},
		{train.Settings{Tolerance: 1e-300, Limit: 1}, train.IterationLimit},
	} {
		r := testutil.Must(trainOnce(k, loss.Logistic{C: 1}, p, c.s))(t)
		if r.Status != c.want {
			t.Errorf("%v after %d steps, gap %g, want %v", r.Status, r.Steps, r.Gap, c.want)
		}
		for _, v := range append(r.F, r.Weight...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v in the answer", v)
			}
		}
	}
}

// TestRefusals: a kernel with a negative diagonal, and no loss.
func TestRefusals(t *testing.T) {
	negative := identity(2)
	negative.Set(1, 1, -1)
	if _, err := erm.NewTrainer(negative, loss.Hinge{C: 1}); err == nil {
		t.Error("a kernel with a negative diagonal passes")
	}
	if _, err := erm.NewTrainer(identity(1), nil); err == nil {
		t.Error("no loss passes")
	}
}
