package answer

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
)

// DefaultSample is the number of n rows on which an estimate takes less than about 30 s on two cores: of more
// than 5000, where the theory takes n^3 flops a sweep, 4000, and for the square loss, whose kernel matrices
// are often of low rank, of more than 25,000 rows 20,000.
func DefaultSample(l loss.Loss, n int) int {
	most, size := 5000, 4000
	if _, square := l.(loss.Square); square {
		most, size = 25_000, 20_000
	}
	if n <= most {
		return n
	}
	return size
}

// heldOut is the number of rows outside of a sample by which models of its parts are judged, at most.
const heldOut = 20_000

// addLearningCurve quotes the error of a model trained on all rows where the job has a sample of them: that
// of models trained on quarters, halves and all of the sample, at rows outside of it, continued by
// extrapolate.
func (j *Job) addLearningCurve(ctx context.Context, e *report.Estimate) error {
	in := j.Others.Head(heldOut)
	curve := &report.LearningCurve{HeldOut: in.N()}
	var each []float64
	for parts := 4; parts >= 1; parts /= 2 {
		each = make([]float64, in.N())
		for part := range parts {
			j.Progress("models of parts of the sample", len(curve.Sizes), 3)
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := j.addLosses(each, part, parts, in); err != nil {
				e.Warnings = append(e.Warnings, "the error is that of a model of the sample, not of all rows: "+
					err.Error())
				return nil
			}
		}
		floats.Scale(1/float64(parts), each)
		curve.Sizes = append(curve.Sizes, j.Set.N()/parts)
		curve.Errors = append(curve.Errors, stat.Mean(each, nil))
	}
	growth := float64(j.Subject.RowsTotal) / float64(j.Set.N())
	quote, spread := extrapolate(curve.Errors, growth)
	se := null.Float(math.Hypot(spread, stat.StdErr(stat.StdDev(each, nil), float64(len(each)))))
	e.LearningCurve, e.Quote = curve, report.Quote{Error: null.Float(quote), ErrorSE: &se}
	e.Quality = j.quality(e.Quote.Error, e.Examples.Each)
	each = []float64{e.Time.Gram * growth, e.Time.Fit * growth, e.Time.Solve * growth}
	if e.Refined != nil {
		each = append(each, e.Refined.Time.Total*growth)
	}
	if e.Time.AllRows = floats.Sum(each); j.Form() == model.Exact {
		e.Time.AllRows *= growth * growth
	}
	return nil
}

// addLosses adds the test losses at in of the model of one part of the sample.
func (j *Job) addLosses(each []float64, part, parts int, in *dataset.Set) error {
	var rows []int
	for i := part; i < j.Set.N(); i += parts {
		rows = append(rows, i)
	}
	spec := j.Spec
	spec.Set = spec.Set.Subset(rows)
	m, err := model.Build(spec)
	if err != nil {
		return err
	}
	p, err := Train(m)
	if err != nil {
		return err
	}
	f, err := p.Predict(in)
	for i, v := range f {
		each[i] += j.Test.Value(v+j.TargetMean, in.Y[i])
	}
	return err
}

// extrapolate continues the errors of a quarter, a half and all of a sample to growth times as many rows. The
// fall from a quarter to all goes on as m^-1/2 does, in logarithms, so that no error is below 0. Learning
// curves are a + b m^-c; the spread is half of the way from a fall as 1/m to one by a power of m, without a.
func extrapolate(errors []float64, growth float64) (quote, spread float64) {
	last := errors[len(errors)-1]
	if !(last > 0) {
		return last, 0
	}
	fall := math.Max(0, math.Log(errors[0]/last))
	further := func(c float64) float64 { return fall * (1 - math.Pow(growth, -c)) / (math.Pow(4, c) - 1) }
	quote = last * math.Exp(-further(0.5))
	return quote, quote * (fall*math.Log(growth)/math.Log(4) - further(1)) / 2
}
