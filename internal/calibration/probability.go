package calibration

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/report"
)

// Logistic maps the field of a classifier, the real number whose sign is its class, to the probability of the
// label +1: 1/(1 + exp(-(Slope field + Offset))), Slope >= 0. With slope 0 it is constant.
type Logistic struct{ Slope, Offset float64 }

// Name is "logistic", or "constant" for slope 0.
func (l Logistic) Name() string {
	if l.Slope == 0 {
		return "constant"
	}
	return "logistic"
}

// Probability is the curve at a field.
func (l Logistic) Probability(field float64) float64 {
	return 1 / (1 + math.Exp(-l.Slope*field-l.Offset))
}

// ErrOneClass: probabilities need two classes.
var ErrOneClass = errors.New("probabilities of classes need examples of both")

// targets are Platt's smoothed probabilities of the labels: (N+ + 1)/(N+ + 2) for positive examples, 1/(N- +
// 2) for negative ones, with N+ and N- the sums of their weights. They keep a curve through separated classes
// finite.
func targets(label, weights []float64) ([]float64, error) {
	_, count := byLabel(label, label, weights)
	if count[0] == 0 || count[1] == 0 {
		return nil, ErrOneClass
	}
	t := make([]float64, len(label))
	for i, y := range label {
		t[i] = [2]float64{1 / (count[0] + 2), (count[1] + 1) / (count[1] + 2)}[class(y)]
	}
	return t, nil
}

func class(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// FitLogistic fits the logistic curve to fields and labels -1, +1 by the least log loss on Platt's targets
// (Platt 1999), with weights of the examples, nil for 1. Negatively correlated or constant fields give the
// constant curve of the fraction of positive labels.
func FitLogistic(field, label, weights []float64) (Logistic, error) {
	t, err := targets(label, weights)
	if err != nil {
		return Logistic{}, err
	}
	mean := stat.Mean(t, weights)
	share := Logistic{0, math.Log(mean / (1 - mean))}
	center, scale := stat.PopMeanStdDev(field, weights)
	if !(scale > 0) {
		return share, nil
	}
	z := slices.Clone(field)
	floats.AddConst(-center, z)
	floats.Scale(1/scale, z)
	best := minimize(share, z, t, weights)
	if !(best.Slope > 0) {
		return share, nil
	}
	return Logistic{Slope: best.Slope / scale, Offset: best.Offset - best.Slope*center/scale}, nil
}

// minimize finds the least mean log loss of a logistic curve, which is convex, by Newton's method from l.
func minimize(l Logistic, z, t, weights []float64) Logistic {
	curve := func(x []float64) Logistic { return Logistic{x[0], x[1]} }
	total := float64(len(z))
	if weights != nil {
		total = floats.Sum(weights)
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return curve(x).crossEntropy(z, t, weights) / total },
		Grad: func(g, x []float64) {
			clear(g)
			for i, v := range z {
				miss := WeightOf(weights, i) / total * (curve(x).Probability(v) - t[i])
				g[0], g[1] = g[0]+miss*v, g[1]+miss
			}
		},
		Hess: func(h *mat.SymDense, x []float64) {
			var square, product, sum float64
			for i, v := range z {
				p := curve(x).Probability(v)
				w := WeightOf(weights, i) / total * p * (1 - p)
				square, product, sum = square+w*v*v, product+w*v, sum+w
			}
			h.CopySym(mat.NewSymDense(2, []float64{square, product, product, sum}))
		},
	}
	settings := &optimize.Settings{GradientThreshold: 1e-9, MajorIterations: 100}
	r, _ := optimize.Minimize(problem, []float64{l.Slope, l.Offset}, settings, &optimize.Newton{})
	return curve(r.X) // whatever ended it
}

func (l Logistic) crossEntropy(z, t, weights []float64) (sum float64) {
	for i, v := range z {
		a := l.Slope*v + l.Offset
		sum += WeightOf(weights, i) * (math.Max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))) - t[i]*a)
	}
	return sum
}

// Judge scores probabilities of the label +1: the log loss is the mean of -log of the label's probability,
// the Brier score the mean square of the other label's probability. Nil weights are 1.
func Judge(probability, label, weights []float64) (logLoss, brier float64) {
	logs, squares := make([]float64, len(label)), make([]float64, len(label))
	for i, p := range probability {
		if label[i] <= 0 {
			p = 1 - p
		}
		logs[i], squares[i] = -math.Log(p), (1-p)*(1-p)
	}
	return stat.Mean(logs, weights), stat.Mean(squares, weights)
}

const folds = 10

// CrossFit is the probability of each left-out example by the logistic curve fitted to the other folds, which
// are spread over the fields, and of a class of at most as many examples over these. Folds within both
// classes would all have the same majority, which the probabilities then know. It is nil for a class of one
// example. (Isotonic curves were worse on nine of ten sets, and so was choosing between the two by
// cross-fitting: doc/decisions.)
func CrossFit(field, label, weights []float64) []float64 {
	order := make([]int, len(field))
	floats.ArgsortStable(slices.Clone(field), order)
	var examples [2]int
	for _, y := range label {
		examples[class(y)]++
	}
	if min(examples[0], examples[1]) < 2 {
		return nil
	}
	fold, placed := make([]int, len(field)), [3]int{}
	for _, i := range order {
		at := &placed[2] // classes of many examples together
		if c := class(label[i]); examples[c] <= folds {
			at = &placed[c]
		}
		fold[i] = *at % folds
		*at++
	}
	out, kept := make([]float64, len(field)), make([]float64, len(field))
	for k := range folds {
		for i := range kept {
			if kept[i] = WeightOf(weights, i); fold[i] == k {
				kept[i] = 0
			}
		}
		curve, _ := FitLogistic(field, label, kept) // which has examples of both classes
		for i, v := range field {
			if fold[i] == k {
				out[i] = curve.Probability(v)
			}
		}
	}
	return out
}

const reliabilityBins = 10

// NewReliability compares left-out probabilities, nil if unknown, with labels; nil weights are 1.
func NewReliability(method string, leftOut, label, weights []float64) *report.Reliability {
	c := &report.Reliability{Method: method}
	if leftOut == nil {
		return c
	}
	logLoss, brier := Judge(leftOut, label, weights)
	c.LogLoss, c.Brier = report.NumberOf(logLoss), report.NumberOf(brier)
	var sum, positive, total [reliabilityBins]float64
	var count [reliabilityBins]int
	for i, p := range leftOut {
		bin := min(int(p*reliabilityBins), reliabilityBins-1)
		w := WeightOf(weights, i)
		sum[bin] += w * p
		count[bin]++
		total[bin] += w
		positive[bin] += w * (1 + math.Copysign(1, label[i])) / 2
	}
	for bin, n := range count {
		if n > 0 {
			c.Predicted, c.Observed, c.Count = append(c.Predicted, sum[bin]/total[bin]),
				append(c.Observed, positive[bin]/total[bin]), append(c.Count, n)
		}
	}
	return c
}
