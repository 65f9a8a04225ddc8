// Package answer computes documents of package report: the theory's averages over resamples, refined by exact
// resamples, at the examples (Estimate) and at new inputs (Predict), averages by retraining (Retrain),
// cross-validation and leave-one-out errors.
package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/bench"
	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Settings of an answer.
type Settings struct {
	Scheme    resample.Scheme
	Method    Method
	Solve     solver.Settings
	Refine    Refinement
	Metrics   []string  // measures of left-out predictions, by name, or "all"
	Level     float64   // of intervals
	Quantiles []float64 // over resamples, of every prediction
	NoPoints  bool      // no values per example
	// Covariances of predictions, for Estimate and Predict.
	Covariances bool
	Intervals   Intervals // of Predict
	// For an estimate of one target: warnings for a single estimate, and the expected error of the model of
	// all examples.
	Cautions, FullModel bool
	// Choose chooses a model for other rows like the job's; nil: the model was given.
	Choose Chooser
	Label  string // of the progress of the solve
}

// Chooser chooses a model of a data set.
type Chooser = func(context.Context, *dataset.Set) (model.Spec, error)

// wants reports whether a metric is requested.
func (s *Settings) wants(metric string) bool {
	return slices.Contains(s.Metrics, metric) || slices.Contains(s.Metrics, AllMetrics)
}

// AllMetrics is the name of all metrics.
const AllMetrics = "all"

// Job is a model with its description.
type Job struct {
	*model.Model
	Test     loss.Test
	Subject  report.Subject
	Times    report.Times
	Progress func(label string, done, total int)
	Keep     Keep             // nil: exact fits are not kept
	Others   *dataset.Set     // rows of the data outside the sample; nil: no sample
	Solution *solver.Solution // of the last solve
	built    *model.Model     // before a solve that refined the factor
	full     []float64        // the fit to all data, at the sites; nil: not made yet
}

// First is Machine.First.
func (j *Job) First() *Job { return j }

// About is Machine.About.
func (j *Job) About() report.Subject { return j.Subject }

// Restart drops the last solve, and restores the model if that changed its factor.
func (j *Job) Restart() {
	if j.Solution = nil; j.Model != j.built {
		j.Model, j.full = j.built, nil
	}
}

// counting is Progress for a count of steps.
func (j *Job) counting(what string) func(done, total int) {
	return func(done, total int) { j.Progress(fmt.Sprintf("%s %d of %d", what, done, total), done, total) }
}

// New builds a model with a test loss, nil for the default of the targets.
func New(ctx context.Context, spec model.Spec, test loss.Test) (*Job, error) {
	built, err := model.Build(ctx, spec)
	if err != nil {
		return nil, err
	}
	if test == nil {
		test = model.DefaultTest(spec.Set)
	}
	return Of(built, test), nil
}

// Of is New for a model that is built.
func Of(m *model.Model, test loss.Test) *Job {
	return &Job{Model: m, built: m, Test: test, Subject: subject(m), Progress: func(string, int, int) {},
		Times: report.Times{Gram: m.GramTime.Seconds()}}
}

// subject describes the model.
func subject(m *model.Model) report.Subject {
	r := report.Subject{
		Data: m.Set.Name, N: m.Set.N(), D: m.Set.D(), Sites: m.Sites(), Merged: m.Merged(),
		Task: m.Set.Task(), Loss: m.Loss.Name(), Kernel: m.Kernel, Standardized: m.Standardize,
		Target: m.Set.Columns[0].Name, Labels: report.LabelsOf(&m.Set.Columns[0]), Notes: m.Set.Notes,
	}
	if m.Labels() {
		r.Positive = r.Labels.Name(1)
	} else {
		r.Target = m.Name
	}
	if note := biasNote(m); note != "" {
		r.Notes = append(slices.Clone(r.Notes), note)
	}
	if mean := m.Mean / m.Unit; m.NormalizeTarget && !m.Labels() {
		r.TargetMean = &mean
	}
	r.Parameters, _ = loss.ParametersOf(m.Loss)
	r.Model = &report.Model{
		Loss: r.Loss, Parameters: r.Parameters, Kernel: report.Kernel(m.Kernel), Bias: m.Bias,
		Standardize: m.Standardize, NormalizeTarget: r.TargetMean != nil,
	}
	return r
}

