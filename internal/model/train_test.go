package model_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestMissingClass against the share of drawn resamples that lack a class.
func TestMissingClass(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Hinge{C: 1}})
	scheme := resample.Poisson{Ratio: 0.4}
	const draws = 20000
	lacking, counts := 0.0, make([]float64, 8)
	for b := range draws {
		scheme.Draw(3, b, counts)
		seen := map[float64]bool{}
		for i, k := range counts {
			if k > 0 {
				seen[m.Y[i]] = true
			}
		}
		if len(seen) < 2 {
			lacking += 1.0 / draws
		}
	}
	if got := model.MissingClass(m, scheme); math.Abs(got-lacking) > 4*math.Sqrt(0.25/draws) {
		t.Errorf("probability %v, drawn %v", got, lacking)
	}
	regression := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Square{Noise: 1}})
	if model.MissingClass(regression, scheme) != 0 {
		t.Error("regression lacks a class")
	}
}

// TestRetrainMethods: auto takes batches where there are resamples and sites enough, else single fits;
// batches refuse a likelihood, and every training a loss without a trainer.
func TestRetrainMethods(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "sonar"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.01},
		Loss: loss.SquaredHinge{C: 1}})
	settings := model.RetrainSettings{Settings: fits.Settings{Tests: []loss.Test{loss.ZeroOne{}}}}
	for resamples, want := range map[int]model.RetrainMethod{300: model.Batch, 20: model.Single} {
		settings.Resamples = resamples
		r := testutil.Must(model.Retrain(t.Context(), m, model.AutoMethod, bootstrap, settings))(t)
		if r.Method != want || want == model.Batch && r.Batch.Fits+r.Batch.Exact != resamples {
			t.Errorf("%d resamples by %v, %+v", resamples, r.Method, r.Batch)
		}
	}
	likely := build(t, model.Spec{Set: load(t, "crabs"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.2},
		Loss: loss.Probit{}})
	refused(model.Retrain(t.Context(), likely, model.Batch, bootstrap, settings))(t,
		"batches of a likelihood", model.ErrInput, "")
	unknown := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=40"),
		Loss: labelsOnly{loss.Square{Noise: 1}}})
	refused(unknown.FullFit(t.Context(), nil))(t, "no trainer", model.ErrInput, `loss "labels-only"`)
}

// TestTrainerWithoutMemory: hard margins on a factor are trained with the whole matrix; where that does not
// fit, no trainer is made, one by one or for what batches leave over, and the error says so.
func TestTrainerWithoutMemory(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:checker,n=900"), Kernel: kernel.Spec{Gamma: 20,
		Jitter: 0.01}, Loss: loss.HardMargin{}, Storage: model.LowRank, MaxRank: 20, MaxBytes: 5 << 20})
	refused(m.LossTrainers(0))(t, "one by one", linalg.ErrMemory, "")
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{MaxSweeps: 20}))(t)
	_, err := model.RetrainAround(t.Context(), m, s, bootstrap, model.RetrainSettings{
		Batch: fits.BlockSettings{MaxIterations: 1}, Settings: fits.Settings{Resamples: 3,
			Tests: []loss.Test{loss.ZeroOne{}}}})
	fails(t, "left over", err, linalg.ErrMemory, "")
}

// TestInterrupts: a model that is made, and trained, looks at its context before every block of a factor,
// row of a matrix and step of a training, and has no answer after its end.
func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		data    string
		loss    loss.Loss
		storage model.Storage
		looks   int // at least
	}{
		{"synthetic:friedman1,n=300", loss.Square{Noise: 1}, model.Exact, 300},
		{"synthetic:friedman1,n=300", loss.Square{Noise: 1}, model.LowRank, 5},
		{"synthetic:friedman1,n=300", loss.Huber{C: 100, Epsilon: 0.1}, model.Exact, 305},
		{"synthetic:friedman1,n=500", loss.Huber{C: 1, Epsilon: 1}, model.LowRank, 10},
		{"synthetic:blobs,n=300,d=3", loss.Hinge{C: 100}, model.Exact, 305},
		{"synthetic:blobs,n=100,d=3", loss.Probit{}, model.Exact, 102},
	} {
		spec := model.NewSpec(load(t, c.data), c.loss)
		spec.Storage, spec.RankTol = c.storage, 1e-3
		train := func(ctx context.Context) error {
			m, err := model.Build(ctx, spec)
			if err == nil {
				_, err = m.FullFit(ctx, nil)
			}
			return err
		}
		const endless = 1 << 40
		ctx := testutil.EndAfter(endless)
		if err := train(ctx); err != nil {
			t.Fatal(c.loss.Name(), err)
		}
		all := endless - ctx.Left()
		if all < c.looks {
			t.Errorf("%s, %v: %d looks, fewer than %d", c.loss.Name(), c.storage, all, c.looks)
		}
		for _, looks := range []int{0, 1, all / 2, all - 1} {
			ctx := testutil.EndAfter(looks)
			if err := train(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, model.ErrInput) {
				t.Errorf("%s, %v: after %d of %d looks: %v", c.loss.Name(), c.storage, looks, all, err)
			}
		}
	}
}
