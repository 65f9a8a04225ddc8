package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bootbench/internal/null"
	"bootbench/loss"
)

// FullModel is the expected error of the model that is trained on all examples, by cross-validation.
type FullModel struct {
	Error   null.Float `json:"error"`
	ErrorSE null.Float `json:"error_se"` // over examples
	Folds   int        `json:"folds"`
	Repeats int        `json:"repeats"`
	// AsChosen is the error with the model that was chosen of all examples, if Error is of models that are
	// chosen without each fold.
	AsChosen *null.Float `json:"as_chosen,omitempty"`
}

// LearningCurve is the error of models trained on so many rows of a sample, at rows outside of it, by which
// an estimate says what to expect of all rows.
type LearningCurve struct {
	Sizes   []int       `json:"sizes"`
	Errors  null.Floats `json:"errors"`
	HeldOut int         `json:"held_out"` // rows
}

// sample says what of the data an estimate has seen, and what all of it would cost.
func (d *document) sample(e *Estimate) {
	if e.Sample == 0 {
		return
	}
	cost := ""
	if e.Time.AllRows > 0 {
		cost = ", which takes at most about " + duration(e.Time.AllRows)
	}
	d.line("sample", "%d of %d rows, drawn at random; --sample all takes all of them%s", e.Sample, e.RowsTotal,
		cost)
	if c := e.LearningCurve; c != nil {
		text := ""
		for i, n := range c.Sizes {
			text += fmt.Sprintf("%s with %d rows, ", units(e.TestLoss).text(null.Float(c.Errors[i])), n)
		}
		d.line("learning curve", "%sat %d other rows; continued to %d rows it gives the error", text, c.HeldOut,
			e.RowsTotal)
	}
}

// duration is a time in whole seconds.
func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(time.Second).String()
}

// Brief is an estimate in a few lines for the person who asks: what to expect of new rows, how much of it is
// skill, which rows are worst, how stable predictions are, and how to repeat it.
type Brief struct{ *Estimate }

func (b Brief) document() *document {
	e, d := b.Estimate, short("Error on new rows of", b.Subject, b.asked())
	headline := b.headline()
	if d.lead = headline + "."; !units(e.TestLoss).share() {
		d.lead = fmt.Sprintf("The error of predictions of %s is %s.", cmp.Or(e.Target, "y"), headline)
	}
	if e.Error == e.Error {
		d.line("error", "%s", headline)
	} else {
		d.lead = "Predictions without an error: no row was left out."
	}
	d.sample(e)
	if q := e.Quality; q != nil && q.RSquared != nil {
		d.line("explained", "%.1f%% of the variance", 100**q.RSquared)
	} else if q != nil && q.Balanced != nil {
		d.line("balanced error", "%s, the mean over the classes", share(*q.Balanced))
	}
	if f := e.FullModel; f != nil {
		how := fmt.Sprintf("%d times", f.Repeats)
		if f.AsChosen != nil {
			how = fmt.Sprintf("a model chosen without each; %s with this one, which has seen them",
				units(b.TestLoss).text(*f.AsChosen))
		}
		d.line("all rows", "%s expected of the model trained on all rows (%d folds, %s)",
			units(b.TestLoss).withSE(f.Error, f.ErrorSE), f.Folds, how)
	}
	if e.Points != nil {
		if e.Points.Error != nil {
			d.line("worst rows", "%s", b.worst(3))
		}
		d.line("stability", "%s", b.stability())
	}
	d.modelled(e.Subject)
	if e.Time.Theory > 0 {
		d.line("method", "exact resamples alone; --method theory solves the theory, too, in about %s",
			duration(e.Time.Theory))
	}
	if e.Status != "converged" && e.Status != Contradicted && e.Status != "complete" {
		d.line("status", "%s", e.Status)
	}
	return d
}

// headline is the quoted error beside that of a constant. Its standard error is over data sets of this size,
// and over resamples.
func (b Brief) headline() string {
	q := b.Quality
	if q == nil {
		return b.Quote.String()
	}
	se := float64(q.ExampleSE)
	switch {
	case b.LearningCurve != nil: // which counts the rows
		se = float64(*b.ErrorSE)
	case b.ErrorSE != nil && !math.IsNaN(float64(*b.ErrorSE)):
		se = math.Hypot(se, float64(*b.ErrorSE))
	}
	text := units(b.TestLoss).withSE(b.Error, null.Float(se))
	if b.TestLoss == (loss.ZeroOne{}).Name() {
		return fmt.Sprintf("%s of new rows get the wrong label; %s if all are taken for %s", text,
			share(q.Baseline), q.Constant)
	}
	return fmt.Sprintf("%s on new rows; %s if all are predicted %s", text, units(b.TestLoss).text(q.Baseline),
		q.Constant)
}

func share(e null.Float) string { return fmt.Sprintf("%.1f%%", math.Max(0, 100*float64(e))) }

// worst names the rows with the largest left-out errors.
func (b Brief) worst(count int) string {
	w := Worst{Points: b.Points, Labels: b.Labels}
	var names []string
	for _, i := range w.order(count) {
		p := b.Points
		target, predicted := digits(p.Target[i], 4), ""
		if b.Positive != "" {
			target = w.Labels.Name(p.Target[i])
			predicted = fmt.Sprintf(", predicted %s in %.0f%%", w.Labels.Name(-p.Target[i]), 100*p.Error[i])
		} else if p.OOBMean != nil {
			predicted = ", predicted " + digits(p.OOBMean[i], 4)
		}
		names = append(names, fmt.Sprintf("%s (%s%s)", p.name(i), target, predicted))
	}
	return strings.Join(names, ", ")
}

// stability is the median over the examples of the predictor's standard deviation over resamples, or for
// labels of the share of resamples that disagree with the majority.
func (b Brief) stability() string {
	if b.Points.Vote != nil {
		disagree := 0.0
		for _, v := range b.Points.Vote {
			disagree += math.Min(v, 1-v) / float64(len(b.Points.Vote))
		}
		return fmt.Sprintf("with other rows drawn, %s of the labels change", share(null.Float(disagree)))
	}
	sorted := slices.Sorted(slices.Values(b.Points.Variance))
	return fmt.Sprintf("with other rows drawn, a prediction changes by %s (standard deviation)",
		digits(math.Sqrt(quantile(sorted, 0.5)), 3))
}