// biasNote says why a classifier has no bias although the default is one; else "".
func biasNote(m *model.Model) string {
	switch {
	case m.Bias || !m.Labels():
		return ""
	case m.Form() == model.ScaLAPACK:
		return "no bias: the scalapack engine has none"
	case !model.BiasByDefault(m.Set, m.Loss):
		return "no bias: a posterior mean has none"
	}
	return ""
}

// fitAll trains once on all data: before the solve (nil solution), since it uses the scratch triangle. On a
// factor with a loss with kinks, for which Newton's method is slow, it trains around the solution instead. In
// the other of the two calls it does nothing.
func (j *Job) fitAll(ctx context.Context, s *solver.Solution) (err error) {
	around := fitsAround(j.Model)
	if around != (s != nil) {
		return nil
	}
	defer func(began time.Time) { j.Times.Fit += time.Since(began).Seconds() }(time.Now())
	if around {
		if j.full, err = model.FitAll(ctx, j.Model, s); err == nil || ctx.Err() != nil {
			return err
		}
	} // else by the loss's trainer
	j.Progress("fit to all data", 0, 1)
	j.full, err = j.FullFit(ctx)
	return err
}

// fitsAround reports whether the fit to all data follows a solve.
func fitsAround(m *model.Model) bool {
	_, onFactor := m.TrainedOnFactor()
	return onFactor && !loss.TraitsOf(m.Loss).Quadratic
}

// Solve solves the theory, on a kernel matrix of sufficient rank; roughly, if only exact resamples count.
func (j *Job) Solve(ctx context.Context, s Settings) (solution *solver.Solution, err error) {
	settings, label := s.Solve, cmp.Or(s.Label, "solve")
	settings.Progress = func(sweep solver.Sweep) {
		done := 100 * math.Log(sweep.Residual) / math.Log(settings.Tolerance)
		j.Progress(fmt.Sprintf("%s: sweep %d, residual %.1e", label, sweep.Number, sweep.Residual),
			int(max(0, min(100, done))), 100)
	}
	j.Progress(label, 0, 100)
	if why := s.NeedsTheory(j.Loss); s.Method == FitsMethod && why != "" {
		return nil, model.InputError(fmt.Errorf("--method fits: %s: take --method auto", why))
	}
	built := j.Model
	j.Model, solution, err = j.Settle(ctx, s.Scheme, settings)
	if err == nil && j.Model != built {
		settings.From = nil
		err = j.fitAll(ctx, nil)
	}
	switch {
	case err != nil || solution != nil:
	case j.fitsAlone(s) && (longTheory(j.Sites()) || !resample.IsDependent(s.Scheme)):
		solution, err = j.SolveRoughly(ctx, s.Scheme, settings)
	default:
		solution, err = j.Model.Solve(ctx, s.Scheme, settings)
	}
	if err == nil {
		j.Solution, err = solution, j.fitAll(ctx, solution)
	}
	return solution, err
}

// perExample spreads values over sites onto the examples.
func (j *Job) perExample(overSites []float64) []float64 {
	values := make([]float64, len(j.Site))
	for example, site := range j.Site {
		values[example] = overSites[site]
	}
	return values
}

// targets are the targets in the file's units.
func (j *Job) targets() []float64 {
	y := slices.Clone(j.Y)
	floats.AddConst(j.shift(), y)
	return y
}

// shift is the mean of the targets in the unit of the fit.
func (j *Job) shift() float64 { return j.Mean / j.Unit }

