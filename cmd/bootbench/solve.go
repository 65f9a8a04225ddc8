package main

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/solver"
)

// settingsOf are those of a solve that shows its progress under a label.
func settingsOf(a *app, p plan, label string) solver.Settings {
	settings := p.settings
	settings.Progress = func(sweep solver.Sweep) {
		done := 100 * math.Log(sweep.Residual) / math.Log(settings.Tolerance)
		a.console.Progress(fmt.Sprintf("%s: sweep %d, residual %.1e", label, sweep.Number, sweep.Residual),
			int(max(0, min(100, done))), 100)
	}
	a.console.Progress(label, 0, 100)
	return settings
}

// solved notes how a solve has ended in the exit status.
func (a *app) solved(solution *solver.Solution) {
	if solution.Status == solver.Cancelled {
		a.status = exitInterrupted
	}
	a.notConverged(solution.Status.String())
}

// solveTheory solves, on a kernel matrix that suits the theory.
func solveTheory(a *app, j *job, p plan, label string) (*solver.Solution, error) {
	settings := settingsOf(a, p, label)
	m, solution, err := j.Settle(a.ctx, p.scheme, settings)
	if err != nil {
		return nil, err
	}
	if m != j.Model {
		j.Model = m
		if _, err = fitAll(a, j); err != nil {
			return nil, err
		}
		settings.From = nil
	}
	if solution == nil {
		if solution, err = j.Solve(a.ctx, p.scheme, settings); err != nil {
			return nil, err
		}
	}
	a.solved(solution)
	return solution, nil
}

// estimateAt is the answer for one resampling scheme, and the solution that the
// next solve can start from.
func estimateAt(a *app, j *job, p plan, label string) (*report.Estimate, *solver.Solution, error) {
	began := time.Now()
	solution, err := solveTheory(a, j, p, label)
	if err != nil {
		return nil, nil, err
	}
	e, err := theoryReport(a, j, p, solution)
	if err != nil {
		return nil, nil, err
	}
	times := j.times
	times.Solve = time.Since(began).Seconds()
	if err := refineEstimate(a, e, j, p, solution); err != nil {
		return nil, nil, err
	}
	e.Cost = a.cost(times)
	return e, solution, nil
}

// theoryReport is what a report says of a solution.
func theoryReport(a *app, j *job, p plan, solution *solver.Solution) (e *report.Estimate, err error) {
	mean, left := solution.LeftOut(j.test)
	e = &report.Estimate{
		Command: "estimate", Subject: j.report, Resampling: resamplingReport(p.scheme, j.Set.N()),
		Errors:      errorsReport(j.test, solver.Combine632(mean, j.test, j.Set.Y, j.perExample(j.full))),
		Convergence: j.convergenceReport(solution), Warnings: j.warnings(p.scheme, solution.Warnings),
	}
	ensemble := solution.OutOfBag()
	bagged, _ := ensemble.MeanLoss(j.test)
	e.BaggedError = null.Float(bagged)
	if j.Set.Task == dataset.Classification {
		vote, _ := ensemble.VoteError()
		e.VoteError = null.Of(vote)
		if e.Calibration, err = j.calibrationReport(solution); err != nil {
			return nil, err
		}
	}
	e.Quote.Error = e.TestError
	e.Quality, e.Examples.Each = j.quality(e.TestError, left), left
	if err := addLeftOutMetrics(a, e, j, solution, p.test); err != nil {
		return nil, err
	}
	if !p.test.noPoints {
		e.Level = p.test.level
		if e.Points, err = j.points(solution, ensemble, left, p.test.level); err != nil {
			return nil, err
		}
	}
	requireNumbers(a, &e.Status, &e.Warnings, e.Points, e.TestError, e.Apparent, e.BaggedError)
	return e, nil
}

// refineEstimate adds what exact resamples say.
func refineEstimate(a *app, e *report.Estimate, j *job, p plan, solution *solver.Solution) error {
	p.refine.tests = j.refinedTests(p.test)
	if p.refine.optional && p.refine.leavesOutFew(p.scheme) {
		return nil
	}
	refined, warnings, err := refineSolution(a, j, solution, p, blas64.General{})
	e.Warnings = append(e.Warnings, warnings...)
	if err != nil || refined == nil {
		return err
	}
	if !isNumber(refined.TestError().Error) {
		e.Warnings = append(e.Warnings, "the exact resamples gave no number to refine with: "+tooFarApart)
		return nil
	}
	e.Refine(j.refinedReport(refined, solution, j.full))
	e.Refined.Metrics = j.refinedMetrics(refined, j.addRefinedProbabilities(e.Refined, refined), p.test)
	e.Warnings = withWarning(e.Warnings, e.Refined.Warning())
	e.Examples.Each = refined.TestError().Examples
	e.Quality = j.quality(e.Quote.Error, e.Examples.Each)
	if !p.test.noPoints {
		e.Refined.Points = j.refinedPoints(refined)
	}
	return nil
}

const tooFarApart = "targets, kernel and parameters of the loss are too many orders of magnitude apart"

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// requireNumbers lets no answer count as converged, or complete, whose numbers are not all
// finite: its errors, and its points, if it has them.
func requireNumbers(a *app, status *string, warnings *[]string, points *report.Points,
	errors ...null.Float) {
	sum := 0.0
	if points != nil {
		sum = floats.Sum(points.Mean) + floats.Sum(points.Variance)
	}
	for _, e := range errors {
		sum += float64(e)
	}
	if a.status != exitDone || isNumber(sum) {
		return
	}
	*status = solver.NumericalFailure.String()
	*warnings = append(*warnings, "the answer is not all numbers: "+tooFarApart)
	a.notConverged(*status)
}

// points are the read-outs per example, with intervals of the given level.
func (j *job) points(solution *solver.Solution, ensemble solver.Ensemble, left []float64,
	level float64) (*report.Points, error) {
	p := &report.Points{
		Names: j.Set.RowNames, Mean: solution.PerExample(solution.Mean),
		Variance: solution.PerExample(solution.Var), Error: left, OOBMean: ensemble.Mean,
	}
	intervals, err := solution.PercentileIntervals(level)
	if err != nil {
		return nil, err
	}
	for example := range left {
		interval := intervals[solution.SiteOf(example)]
		p.Lower, p.Upper = append(p.Lower, interval.Low), append(p.Upper, interval.High)
	}
	if j.Set.Task == dataset.Classification {
		p.OOBVote, p.Vote = ensemble.Vote, solution.PerExample(solution.Votes())
	}
	p.Shift(j.TargetMean)
	p.Target = j.targets()
	return p, nil
}

// convergenceReport says how good a solution is.
func (j *job) convergenceReport(solution *solver.Solution) report.Convergence {
	approximation, _ := j.Approximation()
	return report.Convergence{
		Method: solution.Method.String(), Engine: j.Form().String(), Status: solution.Status.String(),
		Residual: null.Float(solution.Residual), Sweeps: solution.Stats.Sweeps, Refreshes: solution.Stats.Refreshes,
		Rank: approximation.Rank, RankResidual: approximation.Residual, RankLargest: approximation.Largest,
		RankError: null.Float(j.RankError(solution)),
	}
}

// estimateKey names everything that an estimate depends on.
func (p plan) estimateKey(spec *model.Spec) string {
	t, s := p.test, p.settings
	return spec.Key(p.scheme, "estimate", t.metrics, s.Tolerance, s.MaxSweeps, t.test, t.level, t.noPoints,
		p.refine.String())
}
