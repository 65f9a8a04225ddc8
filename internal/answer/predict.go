package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
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

// What intervals at new inputs hold.
const (
	Estimator   = "estimator"   // the prediction of another resample
	Observation = "observation" // a new target, its noise included
)

// Units of the residuals from which intervals of observations are made.
const (
	Plain  = "plain"
	Scaled = "scaled"
)

// Intervals say what intervals at new inputs hold, with the level of Settings.
type Intervals struct{ Of, Residuals string }

func (i Intervals) unit() predict.Residuals {
	if i.Residuals == Scaled {
		return predict.ScaledResiduals
	}
	return predict.PlainResiduals
}

// For is i, or what intervals hold by default: new targets where these are numbers and there are enough
// examples for the level, else the predictions of other resamples.
func (i Intervals) For(set *dataset.Set, level float64) Intervals {
	if i.Of == "" {
		i.Of = Observation
		if set.Task == dataset.Classification || calibration.CheckLevel(level, set.N()) != nil {
			i.Of = Estimator
		}
	}
	return i
}

// Check refuses intervals of observations for labels, and those that the examples cannot support.
func (i Intervals) Check(set *dataset.Set, level float64) error {
	if i.Of != Observation {
		return nil
	}
	if set.Task == dataset.Classification {
		return model.InputError(fmt.Errorf("--interval %s is for numbers; the targets of %s are labels, for which "+
			"predict gives a probability", Observation, set.Name))
	}
	return calibration.CheckLevel(level, set.N())
}

// Predict is the answer at new inputs, and the solution that it is read from.
func (j *Job) Predict(ctx context.Context, in *dataset.Inputs, s Settings, i Intervals) (*report.Prediction,
	*solver.Solution, error) {
	if err := predict.Check(j.Model, in.N()); err != nil {
		return nil, nil, err
	}
	if err := j.Fit(); err != nil { // refuses what Estimate refuses, and before a solve of minutes
		return nil, nil, err
	}
	dependent := resample.IsDependent(s.Scheme)
	s.Refine.Optional = s.Refine.Optional && !dependent
	began := time.Now()
	solution, err := j.Solve(ctx, s, "solve")
	if err != nil {
		return nil, nil, err
	}
	j.Times.Solve = time.Since(began).Seconds()
	r, err := j.predicted(ctx, in, s, i, solution)
	if err != nil {
		return nil, nil, err
	}
	collected := &fits{wanted: len(s.Quantiles) > 0 || dependent}
	if err := j.refinePrediction(ctx, r, in, s, i, solution, collected); err != nil {
		return nil, nil, err
	}
	if dependent {
		if r.Refined == nil {
			return nil, nil, cmp.Or(ctx.Err(), errOnlyExact)
		}
		dropTheory(j, r, in, s, i, collected)
	}
	points := r.Points
	if len(s.Quantiles) > 0 {
		quantiles(points, r.Refined, s.Quantiles, func(i int) int { return j.Sites() + i },
			func(i int) loss.Distribution {
				return loss.Normal(points.Mean[i]-j.TargetMean, points.Variance[i])
			}, collected, j.TargetMean)
	}
	if points.Target != nil {
		r.Metrics = s.Judge(points.Target, nil, points.Mean, points.Probability, j.Set.Task,
			func(test loss.Test) []float64 {
				each := make([]float64, len(points.Target))
				for i, y := range points.Target {
					each[i] = test.Gaussian(points.Mean[i], points.Variance[i], y)
				}
				return each
			})
	}
	if s.Covariances {
		r.Covariances = func() (blas64.General, error) { return j.Covariances(solution, in) }
	}
	r.Time = j.Times
	return r, solution, nil
}

// dropTheory leaves what exact resamples say of new inputs, where the theory does not hold.
func dropTheory(j *Job, r *report.Prediction, in *dataset.Inputs, s Settings, i Intervals, collected *fits) {
	exact, names := *r.Refined.Points, r.Points.Names
	r.Points, r.Convergence, r.Calibration = &exact, report.Convergence{Status: Complete}, nil
	exact.Names, exact.Lower, exact.Upper = names, slices.Clone(exact.Lower), slices.Clone(exact.Upper)
	for n, mean := range exact.Mean {
		exact.SD = append(exact.SD, math.Sqrt(math.Max(0, exact.Variance[n])))
		if j.labels() {
			exact.Class = append(exact.Class, j.Subject.Labels.Name(mean))
		}
		if i.Of != Observation {
			values := collected.at(j.Sites()+n, j.TargetMean)
			for _, end := range []struct {
				at *null.Floats
				q  float64
			}{{&exact.Lower, (1 - s.Level) / 2}, {&exact.Upper, (1 + s.Level) / 2}} {
				*end.at = append(*end.at, stat.Quantile(end.q, stat.Empirical, values, nil))
			}
		}
	}
	addTestErrors(r, j.Test, in.Y)
	r.Interval = interval(r.Points, j.Set.N(), s.Level, i, &r.Warnings)
}

