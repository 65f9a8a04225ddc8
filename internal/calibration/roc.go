package calibration

import (
	"slices"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

// ROC is the receiver operating characteristic of scores for labels -1, +1: for falling
// thresholds the shares of the two labels whose score reaches them; and the area under it, the
// probability that a positive example has the larger score, ties counting half. weights nil are 1. It is nil
// for one class.
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
