package fits

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
)

// Decision decides between several classes by the fields of functions at a row: for the class of the largest
// score, the first of equals.
type Decision interface {
	// Classes is the number of classes.
	Classes() int
	// Scores writes the score of each class, given the field of each function.
	Scores(dst, f []float64)
}

// Largest is the decision by one function for each class, against the others: its field is the class's score.
type Largest int

func (d Largest) Classes() int            { return int(d) }
func (d Largest) Scores(dst, f []float64) { copy(dst, f) }

// Votes is the decision by one function for each pair of classes (PairsOf) in this order: a field above 0
// is a vote for the first of a pair (Chang and Lin 2011, section 7). Of classes with equally many votes the
// first in the order wins, by less than a vote.
type Votes []int

// Classes implements Decision.
func (d Votes) Classes() int { return len(d) }

// Scores implements Decision.
func (d Votes) Scores(dst, f []float64) {
	for rank, k := range d {
		dst[k] = -float64(rank) / float64(len(d)+1)
	}
	for number, pair := range PairsOf(d) {
		if f[number] > 0 {
			dst[pair[0]]++
		} else {
			dst[pair[1]]++
		}
	}
}

// PairsOf are the pairs of classes in an order, as LIBSVM numbers them.
func PairsOf(order []int) (pairs [][2]int) {
	for i, first := range order {
		for _, second := range order[i+1:] {
			pairs = append(pairs, [2]int{first, second})
		}
	}
	return pairs
}

// Joint collects the fields of several functions at N examples, fit by fit, for the errors of their joint
// decision. It holds 4 bytes for each fit, function and example.
type Joint struct {
	Decision
	Of     []int         // class of each example
	fields [][][]float32 // fit, function, example
}

// Add adds the fields of one function of fit r at the examples.
func (j *Joint) Add(r, function int, at func(example int) float64) {
	for r >= len(j.fields) {
		j.fields = append(j.fields, nil)
	}
	f := make([]float32, len(j.Of))
	for i := range f {
		f[i] = float32(at(i))
	}
	for function >= len(j.fields[r]) {
		j.fields[r] = append(j.fields[r], nil)
	}
	j.fields[r][function] = f
}

// Decided are averages over the fits that leave an example out: of no fit they are NaN.
type Decided struct {
	Resamples int
	Left      TestError   // of the zero-one loss
	Share     [][]float64 // share of the decisions for each class, by class and example
	// Disagreement is the probability that two of the fits decide differently.
	Disagreement []float64
	// Mean is the mean of the score of each class, and Square the one of its squared distance from +1 for the
	// examples of the class, and from -1 for others.
	Mean, Square [][]float64
	Warnings     []string
}

// Average averages over all fits of the plan that were added. Weights of the examples count in errors; nil
// stands for 1.
func (j *Joint) Average(plan resample.Plan, weights []float64) *Decided {
	n, classes := len(j.Of), j.Classes()
	ones := make([]float64, n) // an example is right if its margin is above 0
	for i := range ones {
		ones[i] = 1
	}
	estimator := newPlain(&Problem{Y: ones, Weights: weights, Plan: plan, Sites: n},
		[]loss.Test{loss.ZeroOne{}})
	d, count := &Decided{Resamples: len(j.fields)}, make([]float64, n)
	for _, lists := range []*[][]float64{&d.Share, &d.Mean, &d.Square} {
		for range classes {
			*lists = append(*lists, make([]float64, n))
		}
	}
	weight, margin, scores := make([]float64, n), make([]float64, n), make([]float64, classes)
	for r, fields := range j.fields {
		plan.Fit(r, weight)
		first, end := resample.Tested(plan, r, n)
		f := make([]float64, len(fields))
		for i, own := range j.Of {
			for k := range fields {
				f[k] = float64(fields[k][i])
			}
			j.Scores(scores, f)
			margin[i] = scores[own] - largestOther(scores, own)
			if weight[i] != 0 || i < first || i >= end {
				continue
			}
			count[i]++
			d.Share[floats.MaxIdx(scores)][i]++
			for k, v := range scores {
				sign := -1.0
				if k == own {
					sign = 1
				}
				d.Mean[k][i] += v
				d.Square[k][i] += (v - sign) * (v - sign)
			}
		}
		estimator.Add(r, weight, margin)
	}
	for _, lists := range [][][]float64{d.Share, d.Mean, d.Square} {
		for _, list := range lists {
			floats.Div(list, count)
		}
	}
	for i, c := range count {
		same := 0.0
		for k := range d.Share {
			same += d.Share[k][i] * d.Share[k][i]
		}
		different := math.NaN()
		if c > 1 {
			different = (1 - same) * c / (c - 1)
		}
		d.Disagreement = append(d.Disagreement, different)
	}
	r := estimator.Averages()
	d.Left, d.Warnings = r.Tests[0], r.Warnings
	return d
}

// largestOther is the largest score of another class than the own one.
func largestOther(scores []float64, own int) float64 {
	largest := math.Inf(-1)
	for k, v := range scores {
		if k != own {
			largest = math.Max(largest, v)
		}
	}
	return largest
}
