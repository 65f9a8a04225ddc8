package answer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
)

// DefaultSample is the number of rows for an estimate of about 30 s on two cores: as many as a low-rank
// factor allows, else 4000 of more than 5000 by the theory, 8000 of more than 10000 by exact resamples only;
// fewer for several classes, each of which takes as long.
func (s *Settings) DefaultSample(ctx context.Context, spec model.Spec) int {
	sample, n, classes := 4000, spec.Set.N(), 1
	if k := len(spec.Set.Levels()); k > 2 {
		classes = k
	}
	if s.Method != TheoryMethod && s.NeedsTheory(spec.Loss) == "" {
		sample = 8000
	}
	sample = int(float64(sample) / math.Sqrt(float64(classes)))
	if n <= sample*5/4 || spec.RankSuffices(ctx, mostWork/(n*classes)-rankWork) {
		return n
	}
	return sample
}

// On a factor of rank r an estimate of n rows takes about n (r + rankWork) microseconds: mostWork at most.
const mostWork, rankWork = 25_000_000, 250

// heldOut is the largest number of rows outside a sample that test models of its parts.
const heldOut = 20_000

// addLearningCurve quotes the error of the model of a sample, which is the model that training with the same
// settings gives, at rows outside it, with the errors of models of quarters and halves, and the error to be
// expected with twice the rows. What more rows would give no part of the sample tells.
func (a *estimation) addLearningCurve(ctx context.Context) error {
	e, in := a.e, a.Others.Head(heldOut)
	curve := &report.LearningCurve{HeldOut: in.N()}
	var sizes []calibration.SizeError
	for parts := 4; parts >= 1; parts /= 2 {
		at := calibration.SizeError{Ratio: 1 / float64(parts), Each: make([]float64, in.N())}
		means := make([]float64, parts)
		for part := range parts {
			a.Progress("models of parts of the sample", len(sizes), 3)
			each, err := a.partLosses(ctx, part, parts, in)
			switch {
			case ctx.Err() != nil: // the answer so far stays
				e.Status = Cancelled
				return nil
			case err != nil:
				e.Warnings = append(e.Warnings,
					"the error is that of models of resamples of the sample: "+err.Error())
				return nil
			}
			floats.AddScaled(at.Each, at.Ratio, each)
			means[part] = stat.Mean(each, in.Weights)
		}
		at.Error = stat.Mean(means, nil)
		if at.SE = stat.StdDev(means, nil) / 2; parts < 4 { // parts of twice the size vary by half of the variance
			at.SE = sizes[0].SE
		}
		sizes = append(sizes, at)
		curve.Sizes, curve.Errors = append(curve.Sizes, a.Set.N()/parts), append(curve.Errors, at.Error)
	}
	last := sizes[2]
	over := &calibration.Quality{}
	over.Over(last.Each, in.Weights, in.Groups)
	e.Quote = report.NewQuote(e.TestLoss, null.Float(last.Error), over, nil)
	e.Quality = a.quality(e.Quote.Error, e.Examples.Each, a.solution.OutOfBag().Mean)
	curve.Growth = calibration.NewGrowth(sizes, a.Set.N())
	e.LearningCurve, e.Time.AllRows = curve, a.timeOfAll()
	return nil
}

// timeOfAll predicts the time of the estimate with all rows from operation counts.
func (a *estimation) timeOfAll() float64 {
	e := a.e
	growth := float64(a.Subject.RowsTotal) / float64(a.Set.N())
	seconds := e.Time.Gram + e.Time.Fit + e.Time.Solve
	if e.Refined != nil {
		seconds += e.Refined.Time.Total
	}
	if a.Form() == model.Exact {
		return seconds * growth * growth * growth
	}
	return seconds * growth
}

// partLosses are the test losses at in of the model of one part of the sample.
func (a *estimation) partLosses(ctx context.Context, part, parts int, in *dataset.Set) ([]float64, error) {
	var rows []int
	for i := part; i < a.Set.N(); i += parts {
		rows = append(rows, i)
	}
	spec := a.Spec
	spec.Set = spec.Set.Subset(rows)
	y := in.Targets(0)
	f, err := predictionsOf(ctx, spec, in)
	for i, v := range f {
		f[i] = a.Test.Value(v, y[i])
	}
	return f, err
}