// ClassOf numbers the classes of a set's examples.
func ClassOf(set *dataset.Set) []int {
	class := make([]int, set.N())
	for i, v := range set.Columns[0].Y {
		class[i] = int(v)
	}
	return class
}

// withTargets is a set with other numbers, or other labels by their signs.
func withTargets(set *dataset.Set, y []float64) *dataset.Set {
	other, c := *set, set.Columns[0]
	if c.Y = y; c.Levels != nil {
		c.Y = floats.ScaleTo(make([]float64, len(y)), 0.5, y)
		floats.AddConst(0.5, c.Y)
	}
	other.Columns = []dataset.Column{c}
	return &other
}

// predicted is a set without examples that has the targets of a model file.
func predicted(e *dataset.Encoding) *dataset.Set { return &dataset.Set{Columns: e.Targets} }

// labels reports whether the targets are labels.
func (j *Job) labels() bool { return j.Model.Labels() }

// outcome has the warnings of a computation, and one if resamples are often empty or lack a class. They are
// never nil, for JSON.
func outcome(m *model.Model, scheme resample.Scheme, others ...string) report.Outcome {
	all := append(append([]string{}, m.Warnings()...), others...)
	if share := model.EmptyShare(m, scheme); share > 0.05 {
		all = append(all, fmt.Sprintf("%.0f%% of the resamples are empty: they predict the prior mean 0, and count",
			100*share))
	}
	switch share := model.MissingClass(m, scheme); {
	case share > 0.5:
		all = append(all, fmt.Sprintf(
			"%.0f%% of the resamples lack one of the two classes: their classifier is constant", 100*share))
	case m.Bias && share > 0.01:
		all = append(all, fmt.Sprintf(
			"%.2g%% of the resamples lack one of the two classes: they predict the class "+
				"that is there, which the theory does not see", 100*share))
	}
	return report.Outcome{Warnings: all}
}

// warn adds a warning, unless it is empty or there.
func warn(warnings *[]string, text string) {
	if text != "" && !slices.Contains(*warnings, text) {
		*warnings = append(*warnings, text)
	}
}

// quality compares a left-out error with a baseline, perExample in the order of the file, and ranks labels by
// their mean predictions, nil if unknown. Its standard error is over groups, if there are any.
func (j *Job) quality(testError null.Float, perExample, mean []float64) *calibration.Quality {
	q := calibration.NewQuality(j.Test, testError, j.targets(), perExample, j.Set.Weights, &j.Set.Columns[0])
	if q != nil {
		q.Over(perExample, j.Set.Weights, j.Set.Groups)
	}
	if q != nil && j.labels() {
		q.Rank(mean, j.Y, j.Set.Weights)
	}
	return q
}

// Resampling describes the resampling of n examples.
func Resampling(scheme resample.Scheme, n int) report.Resampling {
	r := report.Resampling{
		Scheme: scheme.Name(), Ratio: scheme.Mean(), Distinct: float64(n) * (1 - resample.ProbZero(scheme, 1)),
		Is632Applicable: solver.Is632Applicable(scheme),
	}
	if designed, ok := scheme.(resample.Designed); ok {
		r.Design, scheme, r.Distinct = designed.Design.String(), designed.Scheme, 0
		for i := range n {
			r.Distinct += 1 - resample.ProbAbsent(designed, i)
		}
	}
	if bayesian, ok := scheme.(resample.Bayesian); ok {
		r.Ratio = bayesian.Shape
	}
	if kfold, ok := scheme.(resample.KFold); ok {
		r.Folds = kfold.Folds
	}
	return r
}

// errors are the estimates of the test error around a left-out error.
func (j *Job) errors(leftOut float64) report.Errors {
	e := solver.Combine632(leftOut, j.Test, j.Y, j.perExample(j.full), j.Set.Weights)
	return report.Errors{
		TestLoss: j.Test.Name(), TestError: null.Float(e.LeftOut), Apparent: null.Float(e.Apparent),
		NoInformation: null.Float(e.NoInformation), Err632: null.Float(e.Err632),
		Err632Plus: null.Float(e.Err632Plus),
	}
}

