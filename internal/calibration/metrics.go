package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/loss"
)

// Metrics are common metrics of predictions for left-out examples, those that the targets allow.
type Metrics struct {
	RMSE     *null.Float `json:"rmse,omitempty"`
	MAE      *null.Float `json:"mae,omitempty"`
	RSquared *null.Float `json:"r_squared,omitempty"`
	Error    *null.Float `json:"error,omitempty"` // fraction misclassified
	Balanced *null.Float `json:"balanced_error,omitempty"`
	AUC      *null.Float `json:"auc,omitempty"`
	LogLoss  *null.Float `json:"log_loss,omitempty"`
	Brier    *null.Float `json:"brier,omitempty"`
	// Jackknife is the standard error of the left-out error over draws of the data.
	Jackknife *null.Float `json:"jackknife_se,omitempty"`
}

// Names of the metrics of numbers, of labels and of both.
var (
	NumberMetrics = []string{"rmse", "mae", "r2"}
	LabelMetrics  = []string{"error", "balanced-error", "auc", "log-loss", "brier"}
)

// Jackknife is the name of the jackknife's standard error.
const Jackknife = "jackknife"

// Metric is a metric by the name of its flag and in words.
type Metric struct {
	Name, Words string
	Value       **null.Float
}

// All lists the metrics, unknown ones included.
func (m *Metrics) All() []Metric {
	return []Metric{{"rmse", "RMSE", &m.RMSE}, {"mae", "MAE", &m.MAE}, {"r2", "R^2", &m.RSquared},
		{"error", "error", &m.Error}, {"balanced-error", "balanced error", &m.Balanced},
		{"auc", "AUC", &m.AUC},
		{"log-loss", "log loss", &m.LogLoss}, {"brier", "Brier", &m.Brier},
		{Jackknife, "jackknife standard error", &m.Jackknife}}
}

// Keep removes the metrics that are not wanted.
func (m *Metrics) Keep(wanted func(name string) bool) {
	for _, v := range m.All() {
		if !wanted(v.Name) {
			*v.Value = nil
		}
	}
}

// NewMetrics measures predictions for targets y with weights, nil for 1: expected are the losses of the
// examples under a test loss. Labels have mean predictions, for the area under the ROC curve, and
// probabilities, which may be nil; numbers have neither.
func NewMetrics(y, weights []float64, expected func(test loss.Test) []float64, mean,
	probability []float64) *Metrics {
	judged := func(test loss.Test) (float64, *Quality) {
		each := expected(test)
		mean := stat.Mean(each, weights)
		return mean, NewQuality(test, null.Float(mean), y, each, weights, nil)
	}
	if mean == nil {
		_, q := judged(loss.SquareTest{})
		absolute := stat.Mean(expected(loss.Absolute{}), weights)
		return &Metrics{RMSE: q.RMSE, MAE: null.Of(absolute), RSquared: q.RSquared}
	}
	wrong, q := judged(loss.ZeroOne{})
	m := &Metrics{Error: null.Of(wrong), Balanced: q.Balanced}
	if curve, _, area := ROC(mean, y, weights); curve != nil {
		m.AUC = null.Of(area)
	}
	if probability != nil {
		logLoss, brier := Judge(probability, y, weights)
		m.LogLoss, m.Brier = null.Of(logLoss), null.Of(brier)
	}
	return m
}

// Quality compares a test error with a baseline.
type Quality struct {
	Baseline null.Float  `json:"baseline"` // test error of the best constant prediction
	Constant string      `json:"constant"` // that prediction, in the file's labels
	RSquared *null.Float `json:"r_squared,omitempty"`
	RMSE     *null.Float `json:"rmse,omitempty"`
	// mean of the two classes' error rates
	Balanced *null.Float `json:"balanced_error,omitempty"`
	// area under the ROC curve of the predictions, and whether it is above 1/2 by twice its standard error
	AUC   *null.Float `json:"auc,omitempty"`
	ranks bool
	// standard error of the test error over examples, or groups
	ExampleSE null.Float `json:"example_se"`
	Effective float64    `json:"-"` // their effective number
}

