package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/loss"
)

// NewMetrics measures predictions for targets y with weights, nil for 1: expected are the losses of the
// examples under a test loss. Labels have mean predictions, for the area under the ROC curve, and
// probabilities, which may be nil; numbers have neither.
func NewMetrics(y, weights []float64, expected func(test loss.Test) []float64, mean,
	probability []float64) *report.Metrics {
	judged := func(test loss.Test) (report.Number, *report.Quality) {
		each := expected(test)
		mean := report.Number(stat.Mean(each, weights))
		return mean, NewQuality(test, mean, y, each, weights, nil, nil)
	}
	if mean == nil {
		_, q := judged(loss.SquareTest{})
		absolute, _ := judged(loss.Absolute{})
		return &report.Metrics{RMSE: q.RMSE, MAE: &absolute, RSquared: q.RSquared}
	}
	wrong, q := judged(loss.ZeroOne{})
	m := &report.Metrics{Error: &wrong, Balanced: q.Balanced}
	if curve, _, area := ROC(mean, y, weights); curve != nil {
		m.AUC = report.NumberOf(area)
	}
	if probability != nil {
		logLoss, brier := Judge(probability, y, weights)
		m.LogLoss, m.Brier = report.NumberOf(logLoss), report.NumberOf(brier)
	}
	return m
}

// NewQuality compares test errors per example, NaN if unknown, with a constant prediction of the targets y in
// units of the file; testError is their mean with the weights, nil for 1. Its standard error is over the
// groups, if there are any. column names labels. R^2 and RMSE are for the square loss. It is nil without
// targets.
func NewQuality(test loss.Test, testError report.Number, y, perExample, weights []float64, group []int,
	column *dataset.Column) *report.Quality {
	known := slices.DeleteFunc(slices.Clone(perExample), math.IsNaN)
	if len(y) == 0 || len(known) == 0 {
		return nil
	}
	q := &report.Quality{}
	q.ExampleSE, q.Effective = StandardError(perExample, weights, group)
	if test.Name() == (loss.ZeroOne{}).Name() {
		_, count := byLabel(y, y, weights)
		q.Baseline = report.Number(min(count[0], count[1]) / (count[0] + count[1]))
		if q.Constant = column.Level(-1); count[1] >= count[0] {
			q.Constant = column.Level(1)
		}
		if balanced := Balanced(perExample, y, weights); !math.IsNaN(balanced) {
			q.Balanced = report.NumberOf(balanced)
		}
		return q
	}
	constant, square := stat.Mean(y, weights), test.Name() == (loss.SquareTest{}).Name()
	if !square {
		sorted, of := slices.Clone(y), slices.Clone(weights)
		stat.SortWeighted(sorted, of)
		constant = stat.Quantile(0.5, stat.Empirical, sorted, of)
	}
	q.Constant = fmt.Sprintf("%.*g", max(5, 1+int(math.Log10(math.Abs(constant)+1))), constant)
	each := make([]float64, len(y))
	for i, v := range y {
		each[i] = test.Value(constant, v)
	}
	baseline := stat.Mean(each, weights)
	q.Baseline = report.Number(baseline)
	if square {
		q.RSquared = report.NumberOf(1 - float64(testError)/baseline)
		q.RMSE = report.NumberOf(math.Sqrt(float64(testError)))
	}
	return q
}

// leastSpread is the least denominator of StandardError: below it one unit has all the weight.
const leastSpread = 1e-20

// StandardError is the standard error of the weighted mean m of errors e, NaN if unknown, over examples, or
// over whole groups: with the shares v_u of the units in the weight, and the deviations d_u of their means,
//
//	se^2 = sum_u v_u^2 d_u^2/(1 - 2 v_u + sum v^2),
//
// without bias where the units have equal variances (the correction of Bell and McCaffrey 2002 for
// independent units), however unequal their shares. For equal shares it is the usual standard error. The
// effective number of the units is 1/sum v^2.
func StandardError(each, weights []float64, group []int) (se report.Number, effective float64) {
	sum, total := 0.0, 0.0
	for i, e := range each {
		if !math.IsNaN(e) {
			w := WeightOf(weights, i)
			sum, total = sum+w*e, total+w
		}
	}
	off, share := make([]float64, len(each)), make([]float64, len(each)) // of the units
	for i, e := range each {
		unit := i
		if group != nil {
			unit = group[i]
		}
		if !math.IsNaN(e) {
			w := WeightOf(weights, i)
			off[unit] += w * (e - sum/total)
			share[unit] += w / total
		}
	}
	square, variance := floats.Dot(share, share), 0.0
	for unit, v := range share {
		if v > 0 {
			spread := (1-v)*(1-v) + math.Max(0, square-v*v)
			if spread < leastSpread {
				return report.Number(math.NaN()), 1 / square
			}
			variance += off[unit] * off[unit] / spread
		}
	}
	return report.Number(math.Sqrt(variance) / total), 1 / square
}

// WeightOf is the weight of an example; nil stands for 1.
func WeightOf(weights []float64, example int) float64 {
	if weights == nil {
		return 1
	}
	return weights[example]
}

// Rank adds to a quality the area under the ROC curve of predictions, NaN if unknown, for labels with
// weights, nil for 1. Its standard error without any relation is the one of Mann and Whitney (1947), for the
// effective number of examples.
func Rank(q *report.Quality, mean, label, weights []float64) {
	var score, y, w []float64
	var count [2]float64
	for i, f := range mean {
		if !math.IsNaN(f) {
			score, y, w = append(score, f), append(y, label[i]), append(w, WeightOf(weights, i))
			count[class(label[i])]++
		}
	}
	if curve, _, area := ROC(score, y, w); curve != nil {
		share := Effective(len(w), w, nil) / float64(len(w))
		q.AUC = report.NumberOf(area)
		q.Ranks = area-0.5 > 2*math.Sqrt((count[0]+count[1]+1/share)/(12*count[0]*count[1]*share))
	}
}

// ROC is the receiver operating characteristic of scores for labels -1, +1: for decreasing thresholds the
// fractions of the two labels with scores above them; and the area under it, the probability that a positive
// example has the larger score, ties counting half. Nil weights are 1. It is nil for one class.
func ROC(score, label, weights []float64) (falsePositive, truePositive []float64, area float64) {
	if !slices.ContainsFunc(label, func(y float64) bool { return y > 0 }) ||
		!slices.ContainsFunc(label, func(y float64) bool { return y <= 0 }) {
		return nil, nil, 0
	}
	sorted, positive, of := slices.Clone(score), make([]bool, len(label)), slices.Clone(weights)
	for i, y := range label {
		positive[i] = y > 0
	}
	stat.SortWeightedLabeled(sorted, positive, of)
	truePositive, falsePositive, _ = stat.ROC(nil, sorted, positive, of)
	return falsePositive, truePositive, integrate.Trapezoidal(falsePositive, truePositive)
}
