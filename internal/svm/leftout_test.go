package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/train"
)

// TestLeaveOut: each example left out of the full solution gives the predictor
// of a training from nothing without it, in any order and again and again, and
// leaves the full solution as it was.
func TestLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 22))
	for trial := range 60 {
		m := 4 + rng.IntN(20)
		k := gram(rng, m, 0.05)
		n := m + rng.IntN(m)
		p := Problem{Y: labels(rng, n), Site: make([]int, n), C: make([]float64, n), Bias: trial%2 == 0}
		for i := range p.Y {
			p.Site[i], p.C[i] = rng.IntN(m), math.Exp(2*rng.NormFloat64())
			if trial%3 == 0 && rng.IntN(3) == 0 {
				p.C[i] = hard
			}
		}
		if i, _ := contradiction(p); i >= 0 {
			continue
		}
		trainer := newTrainer(t, k)
		s := Settings{Tolerance: 1e-10}
		full, err := trainer.Train(p, s)
		if err != nil || full.Status != train.Converged {
			t.Fatal(err, full.Status)
		}
		alpha, f := slices.Clone(full.Alpha), slices.Clone(full.F)
		for _, i := range append(rng.Perm(n), rng.Perm(n)...) {
			left, err := trainer.LeaveOut(i)
			if err != nil || left.Status != train.Converged {
				t.Fatal(err, left.Status)
			}
			without := p
			without.C = slices.Clone(p.C)
			without.C[i] = 0
			want := mustTrain(t, k, without, s).F[p.Site[i]]
			if math.Abs(left.F-want) > 1e-7 {
				t.Errorf("trial %d, example %d: f = %v, from nothing %v", trial, i, left.F, want)
			}
		}
		near(t, "alpha", full.Alpha, alpha, 0)
		near(t, "f", full.F, f, 0)
	}
}

func TestLeaveOutRefuses(t *testing.T) {
	k, p := fixedProblem(1)
	trainer := newTrainer(t, k)
	if _, err := trainer.LeaveOut(0); !errors.Is(err, errNotTrained) {
		t.Errorf("untrained: %v", err)
	}
	if _, err := trainer.Train(p, Settings{}); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, len(p.Y)} {
		if _, err := trainer.LeaveOut(i); err == nil {
			t.Errorf("example %d left out", i)
		}
	}
	if _, err := trainer.Train(p, Settings{Tolerance: 1e-9, MaxIterations: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.LeaveOut(0); !errors.Is(err, errNotTrained) {
		t.Errorf("not converged: %v", err)
	}
}
