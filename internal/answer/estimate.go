package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// estimation is an answer at the examples with its parts.
type estimation struct {
	*Job
	s        Settings
	solution *solver.Solution
	exact    predict.Replicates // for quantiles
	e        *report.Estimate
}

// Estimate implements Machine: the answer at the examples.
func (j *Job) Estimate(ctx context.Context, s Settings) (report.Answer, error) {
	err := s.checkCovariances(j.Model, j.Set.N())
	if err == nil && j.full == nil {
		err = j.fitAll(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	solution, err := j.Solve(ctx, s)
	if err != nil {
		return nil, err
	}
	a, err := j.estimateAt(ctx, s, solution, began)
	if err == nil && s.FullModel {
		err = a.addFullModel(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s.Cautions {
		caution(a.e, j.Set)
	}
	return a.e, nil
}

// estimateAt is the answer at a solution, whose solve began at began.
func (j *Job) estimateAt(ctx context.Context, s Settings, solution *solver.Solution, began time.Time) (
	*estimation, error) {
	a := &estimation{Job: j, s: s, solution: solution}
	if err := a.theory(ctx); err != nil {
		return nil, err
	}
	e := a.e
	e.Time = j.Times
	e.Time.Solve = time.Since(began).Seconds()
	if err := a.refine(ctx); err != nil {
		return nil, err
	}
	switch fitsAlone := j.fitsAlone(s); {
	case fitsAlone && e.Refined == nil:
		return nil, cmp.Or(ctx.Err(), errOnlyExact)
	case fitsAlone:
		e.DropTheory()
		if !resample.IsDependent(s.Scheme) {
			e.Time.Theory = theorySweeps * e.Time.Solve
		}
	case len(s.Quantiles) > 0 && e.Points != nil:
		quantiles(e.Points, e.Refined, s.Quantiles, func(i int) int { return j.Site[i] },
			func(i int) loss.Distribution { return solution.Distribution(j.Site[i]) }, &a.exact, j.shift())
	}
	if hasWeights(s.Scheme) {
		e.DropErrors()
	}
	if ctx.Err() != nil { // some exact resamples may be missing
		e.Status = Cancelled
	}
	return a, nil
}

// errOnlyExact: without exact resamples there is no answer.
var errOnlyExact = model.InputError(errors.New(
	"there are no exact resamples, and the theory was not solved, or " +
		"does not hold where groups or blocks are drawn: take --refine auto or R"))

// theory adds the averages of the solution.
func (a *estimation) theory(ctx context.Context) error {
	mean, left := a.solution.LeftOut(a.Test)
	e := &report.Estimate{
		Command: "estimate", Subject: a.Subject, Resampling: Resampling(a.s.Scheme, a.Set.N()),
		Convergence: convergence(a.Model, a.solution), Errors: a.errors(mean),
		Outcome: outcome(a.Model, a.s.Scheme, a.solution.Warnings...),
	}
	a.e = e
	ensemble := a.solution.OutOfBag()
	bagged, _ := ensemble.MeanLoss(a.Test)
	e.BaggedError = null.Float(bagged)
	var probabilities *predict.Probabilities
	if a.labels() {
		vote, _ := ensemble.VoteError()
		e.VoteError = null.Of(vote)
		var err error
		if probabilities, err = predict.ProbabilitiesOf(a.Model, a.solution); err != nil {
			return err
		}
		if !resample.IsDependent(a.s.Scheme) {
			e.Figures = report.ROCFigure(ensemble.Mean, a.Y, a.Set.Weights)
		}
	}
	if a.s.Covariances {
		e.Covariances = func() (blas64.General, error) { return covariances(a.Job, a.solution, nil) }
	}
	e.Quality = a.quality(e.TestError, left, ensemble.Mean)
	e.Quote = report.NewQuote(e.TestLoss, e.TestError, e.Quality, nil)
	e.Examples.Each, e.Examples.Weights = left, a.Set.Weights
	e.Metrics, e.Calibration = a.judge(a.s, ensemble.Mean, probabilities, func(test loss.Test) []float64 {
		_, each := a.solution.LeftOut(test)
		return each
	})
	if err := a.addJackknife(ctx); err != nil {
		return err
	}
	if !a.s.NoPoints {
		if err := a.addPoints(ensemble, left); err != nil {
			return err
		}
	}
	requireNumbers(&e.Status, &e.Warnings, e.Points, e.TestError, e.Apparent, e.BaggedError)
	return nil
}

// Judge computes the requested metrics, nil for none, of mean predictions, probabilities of labels and
// expected losses.
func (s *Settings) Judge(y, weights, mean, probability []float64, labels bool,
	expected func(loss.Test) []float64) *calibration.Metrics {
	if len(s.Metrics) == 0 {
		return nil
	}
	if !labels {
		mean = nil
	}
	m := calibration.NewMetrics(y, weights, expected, mean, probability)
	m.Keep(s.wants)
	return m
}

// judge is Judge of predictions of left-out examples, and the reliability of their probabilities; nil if an
// example was never left out, or there are no probabilities.
func (j *Job) judge(s Settings, mean []float64, p *predict.Probabilities,
	expected func(loss.Test) []float64) (m *calibration.Metrics, r *calibration.Reliability) {
	var probability []float64
	if p != nil {
		probability = numbers(p.LeftOut)
		r = calibration.NewReliability(p.Method, probability, j.Y, j.Set.Weights)
	}
	if numbers(mean) != nil {
		m = s.Judge(j.Y, j.Set.Weights, mean, probability, j.labels(), expected)
	}
	return m, r
}

// numbers are values if all are known, else nil.
func numbers(values []float64) []float64 {
	if floats.HasNaN(values) {
		return nil
	}
	return values
}

// addJackknife adds the jackknife's standard error if requested, or a warning if it cannot be computed.
func (a *estimation) addJackknife(ctx context.Context) error {
	if !a.s.wants(calibration.Jackknife) {
		return nil
	}
	influence, err := adjoint.Influence(ctx, a.solution, a.Test)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		warn(&a.e.Warnings, fmt.Sprintf("no jackknife: %v", err))
	default:
		a.e.Metrics.Jackknife, a.e.Examples.Influence = null.Of(floats.Norm(influence, 2)), influence
	}
	return nil
}

// addPoints adds the read-outs per example, with intervals.
func (a *estimation) addPoints(ensemble solver.Ensemble, left []float64) error {
	p := &report.Points{
		Names: a.Set.RowNames, Mean: a.solution.PerExample(a.solution.Mean),
		Variance: a.solution.PerExample(a.solution.Var), Error: left, OOBMean: ensemble.Mean,
	}
	intervals, err := a.solution.PercentileIntervals(a.s.Level)
	if err != nil {
		return err
	}
	for example := range left {
		interval := intervals[a.solution.SiteOf(example)]
		p.Lower, p.Upper = append(p.Lower, interval.Low), append(p.Upper, interval.High)
	}
	if a.labels() {
		p.OOBVote, p.Vote = ensemble.Vote, a.solution.PerExample(a.solution.Votes())
	}
	p.Shift(a.shift())
	p.Target = a.targets()
	a.e.Points, a.e.Level = p, a.s.Level
	return nil
}

// caution adds the warnings for a single estimate.
func caution(e *report.Estimate, set *dataset.Set) {
	warn(&e.Warnings, e.Quality.Warning(e.Quote.Error))
	warn(&e.Warnings, FewWarning(set))
}

// refine adds the estimates from exact resamples.
func (a *estimation) refine(ctx context.Context) error {
	s, e, alone := a.s, a.e, a.fitsAlone(a.s)
	s.Refine.Optional = s.Refine.Optional && !alone
	if s.Refine.Optional && s.Refine.leavesOutFew(s.Scheme) {
		return nil
	}
	var onFit onFit
	if len(s.Quantiles) > 0 {
		onFit = a.exact.Add
	}
	r, warnings, err := a.Refine(ctx, a.solution, s, blas64.General{}, onFit)
	e.Warnings = append(e.Warnings, warnings...)
	if err != nil || r == nil {
		return err
	}
	left := r.Tests[0]
	if !isNumber(left.Error) {
		warn(&e.Warnings, "the exact resamples gave no number to refine with: "+tooFarApart)
		return nil
	}
	refined, _ := a.refined(r, a.solution, s)
	combined := a.errors(left.Error)
	refined.Err632, refined.Err632Plus = combined.Err632, combined.Err632Plus
	e.Refine(refined)
	e.Examples.Each = left.Examples
	e.Quality = a.quality(refined.TestError, e.Examples.Each, r.OutOfBag)
	e.Quote = report.NewQuote(e.TestLoss, refined.TestError, e.Quality, &refined.SE)
	if !s.NoPoints {
		e.Refined.Points = a.averages(r)
		if !a.labels() && alone {
			e.Refined.Points.OOBMean = slices.Clone(r.OutOfBag)
		}
		e.Refined.Points.Shift(a.shift())
	}
	return nil
}

// LeftOut are the left-out errors of the examples by the theory, and by exact resamples if the loss has them.
// Their influences, and interactions if requested, are the theory's, nil if that has no derivative.
func LeftOut(ctx context.Context, j *Job, s Settings, interactions bool) (theory, exact calibration.Errors,
	row *report.ComparedModel, err error) {
	solution, refined, warnings, err := j.solveRefined(ctx, s, nil)
	if err != nil {
		return theory, exact, nil, err
	}
	mean, left := solution.LeftOut(j.Test)
	row = &report.ComparedModel{Loss: j.Subject.Loss, Kernel: report.KernelText(j.Subject.Kernel),
		TestLoss: j.Test.Name(), Status: solution.Status.String(), TestError: null.Float(mean),
		Warnings: outcome(j.Model, s.Scheme, append(warnings, solution.Warnings...)...).Warnings}
	theory.Each, theory.Weights = left, j.Set.Weights
	if theory.Influence, err = adjoint.Influence(ctx, solution, j.Test); ctx.Err() != nil {
		return theory, exact, nil, ctx.Err()
	} else if err == nil && interactions {
		if theory.Interactions, err = adjoint.Interactions(solution, j.Test, theory.Influence); err != nil {
			return theory, exact, nil, err
		}
	}
	exact = theory
	if exact.Each = nil; refined != nil {
		t := refined.Tests[0]
		row.Refined, row.SE, exact.Each = null.Of(t.Error), null.Of(t.SE), t.Examples
		exact.Noise = t.SE * t.SE
	}
	return theory, exact, row, nil
}
