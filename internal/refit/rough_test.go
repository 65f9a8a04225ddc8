package refit_test

import (
	"context"
	"math"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// rings is a classifier on n examples, in a form of K.
func rings(t *testing.T, n string, form model.Storage) *model.Model {
	set, err := dataset.Load("synthetic:rings,n="+n, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := model.NewSpec(set, loss.Hinge{C: 2})
	spec.Storage, spec.Kernel.Gamma, spec.Bias = form, 2, true
	m, err := model.Build(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSolveRoughly: fits around one refresh of G take at most half as many iterations more as around the
// theory.
func TestSolveRoughly(t *testing.T) {
	m, law, ctx := rings(t, "800", model.Exact), resample.Poisson{Ratio: 1}, context.Background()
	settings := refit.RetrainSettings{Settings: retrain.Settings{Resamples: 64}}
	theory, err := m.Solve(ctx, law, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, around, err := refit.RetrainAround(ctx, m, theory, law, settings)
	if err != nil {
		t.Fatal(err)
	}
	rough, err := m.SolveRoughly(ctx, law, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, near, err := refit.RetrainAround(ctx, m, rough, law, settings)
	if err != nil {
		t.Fatal(err)
	}
	if got := rough.Stats.Refreshes; got.Exact > 1 || got.Single > 0 {
		t.Errorf("refreshes %+v", got)
	}
	if near.Iterations > around.Iterations*3/2 || near.Exact > around.Exact {
		t.Errorf("%+v around one refresh, %+v around the theory", near, around)
	}
}

// TestFitAll: the fit to all examples around a solution is that of Newton's method.
func TestFitAll(t *testing.T) {
	m, ctx := rings(t, "150", model.LowRank), context.Background()
	s, err := m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := refit.FitAll(ctx, m, s)
	if err != nil {
		t.Fatal(err)
	}
	newton, err := m.FullFit()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range newton {
		if off := math.Abs(f[i]-v) / math.Sqrt(s.Var[i]); off > 0.02 {
			t.Errorf("site %d: %g, by Newton's method %g: %g standard deviations", i, f[i], v, off)
		}
	}
}
