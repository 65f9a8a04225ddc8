package calibration

import (
	"math"

	"bootbench/internal/null"
)

// Reliability says how the probabilities of the label +1 are made, and how they hold for
// examples that had no part in them.
type Reliability struct {
	Method  string      `json:"method"` // "posterior", "logistic" or "constant"
	LogLoss *null.Float `json:"log_loss,omitempty"`
	Brier   *null.Float `json:"brier,omitempty"`
	// Bins of equal width of the left-out probabilities that hold any: their mean, the share
	// of +1 and the number of examples.
	Predicted null.Floats `json:"predicted,omitempty"`
	Observed  null.Floats `json:"observed,omitempty"`
	Count     []int       `json:"count,omitempty"`
}

// reliabilityBins is the number of bins between 0 and 1.
const reliabilityBins = 10

// NewReliability judges left-out probabilities by labels -1, +1, with weights, nil for 1; nil probabilities
// are not known.
func NewReliability(method string, leftOut, label, weights []float64) *Reliability {
	c := &Reliability{Method: method}
	if leftOut == nil {
		return c
	}
	s := Judge(leftOut, label, weights)
	c.LogLoss, c.Brier = null.Of(s.LogLoss), null.Of(s.Brier)
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
