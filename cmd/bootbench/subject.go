package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/resample"
	"bootbench/solver"
)

// subject is DATA with its model, and what a report says of them.
type subject struct {
	*model.Model
	test   loss.Test
	report report.Subject
	times  report.Times
}

// subject reads DATA and builds its model.
func (s *session) subject(m *modelFlags, t *testFlags, path string) (*subject, error) {
	s.bars.show("reading", 0, 1)
	began := time.Now()
	set, err := m.load(s, path)
	if err := s.agree(err); err != nil {
		return nil, err
	}
	read := time.Since(began).Seconds()
	spec, source, err := m.spec(set)
	if err != nil {
		return nil, err
	}
	test, err := t.of(set)
	if err != nil {
		return nil, err
	}
	if err := s.belongs(spec, m); err != nil {
		return nil, err
	}
	sub, err := s.build(spec, test)
	if err != nil {
		return nil, err
	}
	sub.report, sub.times.Read = subjectReport(sub.Model, m.used, source), read
	return sub, s.ctx.Err()
}

// build builds a model. Its report is left to the caller.
func (s *session) build(spec model.Spec, test loss.Test) (*subject, error) {
	s.bars.show("kernel matrix", 0, 1)
	if s.ranks != nil {
		spec.Grid = s.ranks
	}
	built, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	return &subject{Model: built, test: test, times: report.Times{Gram: built.GramTime.Seconds()}}, nil
}

// resampled reads DATA, builds its model, and says how it is redrawn.
func (s *session) resampled(m *modelFlags, r *schemeFlags, t *testFlags, path string) (*subject, resample.Scheme, error) {
	if err := r.check(r.ratio); err != nil {
		return nil, nil, err
	}
	s.checkpoint.aboutScheme(r, fmt.Sprint(r.ratio))
	sub, err := s.subject(m, t, path)
	if err != nil {
		return nil, nil, err
	}
	scheme, err := r.of(r.ratio, sub.Set.N())
	return sub, scheme, err
}

// subjectReport says what was modelled.
func subjectReport(m *model.Model, used loss.Parameters, source string) report.Subject {
	r := report.Subject{
		Data: m.Set.Name, N: m.Set.N(), D: m.Set.D(), Sites: m.Sites(), Merged: m.Merged(), Task: m.Set.Task.String(),
		Loss: m.Loss.Name(), Kernel: kernelReport(m.Kernel, m.Set.D()), Standardized: m.Standardize, Preset: source,
	}
	r.Noise, r.C, r.Epsilon, r.Delta, r.Dof, r.Scale = used.Noise, used.C, used.Epsilon, used.Delta, used.Dof, used.Scale
	return r
}

// kernelReport writes out the defaults that kernel.Spec documents.
func kernelReport(k kernel.Spec, d int) report.Kernel {
	r := report.Kernel{
		Kind: k.Kind.String(), Gamma: k.Gamma, LengthScale: k.LengthScale, Degree: k.Degree,
		Coef0: k.Coef0, Amplitude: k.Amplitude, Constant: k.Constant, Jitter: k.Jitter,
	}
	if r.Amplitude == 0 {
		r.Amplitude = 1
	}
	scaled := k.Kind != kernel.Linear && k.Kind != kernel.Precomputed
	if scaled && r.Gamma == 0 && len(r.LengthScale) == 0 {
		r.Gamma = 1 / (2 * float64(d))
	}
	if k.Kind == kernel.Poly && r.Degree == 0 {
		r.Degree = 3
	}
	return r
}

// resamplingReport says how n examples are redrawn.
func resamplingReport(scheme resample.Scheme, n int) report.Resampling {
	r := report.Resampling{
		Scheme: scheme.Name(), Ratio: scheme.Mean(), Distinct: float64(n) * (1 - resample.ProbZero(scheme, 1)), Is632Applicable: solver.Is632Applicable(scheme),
	}
	if kfold, ok := scheme.(resample.KFold); ok {
		r.Folds = kfold.Folds
	}
	return r
}

// convergenceReport says how good a solution is.
func (sub *subject) convergenceReport(solution *solver.Solution) report.Convergence {
	engine := model.Exact.String()
	approximation, low := sub.Approximation()
	switch {
	case low:
		engine = model.LowRank.String()
	case sub.Spread != nil:
		engine = model.ScaLAPACK.String()
	}
	return report.Convergence{
		Method: solution.Method.String(), Engine: engine, Status: solution.Status.String(),
		Residual: solution.Residual, Sweeps: solution.Stats.Sweeps, Refreshes: solution.Stats.Refreshes,
		Rank: approximation.Rank, RankResidual: approximation.Residual, RankLargest: approximation.Largest,
	}
}

// errorsReport are the estimates of the test error under a test loss.
func errorsReport(test loss.Test, e solver.ErrorEstimates) report.Errors {
	return report.Errors{
		TestLoss: test.Name(), TestError: e.LeftOut, Apparent: e.Apparent,
		NoInformation: e.NoInformation, Err632: e.Err632, Err632Plus: e.Err632Plus,
	}
}

// fit trains once on all data.
func (s *session) fit(sub *subject) ([]float64, error) {
	s.bars.show("fit to all data", 0, 1)
	began := time.Now()
	fitted, err := sub.FullFit()
	sub.times.Fit = time.Since(began).Seconds()
	return fitted, err
}

// solve solves, shows its progress under a label and sets the exit status.
func (s *session) solve(sub *subject, scheme resample.Scheme, settings solver.Settings, label string) (*solver.Solution, error) {
	var tracing error
	settings.Progress = func(sweep solver.Sweep) {
		if err := s.trace.note(label, sweep); tracing == nil {
			tracing = err
		}
		done := 100 * math.Log(sweep.Residual) / math.Log(settings.Tolerance)
		s.bars.show(fmt.Sprintf("%s: sweep %d, residual %.1e", label, sweep.Number, sweep.Residual), int(max(0, min(100, done))), 100)
		s.poll()
	}
	s.bars.show(label, 0, 100)
	s.checkpoint.enter(&settings)
	solution, err := sub.Solve(s.ctx, scheme, settings)
	s.checkpoint.leave(solution)
	if err := s.agree(errors.Join(err, tracing)); err != nil {
		return nil, err
	}
	switch {
	case solution.Status == solver.Cancelled:
		s.status = exitInterrupted
	case solution.Status != solver.Converged && s.status == exitDone:
		s.status = exitNotConverged
	}
	return solution, nil
}

// warnings are those of a computation, and one where resamples often lack a
// class. They are never nil: a list in a document is a list.
func (sub *subject) warnings(scheme resample.Scheme, others []string) []string {
	all := append(append([]string{}, sub.Warnings()...), others...)
	if share := sub.MissingClass(scheme); share > 0.5 {
		all = append(all, fmt.Sprintf("%.0f%% of the resamples lack one of the two classes: their classifier is constant", 100*share))
	}
	return all
}

// isInterrupt reports whether an error is the end of the session's context.
func (s *session) isInterrupt(err error) bool {
	return err != nil && s.ctx.Err() != nil && errors.Is(err, s.ctx.Err())
}