// predicted is what a solution says of new inputs.
func (j *Job) predicted(ctx context.Context, in *dataset.Inputs, s Settings, i Intervals,
	solution *solver.Solution) (*report.Prediction, error) {
	began := time.Now()
	at, err := predict.At(j.Model, solution, in, func(done int) error {
		j.Progress("predict", done, in.N())
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	points := &report.Points{Names: in.RowNames, Mean: at.Mean, Variance: at.Var, SD: at.SD()}
	if err := addIntervals(points, j.Model, in, s.Level, i, solution, at); err != nil {
		return nil, err
	}
	j.Times.Predict = time.Since(began).Seconds()
	r := &report.Prediction{
		Command: "predict", Subject: j.Subject, Resampling: Resampling(s.Scheme, j.Set.N()),
		Convergence: convergence(j.Model, solution), Test: in.Name, Count: len(points.Mean), Points: points,
		Warnings: allWarnings(j.Model, s.Scheme, append(slices.Clone(in.Notes), solution.Warnings...)...),
	}
	addTestErrors(r, j.Test, in.Y)
	if j.labels() {
		for n, mean := range points.Mean { // shares of the resamples that say +1 and -1 (M04-20)
			points.Vote = append(points.Vote, loss.Vote{}.Gaussian(mean, points.Variance[n], 1))
			points.Negative = append(points.Negative, loss.ZeroOne{}.Gaussian(mean, points.Variance[n], 1))
			points.Class = append(points.Class, j.Subject.Labels.Name(mean))
		}
		all, err := predict.ProbabilitiesOf(j.Model, solution)
		if err != nil {
			return nil, err
		}
		if points.Probability, err = all.AtInputs(j.Model, solution, in, at); err != nil {
			return nil, err
		}
		r.Calibration = calibration.NewReliability(all.Method, all.LeftOut, j.Set.Y, j.Set.Weights)
		warn(&r.Warnings, fewWarning(j.Set))
	}
	requireNumbers(&r.Status, &r.Warnings, points)
	r.Interval = interval(points, j.Set.N(), s.Level, i, &r.Warnings)
	return r, nil
}

// addIntervals adds the theory's intervals to the points.
func addIntervals(p *report.Points, m *model.Model, in *dataset.Inputs, level float64, i Intervals,
	s *solver.Solution, at *predict.Predictions) error {
	if i.Of != Observation {
		all, err := at.Intervals(level)
		setIntervals(p, all, 0)
		return err
	}
	all, err := predict.ObservationIntervals(m, s, in, level, i.unit())
	setIntervals(p, all, m.TargetMean)
	return err
}

// setIntervals sets the ends of intervals about targets that lack a mean.
func setIntervals(p *report.Points, all []solver.Interval, mean float64) {
	p.Lower, p.Upper = nil, nil
	for _, interval := range all {
		p.Lower, p.Upper = append(p.Lower, interval.Low+mean), append(p.Upper, interval.High+mean)
	}
}

// interval says what the intervals of n examples are, and how many of the new targets they hold.
func interval(p *report.Points, n int, level float64, i Intervals, warnings *[]string) report.Interval {
	r := report.Interval{Interval: i.Of, Level: level}
	if i.Of != Observation {
		return r
	}
	r.Residuals, r.CoverageSD = i.Residuals, math.Sqrt(level*(1-level)/float64(n))
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
	if n < fewExamples {
		warn(warnings, fmt.Sprintf("intervals from %d examples are rough: the share of new targets that they hold "+
			"is %.2g give or take %.1g", n, level, r.CoverageSD))
	}
	return r
}

// addTestErrors adds targets and their losses, where there are targets.
func addTestErrors(r *report.Prediction, test loss.Test, targets []float64) {
	if targets == nil {
		return
	}
	r.TestLoss, r.Points.Target = test.Name(), targets
	bagged := 0.0
	for i, y := range targets {
		mean, variance := r.Points.Mean[i], r.Points.Variance[i]
		r.Points.Error = append(r.Points.Error, test.Gaussian(mean, variance, y))
		bagged += test.Value(mean, y)
	}
	n := float64(len(targets))
	r.TestError, r.BaggedError = null.Of(floats.Sum(r.Points.Error)/n), null.Of(bagged/n)
	r.Quality = calibration.NewQuality(test, *r.TestError, targets, r.Points.Error, nil, r.Labels)
	warn(&r.Warnings, r.Quality.Warning(*r.TestError))
}

// mostCross bounds what optional refinement takes for the kernel of new inputs, which is held whole.
const mostCross = 256 << 20

// refinePrediction adds what exact resamples say of the new inputs.
func (j *Job) refinePrediction(ctx context.Context, r *report.Prediction, in *dataset.Inputs, s Settings,
	i Intervals, solution *solver.Solution, collected *fits) error {
	if s.Refine.Resamples == 0 || s.Refine.Optional && 8*int64(in.N())*int64(j.Sites()) > mostCross {
		return nil
	}
	cross, err := j.CrossAll(in)
	if err != nil {
		return err
	}
	var replicates predict.Replicates
	s.Metrics = nil // they are of new inputs
	result, warnings, err := j.Refine(ctx, solution, s, cross, func(b int, weight, f []float64) {
		collected.add(b, weight, f)
		if i.Of == Observation {
			replicates.Add(b, weight, f)
		}
	})
	r.Warnings = append(r.Warnings, warnings...)
	if err != nil || result == nil {
		return err
	}
	var probabilities *predict.Probabilities
	r.Refined, probabilities = j.refined(result, solution, s)
	warn(&r.Warnings, r.Refined.Warning())
	m := j.Sites()
	points := &report.Points{Mean: result.Mean[m:], Variance: result.Variance[m:], MeanSE: result.MeanSE[m:],
		VarianceSE: result.VarianceSE[m:]}
	if probabilities != nil {
		points.Probability = probabilities.ByCurve(points.Mean, points.Variance)
	}
	points.Shift(j.TargetMean)
	r.Refined.Points = points
	if i.Of == Observation {
		all, err := predict.ReplicateIntervals(j.Model, &replicates, s.Level, i.unit())
		if err != nil {
			warn(&r.Warnings, fmt.Sprintf("no refined intervals: %v", err))
		}
		setIntervals(points, all, j.TargetMean)
	}
	return nil
}
