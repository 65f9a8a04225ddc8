package calibration

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

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