// NewQuality compares test errors per example, NaN if unknown, with a constant prediction of the targets y in
// units of the file; testError is their mean with the weights, nil for 1. column names labels. R^2
// and RMSE are for the square loss. It is nil without targets.
func NewQuality(test loss.Test, testError null.Float, y, perExample, weights []float64,
	column *dataset.Column) *Quality {
	known := slices.DeleteFunc(slices.Clone(perExample), math.IsNaN)
	if len(y) == 0 || len(known) == 0 {
		return nil
	}
	q := &Quality{}
	q.Over(perExample, weights, nil)
	if test.Name() == (loss.ZeroOne{}).Name() {
		q.judgeLabels(y, perExample, weights, column)
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
	q.Baseline = null.Float(baseline)
	if square {
		q.RSquared, q.RMSE = null.Of(1-float64(testError)/baseline), null.Of(math.Sqrt(float64(testError)))
	}
	return q
}

// Over sets the standard error and the effective number of examples or, unless nil, of groups (Effective).
func (q *Quality) Over(perExample, weights []float64, group []int) {
	se, effective := overUnits(perExample, weights, group)
	q.ExampleSE, q.Effective = null.Float(se), effective
}

// UpperBound is the one-sided 95% bound of the probability of an event that a share of n trials had (Clopper
// and Pearson 1934): 1 - 0.05^(1/n) for none.
func UpperBound(share, n float64) float64 {
	return distuv.Beta{Alpha: share*n + 1, Beta: n - share*n}.Quantile(0.95)
}

// StandardError is the standard error of the weighted mean m of errors e, NaN if unknown, over examples, or
// over whole groups: with the shares v_u of the units in the weight, and the deviations d_u of their means,
//
//	se^2 = sum_u v_u^2 d_u^2/(1 - 2 v_u + sum v^2),
//
// without bias where the units have equal variances (the correction of Bell and McCaffrey 2002 for
// independent units), however unequal their shares. For equal shares it is the usual standard error.
func StandardError(each, weights []float64, group []int) float64 {
	se, _ := overUnits(each, weights, group)
	return se
}

// leastSpread is the least denominator of overUnits: below it one unit has all the weight, within rounding.
const leastSpread = 1e-20

// overUnits returns the standard error and the effective number of examples or groups.
func overUnits(each, weights []float64, group []int) (se, effective float64) {
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
				return math.NaN(), 1 / square
			}
			variance += off[unit] * off[unit] / spread
		}
	}
	return math.Sqrt(variance) / total, 1 / square
}

// WeightOf is the weight of an example; nil stands for 1.
func WeightOf(weights []float64, example int) float64 {
	if weights == nil {
		return 1
	}
	return weights[example]
}

// judgeLabels is NewQuality for labels.
func (q *Quality) judgeLabels(y, perExample, weights []float64, column *dataset.Column) {
	var errors, judged [2]float64 // of the labels -1 and +1
	count := [2]float64{}
	for i, label := range y {
		c, w := class(label), WeightOf(weights, i)
		count[c] += w
		if !math.IsNaN(perExample[i]) {
			errors[c], judged[c] = errors[c]+w*perExample[i], judged[c]+w
		}
	}
	q.Baseline = null.Float(min(count[0], count[1]) / (count[0] + count[1]))
	larger := -1.0
	if count[1] >= count[0] {
		larger = 1
	}
	q.Constant = column.Level(larger)
	if judged[0] > 0 && judged[1] > 0 {
		q.Balanced = null.Of((errors[0]/judged[0] + errors[1]/judged[1]) / 2)
	}
}

// Rank adds the area under the ROC curve of predictions, NaN if unknown, for labels with weights, nil for 1.
// Its standard error without any relation is that of Mann and Whitney (1947), for the effective number of
// examples.
func (q *Quality) Rank(mean, label, weights []float64) {
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
		q.AUC = null.Of(area)
		q.ranks = area-0.5 > 2*math.Sqrt((count[0]+count[1]+1/share)/(12*count[0]*count[1]*share))
	}
}

// sameError is the relative difference of errors that are equal up to rounding.
const sameError = 1e-9

// Warning is a warning if a model is not better than a constant, else, and for constant targets, "". A model
// of labels that ranks them has learned something, although its errors are as many.
func (q *Quality) Warning(testError null.Float) string {
	if q == nil || q.Baseline == 0 || !(testError >= q.Baseline*(1-sameError)) {
		return ""
	}
	errs, baseline, unit := float64(testError), float64(q.Baseline), ""
	if q.RSquared != nil {
		errs, baseline, unit = math.Sqrt(errs), math.Sqrt(baseline), " (root mean square)"
	}
	verdict := "it has learned nothing of use"
	if q.ranks {
		verdict = fmt.Sprintf("yet it ranks the classes, with an AUC of %.3f: where they are unequal, the "+
			"balanced error and a threshold of the probability say more", *q.AUC)
	}
	return fmt.Sprintf("the model errs by %.5g, always predicting %s by %.5g%s: %s", errs, q.Constant,
		baseline, unit, verdict)
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
