package report

import (
	"math"

	"bootbench/calibration"
	"bootbench/internal/null"
)

// Calibration says how the probabilities of the label +1 are made, and how they hold for
// examples that had no part in them.
type Calibration struct {
	Method  string      `json:"method"` // "posterior", "logistic", "isotonic" or "constant"
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

// NewCalibration judges left-out probabilities by labels -1, +1; nil ones are not known.
func NewCalibration(method string, leftOut, label []float64) *Calibration {
	c := &Calibration{Method: method}
	if leftOut == nil {
		return c
	}
	s := calibration.Judge(leftOut, label)
	c.LogLoss, c.Brier = null.Of(s.LogLoss), null.Of(s.Brier)
	var sum, positive [reliabilityBins]float64
	var count [reliabilityBins]int
	for i, p := range leftOut {
		bin := min(int(p*reliabilityBins), reliabilityBins-1)
		sum[bin] += p
		count[bin]++
		positive[bin] += (1 + math.Copysign(1, label[i])) / 2
	}
	for bin, n := range count {
		if n > 0 {
			c.Predicted, c.Observed, c.Count = append(c.Predicted, sum[bin]/float64(n)),
				append(c.Observed, positive[bin]/float64(n)), append(c.Count, n)
		}
	}
	return c
}

// calibration prints how probabilities are made.
func (d *document) calibration(label string, c *Calibration) {
	if c == nil {
		return
	}
	held := ""
	if c.LogLoss != nil {
		held = "; left out: log loss " + number(*c.LogLoss) + ", Brier score " + number(*c.Brier)
	}
	by := "the left-out fields on a curve, " + c.Method
	if c.Method == "posterior" {
		by = "the classifier's posterior"
	}
	d.line(label, "by %s%s", by, held)
}

// ReliabilityFigure shows the observed shares of the label +1 against the probabilities;
// none where these are not known.
func ReliabilityFigure(c *Calibration) []*Figure {
	if c == nil || c.LogLoss == nil {
		return nil
	}
	shares := Series{Label: "left-out examples", Mark: Joined}
	for i, p := range c.Predicted {
		o, n := c.Observed[i], float64(c.Count[i])
		shares.AddErr(p, o, math.Sqrt(p*(1-p)/n)) // of a binomial share, were p right
	}
	return []*Figure{NewFigure("reliability", "reliability of the probabilities",
		"Share of the label +1 among left-out examples of about that probability, with its standard "+
			"error; on the diagonal they are right.",
		Axis{Label: "probability of +1", Max: 1}, Axis{Label: "share of +1", Max: 1}, shares,
		Diagonal("as stated"))}
}
