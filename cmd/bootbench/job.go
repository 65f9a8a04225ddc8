package main

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// choice is what a search has chosen of a model: how, "" if all was given, and the flags that give it.
type choice struct {
	by    string
	flags []string
}

// problem is DATA and what is modelled of it, before any matrix.
type problem struct {
	spec    model.Spec
	source  string // of the preset
	choice  choice
	test    loss.Test
	readS   float64  // seconds that reading took
	reading []string // flags that decided what was read
}

// newProblem is what the flags make of a data set.
func newProblem(m *modelFlags, t *testFlags, set *dataset.Set) (*problem, error) {
	preset, _ := model.PresetFor(set)
	return m.problem(t, set, preset)
}

// problem is what the flags make of a data set and base.
func (m *modelFlags) problem(t *testFlags, set *dataset.Set, base model.Preset) (*problem, error) {
	spec, source, err := m.spec(set, base)
	if err != nil {
		return nil, err
	}
	test, err := t.of(set)
	return &problem{spec: spec, source: source, test: test, reading: m.reading()}, err
}

// job is a problem with its model, and what a report says of them.
type job struct {
	*model.Model
	test   loss.Test
	report report.Subject
	times  report.Times
	choice choice
	full   []float64 // the fit to all data, at the sites
}

// perExample spreads values over sites onto the examples.
func (j *job) perExample(overSites []float64) []float64 {
	values := make([]float64, len(j.Site))
	for example, site := range j.Site {
		values[example] = overSites[site]
	}
	return values
}

// warnings are those of a computation, and one where resamples are often empty or lack a
// class. They are never nil: a list in a document is a list.
func (j *job) warnings(scheme resample.Scheme, others []string) []string {
	all := append(append([]string{}, j.Warnings()...), others...)
	if share := refit.EmptyShare(j.Model, scheme); share > 0.05 {
		all = append(all, fmt.Sprintf("%.0f%% of the resamples are empty: they predict the prior mean 0, and count",
			100*share))
	}
	switch share := refit.MissingClass(j.Model, scheme); {
	case share > 0.5:
		all = append(all, fmt.Sprintf(
			"%.0f%% of the resamples lack one of the two classes: their classifier is constant", 100*share))
	case j.Bias && share > 0.01:
		all = append(all, fmt.Sprintf(
			"%.2g%% of the resamples lack one of the two classes: they predict the class that is there, which the "+
				"theory does not see",
			100*share))
	}
	return all
}

// subjectReport says what was modelled.
func subjectReport(m *model.Model, source string) report.Subject {
	r := report.Subject{
		Data: m.Set.Name, N: m.Set.N(), D: m.Set.D(), Sites: m.Sites(), Merged: m.Merged(),
		Task: m.Set.Task.String(),
		Loss: m.Loss.Name(), Kernel: m.Kernel.WithDefaults(m.Set.D()), Standardized: m.Standardize, Preset: source,
	}
	r.Target, r.Labels, r.Notes = m.Set.Target, m.Set.Labels.Names(), m.Set.Notes
	if note := biasNote(m); note != "" {
		r.Notes = append(slices.Clone(r.Notes), note)
	}
	if m.NormalizeTarget && m.Set.Task == dataset.Regression {
		r.TargetMean = &m.TargetMean
	}
	r.Parameters, _ = loss.ParametersOf(m.Loss)
	r.Model = &report.Model{
		Loss: r.Loss, Parameters: r.Parameters, Kernel: r.Kernel.Kind, Gamma: r.Kernel.Gamma,
		LengthScale: r.Kernel.LengthScale, Degree: r.Kernel.Degree, Coef0: r.Kernel.Coef0,
		Amplitude: r.Kernel.Amplitude, Constant: r.Kernel.Constant, Jitter: r.Kernel.Jitter,
		Bias: m.Bias, Standardize: m.Standardize, NormalizeTarget: r.TargetMean != nil,
	}
	return r
}

// resamplingReport says how n examples are redrawn.
func resamplingReport(scheme resample.Scheme, n int) report.Resampling {
	r := report.Resampling{
		Scheme: scheme.Name(), Ratio: scheme.Mean(), Distinct: float64(n) * (1 - resample.ProbZero(scheme, 1)),
		Is632Applicable: solver.Is632Applicable(scheme),
	}
	if kfold, ok := scheme.(resample.KFold); ok {
		r.Folds = kfold.Folds
	}
	return r
}

// errorsReport are the estimates of the test error under a test loss.
func errorsReport(test loss.Test, e solver.ErrorEstimates) report.Errors {
	return report.Errors{
		TestLoss: test.Name(), TestError: null.Float(e.LeftOut), Apparent: null.Float(e.Apparent),
		NoInformation: null.Float(e.NoInformation), Err632: null.Float(e.Err632),
		Err632Plus: null.Float(e.Err632Plus),
	}
}

// quality puts a left-out error in proportion, perExample in the order of the file.
func (j *job) quality(testError null.Float, perExample []float64) *calibration.Quality {
	return calibration.NewQuality(j.test, testError, j.targets(), perExample, j.report.Labels)
}

// targets are those of the file, in its units.
func (j *job) targets() []float64 {
	y := slices.Clone(j.Set.Y)
	floats.AddConst(j.TargetMean, y)
	return y
}

// withWarning adds a warning, unless it is empty.
func withWarning(warnings []string, text string) []string {
	if text == "" {
		return warnings
	}
	return append(warnings, text)
}
