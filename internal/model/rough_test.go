package model_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// rings is a classifier on n examples, in a form of K.
func rings(t *testing.T, n string, form model.Storage) *model.Model {
	set := testutil.Must(dataset.Load("synthetic:rings,n="+n, dataset.Options{}))(t)
	spec := model.NewSpec(set, loss.Hinge{C: 2})
	spec.Storage, spec.Kernel.Gamma, spec.Bias = form, 2, true
	return testutil.Must(model.Build(t.Context(), spec))(t)
}

// TestSolveRoughly: fits around one refresh of G take at most half as many iterations more as around the
// theory. Around either, one of 150 is left to the exact trainer; rounding decides which (8 to 14 of 1500
// with one thread or two). Of 64, four are left with probability 1e-3.
func TestSolveRoughly(t *testing.T) {
	m, law, ctx := rings(t, "800", model.Exact), resample.Poisson{Ratio: 1}, context.Background()
	settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 64}}
	theory := testutil.Must(m.Solve(ctx, law, solver.Settings{}))(t)
	around := testutil.Must(model.RetrainAround(ctx, m, theory, law, settings))(t)
	rough := testutil.Must(m.SolveRoughly(ctx, law, solver.Settings{}))(t)
	near := testutil.Must(model.RetrainAround(ctx, m, rough, law, settings))(t)
	if got := rough.Stats.Refreshes; got.Exact > 1 || got.Single > 0 {
		t.Errorf("refreshes %+v", got)
	}
	if near.Batch.Iterations > around.Batch.Iterations*3/2 || max(near.Batch.Exact, around.Batch.Exact) > 3 {
		t.Errorf("%+v around one refresh, %+v around the theory", near.Batch, around.Batch)
	}
}

// TestFitAround: the fit to all examples around a solution is the one by Newton's method.
func TestFitAround(t *testing.T) {
	m, ctx := rings(t, "150", model.LowRank), context.Background()
	s := testutil.Must(m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	f := testutil.Must(m.FullFit(ctx, s))(t)
	newton := testutil.Must(m.FullFit(t.Context(), nil))(t)
	for i, v := range newton {
		if off := math.Abs(f[i]-v) / math.Sqrt(s.Var[i]); off > 0.02 {
			t.Errorf("site %d: %g, by Newton's method %g: %g standard deviations", i, f[i], v, off)
		}
	}
}

// TestInterruptedTheory: a context that ends while the theory is solved is the error, and no failure of it.
func TestInterruptedTheory(t *testing.T) {
	m := rings(t, "60", model.Exact)
	settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 64, Workers: 1}}
	for until := range 10 {
		if _, err := model.Retrain(testutil.EndAfter(200*until), m, model.Batch, resample.Poisson{Ratio: 1},
			settings); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
