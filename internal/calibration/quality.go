package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/loss"
)

// Quality puts a test error in proportion.
type Quality struct {
	Baseline null.Float  `json:"baseline"` // test error of the best constant prediction
	Constant string      `json:"constant"` // that prediction, in the file's own labels
	RSquared *null.Float `json:"r_squared,omitempty"`
	RMSE     *null.Float `json:"rmse,omitempty"`
	// mean of the shares of either class that are misclassified
	Balanced *null.Float `json:"balanced_error,omitempty"`
	// standard error of the test error: with other examples it would be another
	ExampleSE null.Float `json:"example_se"`
}

// NewQuality judges test errors per example, NaN where unknown, against targets y in units
// of the file; their mean is testError. labels are nil for -1 and +1. R^2 and RMSE are of
// the square loss; nil is returned for no targets.
func NewQuality(test loss.Test, testError null.Float, y, perExample []float64,
	labels *dataset.Classes) *Quality {
	known := slices.DeleteFunc(slices.Clone(perExample), math.IsNaN)
	if len(y) == 0 || len(known) == 0 {
		return nil
	}
	q := &Quality{}
	if len(known) > 1 {
		q.ExampleSE = null.Float(stat.StdErr(stat.StdDev(known, nil), float64(len(known))))
	}
	if test.Name() == (loss.ZeroOne{}).Name() {
		q.judgeLabels(y, perExample, labels)
		return q
	}
	constant := stat.Mean(y, nil)
	if test.Name() != (loss.SquareTest{}).Name() {
		sorted := slices.Sorted(slices.Values(y))
		constant = stat.Quantile(0.5, stat.Empirical, sorted, nil)
	}
	q.Constant = fmt.Sprintf("%.5g", constant)
	baseline := 0.0
	for _, v := range y {
		baseline += test.Value(constant, v) / float64(len(y))
	}
	q.Baseline = null.Float(baseline)
	if test.Name() == (loss.SquareTest{}).Name() {
		q.RSquared, q.RMSE = null.Of(1-float64(testError)/baseline), null.Of(math.Sqrt(float64(testError)))
	}
	return q
}

// judgeLabels is NewQuality for labels.
func (q *Quality) judgeLabels(y, perExample []float64, labels *dataset.Classes) {
	var errors [2][]float64 // of the labels -1 and +1
	count := [2]float64{}
	for i, label := range y {
		class := 0
		if label > 0 {
			class = 1
		}
		count[class]++
		if !math.IsNaN(perExample[i]) {
			errors[class] = append(errors[class], perExample[i])
		}
	}
	q.Baseline = null.Float(min(count[0], count[1]) / float64(len(y)))
	larger := -1.0
	if count[1] >= count[0] {
		larger = 1
	}
	q.Constant = labels.Name(larger)
	if len(errors[0]) > 0 && len(errors[1]) > 0 {
		q.Balanced = null.Of((stat.Mean(errors[0], nil) + stat.Mean(errors[1], nil)) / 2)
	}
}

// sameError is the relative difference up to which two errors are equal: rounding.
const sameError = 1e-9

// Warning says that a model is of no use, if it is not better than a constant; else "", and
// where all targets are the same, which a constant foretells.
func (q *Quality) Warning(testError null.Float) string {
	if q == nil || q.Baseline == 0 || !(testError >= q.Baseline*(1-sameError)) {
		return ""
	}
	return fmt.Sprintf("the model errs by %.5g, always predicting %s by %.5g: it has learned nothing of use",
		testError, q.Constant, q.Baseline)
}
