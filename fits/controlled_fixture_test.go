package fits_test

import (
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// buildModel is a model of a set: rbf with gamma = gammaD/(number of features), standardised.
func buildModel(t testing.TB, name string, l loss.Loss, gammaD float64) *model.Model {
	t.Helper()
	set := testutil.Must(dataset.Load(name, dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gammaD / float64(set.D())},
		Loss: l}
	return testutil.Must(model.Build(t.Context(), spec))(t)
}

func solveModel(t testing.TB, m *model.Model, law resample.CountDistribution) *solver.Solution {
	t.Helper()
	return testutil.Must(m.Solve(t.Context(), law, solver.Settings{Tolerance: 1e-6}))(t)
}

// refine is model.Refine without new newInputs.
func refine(t testing.TB, m *model.Model, s *solver.Solution, scheme resample.Scheme,
	settings model.RefineSettings) *model.Retraining {
	t.Helper()
	return testutil.Must(model.Refine(t.Context(), m, s, scheme, settings))(t)
}

// by are settings for a number of exact resamples.
func by(resamples int, tests ...loss.Test) (s model.RefineSettings) {
	s.Resamples, s.Tests = resamples, tests
	return s
}

// opaque is a scheme whose law is not known, so that there is no control.
type opaque struct{ resample.Scheme }

// law is the bootstrap, and squares is what most tests judge by.
var (
	law     = resample.Poisson{Ratio: 1}
	squares = loss.SquareTest{}
)

// ordinary is regression on 80 examples.
func ordinary(t testing.TB) (*model.Model, *solver.Solution) {
	t.Helper()
	m := buildModel(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5)
	return m, solveModel(t, m, law)
}
