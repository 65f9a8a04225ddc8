package calibration

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/loss"
)

const (
	ByError    = "error"
	ByLogLoss  = "log-loss"
	ByAUC      = "auc"
	ByBalanced = "balanced"
	ByCost     = "cost"
	ByWeights  = "class-weighted error" // as ByCost, of labels that are signs; not in ParseMeasure
)

// Measure is by what models of two labels are judged on new rows. The zero value is the error.
type Measure struct {
	Name string
	// Negative and Positive are, of ByCost and ByWeights, what a wrong label costs for a row of the label -1,
	// and of +1.
	Negative, Positive float64
}

// ParseMeasure reads error, log-loss, auc, balanced or cost:A,B, the costs of wrong labels of -1 and of +1.
func ParseMeasure(text string) (m Measure, err error) {
	name, costs, priced := strings.Cut(text, ":")
	m.Name = name
	known := slices.Contains([]string{ByError, ByLogLoss, ByAUC, ByBalanced}, name) && !priced
	if name == ByCost {
		a, b, two := strings.Cut(costs, ",")
		var failed error
		m.Negative, err = strconv.ParseFloat(strings.TrimSpace(a), 64)
		m.Positive, failed = strconv.ParseFloat(strings.TrimSpace(b), 64)
		most := math.Max(m.Negative, m.Positive)
		known = two && err == nil && failed == nil && min(m.Negative, m.Positive) > 0 && most <= 1e10
	}
	if !known {
		return m, fmt.Errorf("is %q, must be error, log-loss, auc, balanced, or cost:A,B with the costs, "+
			"above 0, of a wrong label for a row of the class -1, and of +1", text)
	}
	return m, nil
}

func (m Measure) String() string {
	if m.Name == ByCost {
		return fmt.Sprintf("%s:%g,%g", m.Name, m.Negative, m.Positive)
	}
	return m.Name
}

// IsError reports whether the measure is the error.
func (m Measure) IsError() bool { return m.Name == "" || m.Name == ByError }

// ByProbability reports whether labels are those that the probabilities of left-out fields tell, from
// Threshold on: of measures that do not count the signs of fields.
func (m Measure) ByProbability() bool {
	return m.Name == ByLogLoss || m.Name == ByAUC || m.Name == ByCost
}

// Threshold is the probability of +1 from which on this label costs less than -1; without costs it is 1/2.
func (m Measure) Threshold() float64 {
	if m.Name != ByCost {
		return 0.5
	}
	return m.Negative / (m.Negative + m.Positive)
}

// Losses are the losses of rows with left-out fields f and labels y: their mean with the weights is the
// measure, for the area under the ROC curve 1 minus that. Wrong is 1 for rows with a wrong label. Log loss,
// cost and labels ByProbability use the probability of each row by a logistic curve through the fields of
// others (CrossFit). Both are nil where a class has fewer than two rows.
func (m Measure) Losses(f, y, weights []float64) (each, wrong []float64) {
	probability := CrossFit(f, y, weights)
	if probability == nil {
		return nil, nil
	}
	each, wrong = make([]float64, len(f)), make([]float64, len(f))
	_, total := byLabel(y, y, weights)
	if m.Name == ByAUC {
		copy(each, misranked(f, y, weights, total))
	}
	for i, label := range y {
		c, p := class(label), probability[i]
		half := (total[0] + total[1]) / (2 * total[c]) // the classes count equally
		switch wrong[i] = (loss.ZeroOne{}).Value(f[i], label); {
		case !m.ByProbability():
		case p >= m.Threshold() == (c == 1):
			wrong[i] = 0
		default:
			wrong[i] = 1
		}
		switch m.Name {
		case ByLogLoss:
			if c == 0 {
				p = 1 - p
			}
			each[i] = -math.Log(p)
		case ByCost, ByWeights:
			each[i] = wrong[i] * [2]float64{m.Negative, m.Positive}[c]
		case ByAUC:
			each[i] *= half
		case ByBalanced:
			each[i] = half * wrong[i]
		default:
			each[i] = wrong[i]
		}
	}
	return each, wrong
}

// byLabel are the sums of values, times weights, and of the weights over the examples of -1 and of +1.
// Unknown values, NaN, do not count.
func byLabel(values, y, weights []float64) (sum, total [2]float64) {
	for i, label := range y {
		if v := values[i]; !math.IsNaN(v) {
			c, w := class(label), WeightOf(weights, i)
			sum[c], total[c] = sum[c]+w*v, total[c]+w
		}
	}
	return sum, total
}

// Balanced is the mean over the two classes of the mean of wrong labels, NaN if one has no known label.
func Balanced(wrong, y, weights []float64) float64 {
	sum, total := byLabel(wrong, y, weights)
	return (sum[0]/total[0] + sum[1]/total[1]) / 2
}

// Ties are the places of the values of a list, the places of each value together, the values ascending.
func Ties(values []float64) (places [][]int) {
	sorted, order := slices.Clone(values), make([]int, len(values))
	floats.ArgsortStable(sorted, order)
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && sorted[end] == sorted[first] {
			end++
		}
		places, first = append(places, order[first:end]), end
	}
	return places
}

// misranked is, for each row, the share in the weight of the other label of the rows that have a field on its
// wrong side; equal fields count half. total are the weights of the labels.
func misranked(f, y, weights []float64, total [2]float64) []float64 {
	each, below := make([]float64, len(f)), [2]float64{}
	for _, rows := range Ties(f) {
		var equal [2]float64
		for _, i := range rows {
			equal[class(y[i])] += WeightOf(weights, i)
		}
		for _, i := range rows {
			own := class(y[i])
			other := 1 - own
			if each[i] = (below[other] + equal[other]/2) / total[other]; own == 1 { // lower fields
				each[i] = 1 - each[i]
			}
		}
		below[0], below[1] = below[0]+equal[0], below[1]+equal[1]
	}
	return each
}

// SE is the standard error of the measure over rows or groups, given Losses. The sizes of the classes are
// fixed for measures in which these count equally; each row counts in the ranks of the others, too, for the
// area under the ROC curve (DeLong, DeLong and Clarke-Pearson 1988).
func (m Measure) SE(losses, y, weights []float64, group []int) float64 {
	each, factor := slices.Clone(losses), 1.0
	if m.Name == ByAUC || m.Name == ByBalanced {
		sum, total := byLabel(each, y, weights)
		for i, label := range y {
			each[i] -= sum[class(label)] / total[class(label)]
		}
	}
	if m.Name == ByAUC {
		factor = 2
	}
	se, _ := StandardError(each, weights, group)
	return factor * float64(se)
}

// Interval is the interval of the measure of n rows, with the mean e of Losses and its standard error: of
// units effective rows or groups, by the normal law or Student's with degrees of freedom above 0.
func (m Measure) Interval(e, se, n, units, level, freedom float64) (lower, upper float64) {
	most := 1.0
	if m.Name == ByCost {
		most = math.Max(m.Negative, m.Positive)
	}
	if m.Name == ByLogLoss || m.Name == ByCost && e > 0 { // the costs of rows differ by more than a share's
		return ErrorInterval(e, se, level, freedom)
	}
	lower, upper = ShareInterval(e/most, se/most, n, units, level, freedom)
	if m.Name == ByAUC {
		return 1 - upper, 1 - lower
	}
	return lower * most, upper * most
}

// Value is the measure with the mean e of Losses.
func (m Measure) Value(e float64) float64 {
	if m.Name == ByAUC {
		return 1 - e
	}
	return e
}

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
