package multifidelity_test

import (
	"context"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/multifidelity"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// build is a model of a set: rbf with gamma = gammaD/(number of features), standardised;
// l nil: the set's preset.
func build(t testing.TB, name string, l loss.Loss, gammaD float64) *model.Model {
	t.Helper()
	set := need.One(dataset.Load(name, dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gammaD / float64(set.D())},
		Loss: l}
	if l == nil {
		p, _ := model.PresetFor(set)
		spec.Kernel, spec.Loss, spec.Standardize = p.Kernel, p.Loss, p.Standardize
	}
	m := need.One(model.Build(spec))(t)
	return m
}

func solve(t testing.TB, m *model.Model, law resample.CountDistribution) *solver.Solution {
	t.Helper()
	s := need.One(m.Solve(context.Background(), law, solver.Settings{Tolerance: 1e-6}))(t)
	return s
}

// refine is refit.Refine without new inputs.
func refine(t testing.TB, m *model.Model, s *solver.Solution, scheme resample.Scheme,
	settings refit.RefineSettings) *multifidelity.Result {
	t.Helper()
	r := need.One(refit.Refine(context.Background(), m, s, scheme, settings))(t)
	return r
}
