package answer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// DefaultSample is the number of rows for an estimate of about 30 s on two cores: as many as a low-rank
// factor allows, else 4000 of more than 5000 by the theory, 8000 of more than 10000 by exact resamples only;
// fewer for several classes, each of which takes as long.
func (q *Question) DefaultSample(ctx context.Context, spec model.Spec) int {
	sample, n, classes := 4000, spec.Set.N(), 1
	if levels := len(spec.Set.Levels()); levels > 2 {
		classes = levels
	}
	if q.Theory != Yes && q.NeedsTheory(spec.Loss) == "" {
		sample = 8000
	}
	sample = int(float64(sample) / math.Sqrt(float64(classes)))
	if n <= sample*5/4 || spec.RankSuffices(ctx, fits.RankWithin(mostCost, n*classes)) {
		return n
	}
	return sample
}

// mostCost is the largest cost (fits.Cost) of an estimate of all rows by default.
const mostCost = 25e9

// heldOut is the largest number of rows outside a sample that test models of its parts.
const heldOut = 20_000

// addLearningCurve quotes the error of the model of a sample, which is the model that training with the same
// settings gives, at rows outside it, with the errors of models of quarters and halves, and the error to be
// expected with twice the rows. What more rows would give no part of the sample tells.
func addLearningCurve(ctx context.Context, s *Study, a *report.Answer, q *Question) error {
	in := s.Others.Head(heldOut)
	curve := &report.Learning{HeldOut: in.N()}
	var sizes []calibration.SizeError
	for parts := 4; parts >= 1; parts /= 2 {
		at := calibration.SizeError{Ratio: 1 / float64(parts), Each: make([]float64, in.N())}
		means := make([]float64, parts)
		for number := range parts {
			s.Progress("models of parts of the sample", len(sizes), 3)
			each, err := partLosses(ctx, s, number, parts, in)
			if missing(ctx, a, err, "the error is of models of resamples of the sample") {
				return nil
			}
			floats.AddScaled(at.Each, at.Ratio, each)
			means[number] = stat.Mean(each, in.Weights)
		}
		at.Error = stat.Mean(means, nil)
		// parts of twice the size vary by half of the variance
		if at.SE = stat.StdDev(means, nil) / 2; parts < 4 {
			at.SE = sizes[0].SE
		}
		sizes = append(sizes, at)
		curve.Sizes, curve.Errors = append(curve.Sizes, s.Model.Set.N()/parts), append(curve.Errors, at.Error)
	}
	last := sizes[2]
	x := riskOf(in, last.Each)
	a.Trained = x.trained() // by none of these rows
	x.quote(a, q.Level)
	if s.several() {
		a.Quality.ExampleSE = report.Number(x.se)
	} else {
		a.Quality = s.part(0).quality(s.Test, last.Error, a.Examples.Each, a.OutOfBag, s.Model.Set.Groups)
	}
	curve.Growth = calibration.NewGrowth(sizes, s.Model.Set.N())
	a.LearningCurve, a.Time.AllRows = curve, timeOfAll(s, a)
	return nil
}

// timeOfAll predicts the time of the estimate with all rows from operation counts.
func timeOfAll(s *Study, a *report.Answer) float64 {
	growth := float64(s.Subject.RowsTotal) / float64(s.Model.Set.N())
	seconds := a.Time.Gram + a.Time.Fit + a.Time.Solve
	if a.Refined != nil {
		seconds += a.Refined.Time.Total
	}
	if s.Model.Form() == model.Exact {
		return seconds * growth * growth * growth
	}
	return seconds * growth
}

// partLosses are the test losses at in of the model of one part of the sample: of several classes wrong
// decisions, of several targets the mean of squares in units of the variances.
func partLosses(ctx context.Context, s *Study, number, parts int, in *dataset.Set) ([]float64, error) {
	var rows []int
	for i := number; i < s.Model.Set.N(); i += parts {
		rows = append(rows, i)
	}
	spec := s.Model.Spec
	spec.Set = spec.Set.Subset(rows)
	f, err := predictionsOf(ctx, s, spec, in)
	if err != nil {
		return nil, err
	}
	each, judge := make([]float64, in.N()), s.judge(in)
	for i := range each {
		each[i] = judge(i, fieldsAt(f[0], i))[0]
	}
	return each, nil
}

// Growth extrapolates answers about subsamples of n rows to twice the rows, if all have exact fits.
func Growth(n int, answers []report.Answer) *report.Growth {
	var sizes []calibration.SizeError
	for _, a := range answers {
		if a.Refined == nil {
			return nil
		}
		sizes = append(sizes, calibration.SizeError{Ratio: a.Ratio, Error: float64(a.Error),
			SE: float64(a.Refined.SE), Each: a.Refined.Points.Error})
	}
	return calibration.NewGrowth(sizes, n)
}
