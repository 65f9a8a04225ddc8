package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/train"
	"bootbench/train/svm"
)

// TestEstimators recomputes held-out and leave-one-out errors of the same splits by retraining.
func TestEstimators(t *testing.T) {
	set := testutil.Must(dataset.Load("crabs", dataset.Options{}))(t)
	set = set.Subset(rand.New(rand.NewPCG(3, 0)).Perm(set.N())).Head(80)
	e := &estimatorRun{set: set, c: 3, splits: 3, folds: 40, seed: 7}
	truth, estimates := e.run(t.Context())
	rng := rand.New(rand.NewPCG(7, 0))
	for split := range e.splits {
		drawn, others := set.Split(40, rng)
		rng.Uint64() // of the folds
		m := e.classifier(drawn)
		trainer := svm.NewTrainer(testutil.Must(svm.NewRows(m.Gram()))(t))
		p := train.Set{Y: drawn.Targets(0), Site: m.Site, Weight: make([]float64, 40)}
		for i := range p.Weight {
			p.Weight[i] = 3
		}
		all := testutil.Must(m.CrossAll(others))(t)
		r := testutil.Must(trainer.Train(p, train.Settings{Tolerance: 1e-8}))(t)
		held, leftOut := 0.0, 0.0
		for i, y := range others.Targets(0) {
			f := 0.0
			for k, b := range r.Weight {
				f += b * all.Data[i*all.Stride+k]
			}
			if y*f <= 0 {
				held += 1 / 40.
			}
		}
		for i, y := range drawn.Targets(0) {
			p.Weight[i] = 0
			r := testutil.Must(trainer.Train(p, train.Settings{Tolerance: 1e-8}))(t)
			if p.Weight[i] = 3; y*r.F[m.Site[i]] <= 0 {
				leftOut += 1 / 40.
			}
		}
		if math.Abs(truth[split]-held) > 1e-12 || len(estimates[split]) != 11 {
			t.Errorf("held-out error %v, want %v; %d estimates", truth[split], held, len(estimates[split]))
		}
		for _, v := range estimates[split] {
			switch v.name {
			case "leave-one-out, exact", "leave-one-out, fast", "40-fold cross-validation":
				if math.Abs(v.error-leftOut) > 1e-12 {
					t.Errorf("%s: %v, want %v", v.name, v.error, leftOut)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := attempt(func() { e.run(ctx) }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestScore: bias and root mean square are those of the estimates less the truth.
func TestScore(t *testing.T) {
	s := score([]float64{0.1, 0.3}, [][]estimate{{{error: 0.2}}, {{error: 0.7, retrained: 1}}}, 0)
	if math.Abs(s.Bias-0.25) > 1e-12 || math.Abs(s.BiasSE-0.15) > 1e-12 || math.Abs(s.Mean-0.45) > 1e-12 ||
		math.Abs(s.RMS-math.Sqrt((0.01+0.16)/2)) > 1e-12 || s.Retrained != 0.5 {
		t.Errorf("%+v", s)
	}
}
