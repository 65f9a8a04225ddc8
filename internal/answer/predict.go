package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Kinds of intervals at new inputs.
const (
	Estimator   = "estimator"   // the prediction of another resample
	Observation = "observation" // a new target, its noise included
)

// Intervals is the kind of intervals at new inputs, at the level of Settings. The default is Observation for
// numbers, whose bounds are infinite with too few examples for the level, and Estimator for labels.
type Intervals struct {
	Of        string
	Residuals predict.Residuals
}

// of is i with the default. It refuses intervals of observations for labels, or with too few examples.
func (i Intervals) of(set *dataset.Set, level float64) (Intervals, error) {
	labels, err := !set.AreNumbers(), scoresOf(set).Check(level)
	switch {
	case calibration.CheckLevel(level) != nil:
		return i, model.InputError(err)
	case i.Of == "" && labels:
		i.Of = Estimator
	case i.Of == "":
		i.Of = Observation
	case i.Of == Observation && labels:
		return i, model.InputError(fmt.Errorf("--interval %s is for numbers; the targets of %s are labels, for "+
			"which predict gives a probability", Observation, set.Name))
	case i.Of == Observation && err != nil:
		return i, model.InputError(err)
	}
	return i, nil
}

// scoresOf are the scores of a set's left-out examples.
func scoresOf(set *dataset.Set) calibration.Scores {
	return calibration.NewScores(set.N(), set.Weights, set.Groups)
}

// prediction is an answer at new inputs with its parts.
type prediction struct {
	*Job
	in       *dataset.Inputs
	s        Settings
	solution *solver.Solution
	exact    predict.Replicates // for quantiles and intervals
	r        *report.Prediction
}

// Predict implements Machine.
func (j *Job) Predict(ctx context.Context, in *dataset.Inputs, s Settings) (report.Answer, error) {
	err := cmp.Or(predict.Check(j.Model, in.N()), s.checkCovariances(j.Model, in.N()))
	if err == nil {
		s.Intervals, err = s.Intervals.of(j.Set, s.Level)
	}
	if err == nil {
		err = j.fitAll(ctx, nil) // refuses bad input before a long solve
	}
	if err != nil {
		return nil, err
	}
	dependent := resample.IsDependent(s.Scheme)
	s.Refine.Optional = s.Refine.Optional && !dependent
	began := time.Now()
	solution, err := j.Solve(ctx, s)
	if err != nil {
		return nil, err
	}
	j.Times.Solve = time.Since(began).Seconds()
	p := &prediction{Job: j, in: in, s: s, solution: solution}
	if err = p.theory(ctx); err == nil {
		err = p.refine(ctx)
	}
	r := p.r
	switch {
	case err != nil:
		return nil, err
	case dependent && r.Refined == nil:
		return nil, cmp.Or(ctx.Err(), errOnlyExact)
	case dependent:
		p.dropTheory()
	}
	if points := r.Points; len(s.Quantiles) > 0 {
		quantiles(points, r.Refined, s.Quantiles, func(i int) int { return j.Sites() + i },
			func(i int) loss.Distribution {
				return loss.Normal(points.Mean[i]-j.shift(), points.Variance[i])
			}, &p.exact, j.shift())
	}
	if s.Covariances {
		r.Covariances = func() (blas64.General, error) { return covariances(j, solution, in) }
	}
	r.Time = j.Times
	return r, nil
}

// dropTheory replaces the theory's values by those of exact resamples, if the theory does not apply.
func (p *prediction) dropTheory() {
	r, level := p.r, p.s.Level
	exact, names := *r.Refined.Points, r.Points.Names
	r.Points, r.Convergence, r.Calibration = &exact, report.NoTheory, nil
	exact.Names, exact.Lower, exact.Upper = names, slices.Clone(exact.Lower), slices.Clone(exact.Upper)
	for n, mean := range exact.Mean {
		exact.SD = append(exact.SD, math.Sqrt(math.Max(0, exact.Variance[n])))
		if p.labels() {
			exact.Class = append(exact.Class, p.Subject.Labels.Name(mean))
		}
		if p.s.Intervals.Of != Observation {
			values := p.exact.At(p.Sites()+n, p.shift())
			exact.Lower = append(exact.Lower, stat.Quantile((1-level)/2, stat.Empirical, values, nil))
			exact.Upper = append(exact.Upper, stat.Quantile((1+level)/2, stat.Empirical, values, nil))
		}
	}
	p.judge()
}

