package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/svm"
	"bootbench/loss"
)

func classifier(t *testing.T, path string, l loss.Loss) model.Spec {
	t.Helper()
	set := need.One(dataset.Load(path, dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Loss: l}
	spec.Kernel.Gamma = 1 / float64(set.D())
	return spec
}

// TestCompareEstimators recomputes held-out and leave-one-out errors of the same splits by
// training anew.
func TestCompareEstimators(t *testing.T) {
	spec := classifier(t, "crabs", loss.Hinge{C: 3})
	s := EstimatorSettings{Train: 40, Splits: 3, Seed: 7, Folds: 40}
	j := need.One(CompareEstimators(t.Context(), spec, s))(t)
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	truth, leftOut := 0.0, 0.0
	for range s.Splits {
		drawn, others := need.Two(spec.Set.Split(s.Train, rng))(t)
		rng.Perm(s.Train) // the folds
		part := spec
		part.Set = drawn
		m := need.One(model.Build(part))(t)
		trainer := svm.NewTrainer(need.One(svm.NewRows(m.Gram()))(t))
		p := svm.Problem{Y: drawn.Y, Site: m.Site, C: make([]float64, s.Train)}
		for i := range p.C {
			p.C[i] = 3
		}
		all := need.One(m.CrossAll(model.Dense(blas64.General(others.X))))(t)
		r := need.One(trainer.Train(p, svm.Settings{Tolerance: 1e-8}))(t)
		for i, y := range others.Y {
			f := 0.0
			for k, b := range r.Beta {
				f += b * all.Data[i*all.Stride+k]
			}
			if y*f <= 0 {
				truth += 1 / float64(s.Splits*len(others.Y))
			}
		}
		for i, y := range drawn.Y {
			p.C[i] = 0
			r := need.One(trainer.Train(p, svm.Settings{Tolerance: 1e-8}))(t)
			if p.C[i] = 3; y*r.F[m.Site[i]] <= 0 {
				leftOut += 1 / float64(s.Splits*s.Train)
			}
		}
	}
	if math.Abs(j.Truth-truth) > 1e-12 {
		t.Errorf("held-out error %v, want %v", j.Truth, truth)
	}
	seen := map[string]EstimatorScore{}
	for _, v := range j.Estimators {
		seen[v.Estimator] = v
		if math.Abs(v.Bias-(v.Mean-j.Truth)) > 1e-12 || v.RMS < math.Abs(v.Bias)-1e-12 {
			t.Errorf("%+v", v)
		}
	}
	for _, name := range []string{"leave-one-out, exact", "leave-one-out, fast", "40-fold cross-validation"} {
		if math.Abs(seen[name].Mean-leftOut) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, seen[name].Mean, leftOut)
		}
	}
	if len(seen) != 11 || j.Splits != s.Splits || j.HeldOut != 160 {
		t.Errorf("%d estimators, %d splits, %d held out", len(seen), j.Splits, j.HeldOut)
	}
}

// TestCompareEstimatorsRefuses: settings, models and contexts that cannot be served
// are errors of their kind.
func TestCompareEstimatorsRefuses(t *testing.T) {
	spec := classifier(t, "crabs", loss.Hinge{C: 1})
	for _, s := range []EstimatorSettings{{}, {Train: 200, Splits: 1, Folds: 2}, {Train: 50, Folds: 2},
		{Train: 50, Splits: 1, Folds: 51}} {
		if _, err := CompareEstimators(t.Context(), spec, s); !errors.Is(err, model.ErrInput) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := CompareEstimators(t.Context(), classifier(t, "crabs", loss.Square{Noise: 1}),
		EstimatorSettings{Train: 50, Splits: 1, Folds: 5}); !errors.Is(err, model.ErrInput) {
		t.Errorf("square loss: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := CompareEstimators(ctx, spec, EstimatorSettings{Train: 50, Splits: 1, Folds: 5}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
