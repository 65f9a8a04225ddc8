package fits_test

import (
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

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
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5, 0)
	return m, solve(t, m, law, 1e-6)
}