// theory adds the solution's averages at new inputs.
func (p *prediction) theory(ctx context.Context) error {
	began := time.Now()
	at, err := predict.At(p.Model, p.solution, p.in, func(done int) error {
		p.Progress("predict", done, p.in.N())
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	points := &report.Points{Names: p.in.RowNames, Mean: at.Mean, Variance: at.Var, SD: at.SD()}
	if err := p.addIntervals(points, at); err != nil {
		return err
	}
	p.Times.Predict = time.Since(began).Seconds()
	r := &report.Prediction{
		Command: "predict", Subject: p.Subject, Resampling: Resampling(p.s.Scheme, p.Set.N()),
		Convergence: convergence(p.Model, p.solution), Test: p.in.Name, Count: len(points.Mean), Points: points,
		Outcome: outcome(p.Model, p.s.Scheme, append(slices.Clone(p.in.Notes), p.solution.Warnings...)...),
	}
	p.r = r
	if p.labels() {
		for n, mean := range points.Mean { // fractions of the resamples that predict +1 and -1 (M04-20)
			points.Vote = append(points.Vote, loss.Vote{}.Gaussian(mean, points.Variance[n], 1))
			points.Negative = append(points.Negative, loss.ZeroOne{}.Gaussian(mean, points.Variance[n], 1))
			points.Class = append(points.Class, p.Subject.Labels.Name(mean))
		}
		all, err := predict.ProbabilitiesOf(p.Model, p.solution)
		if err != nil {
			return err
		}
		if points.Probability, err = all.AtInputs(p.Model, p.solution, p.in, at); err != nil {
			return err
		}
		r.Calibration = calibration.NewReliability(all.Method, all.LeftOut, p.Y, p.Set.Weights)
		warn(&r.Warnings, FewWarning(p.Set))
	}
	requireNumbers(&r.Status, &r.Warnings, points)
	p.judge()
	return nil
}

// addIntervals adds the theory's intervals to the points.
func (p *prediction) addIntervals(points *report.Points, at *predict.Predictions) error {
	if p.s.Intervals.Of != Observation {
		all, err := at.Intervals(p.s.Level)
		setIntervals(points, all, 0)
		return err
	}
	all, err := predict.ObservationIntervals(p.Model, p.solution, p.in, p.s.Level, p.s.Intervals.Residuals)
	setIntervals(points, all, p.shift())
	return err
}

// setIntervals sets the ends of intervals, plus the targets' mean.
func setIntervals(p *report.Points, all []solver.Interval, mean float64) {
	p.Lower, p.Upper = nil, nil
	for _, interval := range all {
		p.Lower, p.Upper = append(p.Lower, interval.Low+mean), append(p.Upper, interval.High+mean)
	}
}

// interval describes the intervals from left-out examples, and their coverage of the new targets.
func interval(p *report.Points, of calibration.Scores, level float64, i Intervals,
	warnings *[]string) report.Interval {
	r := report.Interval{Interval: i.Of, Level: level}
	if i.Of != Observation {
		return r
	}
	r.Residuals = string(i.Residuals)
	if err := of.Check(level); err != nil {
		warn(warnings, fmt.Sprintf("no finite intervals: %v", err))
		return r
	}
	r.CoverageSD = math.Sqrt(level * (1 - level) / of.Effective)
	if count := float64(len(p.Target)); count > 0 {
		held, width := 0.0, 0.0
		for at, y := range p.Target {
			if p.Lower[at] <= y && y <= p.Upper[at] {
				held += 1 / count
			}
			width += (p.Upper[at] - p.Lower[at]) / count
		}
		r.Coverage, r.Width = &held, &width
	}
	if of.Effective < fewExamples {
		warn(warnings, fmt.Sprintf("intervals from %.4g %s are rough: the share of new targets that they "+
			"hold is %.2g give or take %.1g", of.Effective, of.Units, level, r.CoverageSD))
	}
	return r
}

// otherSide says in how many rows the probability of the positive class contradicts the decision, the sign of
// the prediction, whose errors are measured; "" for none.
func otherSide(prediction, probability []float64, positive string) string {
	count := 0
	for i, p := range probability {
		if (p-0.5)*prediction[i] < 0 {
			count++
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("in %d of %d rows the class and the probability of %s are on different sides of 1/2: "+
		"the class is the decision of the model, whose errors are counted; the probability is how often "+
		"such rows are %[3]s", count, len(probability), positive)
}

// judge computes the errors of the points and the coverage of their intervals, if there are targets.
func (p *prediction) judge() {
	r, points, targets := p.r, p.r.Points, p.in.Targets(0)
	if p.labels() {
		warn(&r.Warnings, otherSide(points.Mean, points.Probability, r.Positive))
	}
	if targets != nil {
		var warning string
		r.OnTargets, warning = p.s.onTargets(points, targets, p.Test, &p.Set.Columns[0],
			func(test loss.Test, i int) float64 {
				return test.Gaussian(points.Mean[i], points.Variance[i], targets[i])
			})
		warn(&r.Warnings, warning)
		bagged := 0.0
		for i, y := range targets {
			bagged += p.Test.Value(points.Mean[i], y)
		}
		r.BaggedError = null.Of(bagged / float64(len(targets)))
	}
	r.Interval = interval(points, scoresOf(p.Set), p.s.Level, p.s.Intervals, &r.Warnings)
}

// onTargets computes the errors of predictions at new inputs with targets: expected is the loss of one.
func (s *Settings) onTargets(p *report.Points, targets []float64, test loss.Test,
	column *dataset.Column, expected func(test loss.Test, i int) float64) (r report.OnTargets,
	warning string) {
	each := func(test loss.Test) []float64 {
		all := make([]float64, len(targets))
		for i := range all {
			all[i] = expected(test, i)
		}
		return all
	}
	p.Target, p.Error = targets, each(test)
	r.TestLoss, r.TestError = test.Name(), null.Of(stat.Mean(p.Error, nil))
	r.Quality = calibration.NewQuality(test, *r.TestError, targets, p.Error, nil, column)
	if r.Quality != nil && column.Levels != nil {
		r.Quality.Rank(p.Mean, targets, nil)
	}
	r.Metrics = s.Judge(targets, nil, p.Mean, p.Probability, column.Levels != nil, each)
	return r, r.Quality.Warning(*r.TestError)
}

// mostCross bounds the memory of the new inputs' kernel matrix in optional refinement.
const mostCross = 256 << 20

// refine adds the estimates from exact resamples at the new inputs.
func (p *prediction) refine(ctx context.Context) error {
	s, r := p.s, p.r
	if s.Refine.Resamples == 0 || s.Refine.Optional && 8*int64(p.in.N())*int64(p.Sites()) > mostCross {
		return nil
	}
	cross, err := p.CrossAll(p.in)
	if err != nil {
		return err
	}
	var onFit onFit
	if len(s.Quantiles) > 0 || s.Intervals.Of == Observation || resample.IsDependent(s.Scheme) {
		onFit = p.exact.Add
	}
	s.Metrics = nil // metrics are of new inputs
	result, warnings, err := p.Refine(ctx, p.solution, s, cross, onFit)
	r.Warnings = append(r.Warnings, warnings...)
	if err != nil || result == nil {
		return err
	}
	var probabilities *predict.Probabilities
	r.Refined, probabilities = p.refined(result, p.solution, s)
	m := p.Sites()
	points := &report.Points{Mean: result.Mean[m:], Variance: result.Variance[m:], MeanSE: result.MeanSE[m:],
		VarianceSE: result.VarianceSE[m:]}
	if probabilities != nil {
		points.Probability = probabilities.ByCurve(points.Mean, points.Variance)
	}
	points.Shift(p.shift())
	r.Refined.Points = points
	if s.Intervals.Of == Observation {
		all, err := predict.ReplicateIntervals(p.Model, &p.exact, s.Level, s.Intervals.Residuals)
		if err != nil {
			warn(&r.Warnings, fmt.Sprintf("no refined intervals: %v", err))
		}
		setIntervals(points, all, p.shift())
	}
	return nil
}