// convergence describes the accuracy of a solution.
func convergence(m *model.Model, s *solver.Solution) report.Convergence {
	approximation, _ := m.Approximation()
	return report.Convergence{
		Method: s.Method.String(), Engine: m.Form().String(), Convergence: bench.NewConvergence(s),
		Rank: approximation.Rank, RankResidual: approximation.Residual, RankLargest: approximation.Largest,
		RankError: null.Float(m.RankError(s)),
	}
}

// fewExamples is the number below which errors, intervals and probabilities are rough.
const fewExamples = 20

// fewGroups is the effective number of groups below which Student's t differs from the normal law by more
// than a sixth.
const fewGroups = 8

// FewWarning is the warning of an estimate from few examples or groups, or from few that have the weight; or
// "".
func FewWarning(set *dataset.Set) string {
	n := set.N()
	switch effective := calibration.Effective(n, set.Weights, set.Groups); {
	case set.Groups != nil && effective < 1+1e-6:
		return "one group has all the weight: nothing is known of others"
	case set.Groups != nil && effective < fewGroups:
		t := distuv.StudentsT{Sigma: 1, Nu: effective - 1}
		return fmt.Sprintf("the rows are in %d groups, which count like %.2g of equal size: standard errors "+
			"are rough, and a 95%% interval takes %.2g of them to each side (Student's t), not 2",
			1+slices.Max(set.Groups), effective, t.Quantile(0.975))
	case set.Groups == nil && effective < fewExamples && n >= fewExamples:
		return fmt.Sprintf("errors are rough, and so are their standard errors: the weights make the rows "+
			"count like %.2g of equal weight", effective)
	}
	if set.AreNumbers() {
		if n < fewExamples {
			return fmt.Sprintf("errors from %d examples are rough, and so are their standard errors", n)
		}
		return ""
	}
	for _, sign := range []float64{-1, 1} {
		if len(set.Levels()) == 2 && floats.Count(func(y float64) bool { return y == sign },
			set.Targets(0)) == 1 {
			return fmt.Sprintf("there is one example of class %s: probabilities cannot be checked, and are little "+
				"more than shares of the classes", set.Columns[0].Level(sign))
		}
	}
	if n < fewExamples {
		return fmt.Sprintf("probabilities from %d examples are rough", n)
	}
	return ""
}

// requireNumbers changes the status of an answer, and adds a warning, if errors or points are not finite.
func requireNumbers(status *string, warnings *[]string, points *report.Points, errors ...null.Float) {
	sum := 0.0
	if points != nil {
		sum = floats.Sum(points.Mean) + floats.Sum(points.Variance)
	}
	for _, e := range errors {
		sum += float64(e)
	}
	if report.Done(*status) && !isNumber(sum) {
		*status = solver.NumericalFailure.String()
		*warnings = append(*warnings, "the answer is not all numbers: "+tooFarApart)
	}
}

const tooFarApart = "targets, kernel and parameters of the loss are too many orders of magnitude apart"

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Complete and cancelled are the statuses of answers in parts.
const (
	Complete  = "complete"
	Cancelled = "cancelled"
)

// ErrElsewhere: other processes make some of the exact fits, and there is no answer yet.
var ErrElsewhere = errors.New("fits are missing that other processes make")

// Keep makes s look up and store exact fits: key encodes everything that they depend on, each has the given
// number of outputs, and there will be count of them, 0 if unknown. shared means that a fit may be left to
// another process; end, called after the run, then returns ErrElsewhere, or the cause of a cancellation.
type Keep func(key string, outputs, count int, data string, s *fits.Settings) (shared bool,
	end func(complete bool) error, err error)
