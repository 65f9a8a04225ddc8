package erm_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
)

func trainWithBias(t *testing.T, k *linalg.Sym, l erm.Loss, p train.Set) *erm.Result {
	t.Helper()
	trainer := testutil.Must(erm.NewTrainer(k, l))(t)
	p.Bias = true
	r, err := trainer.Train(p, train.Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(l.Name(), err)
	}
	return r
}

// TestBiasIsLimit: for every loss the weights sum to 0 and the predictor is the limit of those with K + c,
// extrapolated from c = 1e2, 1e3 and 1e4. A gap of 1e-11 of an objective of about 10 allows an error of f of
// (2 K gap)^1/2 = 1.4e-5 for a smooth loss; the tolerance is twice that.
func TestBiasIsLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for range 6 {
		k, p := small(rng, 20, 30, 0.05)
		for _, l := range losses() {
			r := trainWithBias(t, k, l, p)
			sum, size := 0.0, 0.0
			for _, a := range r.Weight {
				sum, size = sum+a, size+math.Abs(a)
			}
			if math.Abs(sum) > 1e-6*size {
				t.Errorf("%s: weights of size %g sum to %g", l.Name(), size, sum)
			}
			near(t, l.Name(), r.F, problems.Limit(k, 1e4, func(k *linalg.Sym) []float64 {
				return mustTrain(t, k, l, p, train.Settings{Tolerance: 1e-11}).F
			}), 3e-5)
		}
	}
}

// TestOneClass: a loss that decreases to infinity has no optimal bias; one with a flat part has the optimum
// nearest 0; a regression always has one.
func TestOneClass(t *testing.T) {
	k, _ := small(rand.New(rand.NewPCG(33, 1)), 3, 3, 0.1)
	set := train.Set{Y: []float64{-1, -1, -1}, Weight: []float64{1, 0, 2}, Bias: true}
	trainer := testutil.Must(erm.NewTrainer(k, loss.Logistic{C: 2}))(t)
	if _, err := trainer.Train(set, train.Settings{}); !errors.Is(err, erm.ErrNoFiniteBias) {
		t.Errorf("logistic loss of one class: %v", err)
	}
	for _, l := range []erm.Loss{loss.Hinge{C: 1.5}, loss.SquaredHinge{C: 1}, loss.Huber{C: 4, Epsilon: 0.5},
		loss.Square{Noise: 0.3}} {
		near(t, l.Name(), trainWithBias(t, k, l, set).F, []float64{-1, -1, -1}, 1e-5)
	}
	set.Weight = []float64{0, 0, 0}
	near(t, "no examples", trainWithBias(t, k, loss.Logistic{C: 2}, set).F, []float64{0, 0, 0}, 0)
}
