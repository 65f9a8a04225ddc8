package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
)

// Figures show the error against the ratio.
func (c *Curve) Figures() []*Figure {
	left := Series{Label: "left-out", Mark: Joined}
	plus := Series{Label: ".632+", Mark: Joined, Colour: 1}
	refined := Series{Label: "refined, two standard errors", Mark: Dots, Colour: 2}
	for _, e := range c.Results {
		left.Add(e.Ratio, float64(e.TestError))
		if e.Is632Applicable {
			plus.Add(e.Ratio, float64(e.Err632Plus))
		}
		if e.Refined != nil {
			refined.AddErr(e.Ratio, float64(e.Refined.TestError), 2*float64(e.Refined.SE))
		}
	}
	ratios := Axis{Label: "ratio S/N", Log: true}
	if len(left.X) > 0 {
		ratios.Min, ratios.Max = slices.Min(left.X), slices.Max(left.X)
	}
	return []*Figure{NewFigure("curve-"+fileName(c.Data),
		ShortName(c.Data)+": error against the size of resamples",
		"Left-out and .632+ error of training sets of S = ratio x n examples, by theory and exact resamples.",
		ratios, Axis{Label: "error"}, left, plus, refined)}
}

// PointFigures show the values per example: the spread of the predictor over
// resamples against its mean, and the left-out errors in rising order.
func PointFigures(name string, p *Points) []*Figure {
	if p == nil || len(p.Mean) == 0 {
		return nil
	}
	spread := Series{Mark: Dots}
	for i, m := range p.Mean {
		spread.Add(m, math.Sqrt(p.Variance[i]))
	}
	figures := []*Figure{NewFigure(name+"-spread", "spread of the predictor over resamples",
		"Standard deviation over resamples of the prediction at every example, against its mean.",
		Axis{Label: "mean prediction"}, Axis{Label: "standard deviation"}, spread)}
	if len(p.Target) > 0 && len(p.OOBMean) > 0 && p.OOBVote == nil {
		figures = append([]*Figure{targetFigure(name, p)}, figures...)
	}
	if len(p.Error) == 0 {
		return figures
	}
	sorted := slices.Clone(p.Error)
	slices.Sort(sorted)
	errors := Series{Mark: Line}
	for i, e := range sorted {
		errors.Add(100*(float64(i)+0.5)/float64(len(sorted)), e)
	}
	return append(figures, NewFigure(name+"-errors", "errors of the examples",
		"Expected loss of every example over the resamples that leave it out, in rising order.",
		Axis{Label: "share of the examples, %", Max: 100}, Axis{Label: "left-out loss"}, errors))
}

// PredictionFigure shows mean and interval at the new inputs, in rising order of the mean;
// none without inputs.
func PredictionFigure(p *Points, interval Interval) []*Figure {
	if len(p.Mean) == 0 {
		return nil
	}
	of := "the resamples"
	if interval.Interval == "observation" {
		of = "new observations"
	}
	mean := Series{Mark: Dots, Label: "mean"}
	target := Series{Label: "target", Mark: Triangles, Colour: 1}
	low := Series{Mark: Line, Colour: 2, Label: fmt.Sprintf("%.3g%% of %s", 100*interval.Level, of)}
	high := Series{Mark: Line, Colour: 2}
	order := make([]int, len(p.Mean))
	floats.ArgsortStable(slices.Clone(p.Mean), order)
	for at, i := range order {
		x := float64(at + 1)
		mean.Add(x, p.Mean[i])
		low.Add(x, p.Lower[i])
		high.Add(x, p.Upper[i])
		if i < len(p.Target) {
			target.Add(x, p.Target[i])
		}
	}
	return []*Figure{NewFigure("predict", "predictions at new inputs",
		"Mean prediction over resamples in rising order, and the interval of "+of+".",
		Axis{Label: "new input, by mean prediction"}, Axis{Label: "prediction"}, mean, target, low, high)}
}

// ReliabilityFigure shows the observed shares of the label +1 against the probabilities;
// none where these are not known.
func ReliabilityFigure(c *calibration.Reliability) []*Figure {
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
		equality("as stated", 0, 1))}
}

// ROCFigure shows the shares of both labels that mean predictions above a threshold hold; none
// for one class.
func ROCFigure(mean, label []float64) []*Figure {
	x, y, area := calibration.ROC(mean, label)
	if x == nil {
		return nil
	}
	return []*Figure{NewFigure("roc", fmt.Sprintf("receiver operating characteristic: area %.3f", area),
		"Of the examples of either label, the share whose left-out mean prediction is above a threshold.",
		Axis{Label: "share of -1 above", Max: 1}, Axis{Label: "share of +1 above", Max: 1},
		Series{Mark: Line, X: x, Y: y}, equality("", 0, 1))}
}

// targetFigure sets the left-out predictions of a regression against the targets.
func targetFigure(name string, p *Points) *Figure {
	at := Series{Label: "example, with two standard deviations over resamples", Mark: Dots}
	for i, y := range p.Target {
		at.AddErr(y, p.OOBMean[i], 2*math.Sqrt(p.Variance[i]))
	}
	if len(p.Target) > manyPoints {
		at.Label, at.Err = "example", nil
	}
	return NewFigure(name+"-target", "left-out prediction against target",
		"Mean prediction of every example over the resamples that leave it out, against its target; the "+
			"line is where they are equal.",
		Axis{Label: "target"}, Axis{Label: "left-out prediction"}, at,
		equality("equal", slices.Min(p.Target), slices.Max(p.Target)))
}
