package multifidelity_test

import (
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// build is a model of a set: rbf with gamma = gammaD/(number of features), standardised.
func build(t testing.TB, name string, l loss.Loss, gammaD float64) *model.Model {
	t.Helper()
	set := need.One(dataset.Load(name, dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gammaD / float64(set.D())},
		Loss: l}
	return need.One(model.Build(t.Context(), spec))(t)
}

func solve(t testing.TB, m *model.Model, law resample.CountDistribution) *solver.Solution {
	t.Helper()
	return need.One(m.Solve(t.Context(), law, solver.Settings{Tolerance: 1e-6}))(t)
}

// refine is refit.Refine without new inputs.
func refine(t testing.TB, m *model.Model, s *solver.Solution, scheme resample.Scheme,
	settings refit.RefineSettings) *refit.Retraining {
	t.Helper()
	return need.One(refit.Refine(t.Context(), m, s, scheme, settings))(t)
}

// by are settings for a number of exact resamples.
func by(resamples int, tests ...loss.Test) (s refit.RefineSettings) {
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
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5)
	return m, solve(t, m, law)
}
