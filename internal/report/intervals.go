package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
)

// Colours of the rows of an interval figure: the answer, numbers beside it, and what needs no model.
const answerRow, besideRow, constantRow = 0, 6, 1

// row is the error with its interval, or with two standard errors to each side.
func (q *Quote) row(label string, u units, colour int) IntervalRow {
	r := IntervalRow{label, u.shown(q.Error), unknown, unknown, u.text(q.Error), colour}
	switch half := 2 * u.shownSE(q.Error, q.ErrorSE); {
	case q.Lower != nil || q.Upper != nil:
		r.Text += " (" + q.plusMinus(u) + ")"
		r.Lower, r.Upper = u.shown(*cmp.Or(q.Lower, &q.Error)), u.shown(*cmp.Or(q.Upper, &q.Error))
	case half == half:
		r.Text += " +- " + q.plusMinus(u)
		r.Lower, r.Upper = max(0, r.Value-half), r.Value+half
	}
	return r
}

// plain is an error without a standard error.
func plain(e Number) *Quote { return &Quote{Error: e, ErrorSE: unknown} }

// over is the error as a part of another one.
func (q *Quote) over(whole Number) *Quote {
	part := func(v *Number) *Number {
		return either(v == nil, nil, NumberOf(float64(*cmp.Or(v, &unknown)/whole)))
	}
	return &Quote{Error: q.Error / whole, ErrorSE: q.ErrorSE / whole, Lower: part(q.Lower),
		Upper: part(q.Upper)}
}

// intervals show the quoted error beside the other errors of the answer, those of its classes or targets, and
// the error of a constant.
func (a *Answer) intervals() []*Figure {
	if a.Quote == nil || a.Error != a.Error {
		return nil
	}
	u, axis, rows := units(a.TestLoss), "error, "+units(a.TestLoss).String(), []IntervalRow(nil)
	if a.Names != nil {
		u, axis = shares, "share of the variance that is not explained"
	}
	beside := func(label string, e *Number) { // intervalFigure leaves unknown ones out
		rows = append(rows, plain(*cmp.Or(e, &unknown)).row(label, u, besideRow))
	}
	within, t, r := "two standard errors", a.Trained, cmp.Or(a.Refined, &Refined{})
	refined := cmp.Or(r.RefinedErrors, &RefinedErrors{Err632: unknown, Err632Plus: unknown,
		BaggedError: unknown})
	if t == nil {
		rows = append(rows, a.Quote.row("left out", u, answerRow))
	} else {
		within = fmt.Sprintf("a %.3g%% interval", 100*t.ErrorLevel)
		rows = append(rows, a.Quote.row("model of all rows", u, answerRow))
		beside("without the correction", t.Uncorrected)
		if o := t.OfResamples; o != nil && o.LeftOutError != a.Error {
			rows = append(rows, (&Quote{Error: o.LeftOutError, ErrorSE: o.LeftOutErrorSE}).row("left out", u,
				besideRow))
		}
	}
	if c := a.Convergence; c != nil && c.Engine != "" && a.Refined != nil {
		beside("left out, theory", a.TestError)
	}
	if e := a.Errors; e != nil {
		if a.Is632Applicable {
			beside(".632", knownOf(&refined.Err632, &e.Err632))
			beside(".632+", knownOf(&refined.Err632Plus, &e.Err632Plus))
		}
		beside("bagged", knownOf(&refined.BaggedError, a.BaggedError))
		beside("apparent", &e.Apparent)
	}
	if c := a.Decisions; c != nil {
		for _, one := range c.Each {
			beside(fmt.Sprintf("%s (%d rows)", one.Class, one.Examples), &one.Error)
		}
	}
	for _, name := range a.Names {
		if e := a.Targets[name]; e.Quality != nil {
			rows = append(rows, e.Quote.over(e.Quality.Baseline).row(name, u, besideRow))
		}
	}
	if q := a.Quality; q != nil {
		beside("always "+q.Constant, &q.Baseline)
		rows[len(rows)-1].Colour = constantRow
	}
	return intervalFigure("intervals", "errors and their intervals", "The error to quote, first, with "+
		within+", beside other errors, with two standard errors where they are known. The triangle, or "+
		"an arrow if it is beyond the axis, is the best constant prediction.", axis, rows)
}

// intervals show the error of the model of all rows beside others; none without it.
func (h *Headline) intervals(u units, others ...IntervalRow) []*Figure {
	if h == nil || h.Targets != nil {
		return nil
	}
	rows := []IntervalRow{h.Quote.row("model of all rows", u, answerRow),
		plain(*cmp.Or(h.Uncorrected, &unknown)).row("without the correction", u, besideRow)}
	return intervalFigure("intervals", "errors and their intervals", fmt.Sprintf("The error to quote, "+
		"first, with a %.3g%% interval, beside other errors, with two standard errors where they are known.",
		100*h.ErrorLevel), "error, "+u.String(), append(rows, others...))
}

// knownOf is the first of two numbers unless it is unknown.
func knownOf(first, second *Number) *Number { return either(*first == *first, first, second) }

func (r *Columns) intervals() []*Figure {
	const most = 30
	rows, u := []IntervalRow{}, units(r.TestLoss)
	for i := range r.Columns[:min(most, len(r.Columns))] {
		c := &r.Columns[i]
		w := c.Without
		rows = append(rows, IntervalRow{c.Column, r.without(w.Value), r.without(w.Low), r.without(w.High),
			fmt.Sprintf("%s (%s to %s)", r.shown(w.Value), r.shown(w.Low), r.shown(w.High)),
			either(c.importance() == "matters", answerRow, besideRow)})
	}
	all := IntervalRow{"all columns", r.without(0), unknown, unknown, r.shown(0), constantRow}
	return intervalFigure("columns-without", "error without each column", fmt.Sprintf("The error of the "+
		"model trained without a column, with the %.3g%% interval of the paired difference from the model "+
		"of all columns, the triangle. Columns with a filled symbol matter.", 100*r.ErrorLevel), "error, "+
		either(r.Measured != nil, "by the measure", u.String()), append([]IntervalRow{all}, rows...))
}

func (c *ModelComparison) intervals() []*Figure {
	var models, differences []IntervalRow
	axis := ""
	for i, m := range c.Models {
		u := units(m.TestLoss)
		q := plain(m.TestError)
		if m.Headline != nil {
			q = m.Headline.Quote
		}
		axis, models = "error, "+u.String(), append(models, q.row(m.Model, u, i))
	}
	for k, p := range []*Difference{c.Trained, c.Theory, c.Refined} {
		if p != nil {
			differences = append(differences, IntervalRow{
				[]string{"trained on all rows", "left out, theory", "left out, refined"}[k], p.Value, p.Low,
				p.High, fmt.Sprintf("%s (%s to %s)", digits(p.Value, 3), digits(p.Low, 3), digits(p.High, 3)),
				either(k == 0, answerRow, besideRow)})
		}
	}
	within := fmt.Sprintf("%.3g%% intervals", 100*c.Level)
	return append(intervalFigure("models", "errors of both models", "The errors of models trained on all "+
		"rows.", axis, models), intervalFigure("difference", "first model minus second", "Paired "+
		"differences of the mean losses, with "+within+"; where an interval holds 0, the rows cannot tell "+
		"which model is better.", "difference of the mean losses", differences)...)
}

// learningFigure shows errors, with their series, against the numbers of rows, and what is expected with
// twice the rows.
func learningFigure(name, title, caption string, errors Series, g *Growth, u units) []*Figure {
	if len(errors.X) == 0 {
		return nil
	}
	axis, all := Axis{Label: "rows", Log: true}, []Series{errors}
	if g != nil {
		then := Series{Label: fmt.Sprintf("expected with %d rows", g.Rows), Mark: Dots, Colour: 1}
		then.AddErr(float64(g.Rows), float64(u.shown(g.Then)), 2*float64(u.shownSE(g.Then, g.FallSE)))
		all = append(all, then)
	}
	for _, s := range all {
		for _, x := range s.X {
			axis.Ticks = append(axis.Ticks, Tick{x, strconv.FormatFloat(math.Round(x), 'f', 0, 64)})
		}
	}
	return []*Figure{NewFigure(name, title, caption, axis, Axis{Label: "error, " + u.String()}, all...)}
}

func (a *Answer) learning() []*Figure {
	c, u := a.LearningCurve, units(a.TestLoss)
	if c == nil {
		return nil
	}
	errors := Series{Label: "models of a part of the sample", Mark: Joined}
	for i, n := range c.Sizes {
		errors.Add(float64(n), float64(u.shown(Number(c.Errors[i]))))
	}
	return learningFigure("learning-curve", "learning curve", fmt.Sprintf("Errors at %d rows outside the "+
		"sample, and what is expected with more, with two standard errors of the fall.", c.HeldOut), errors,
		c.Growth, u)
}

// reliability shows the calibration of the probabilities: of the class that they are of, or of each of
// several classes.
func (a *Answer) reliability() (figures []*Figure) {
	const most = 12
	c := a.Calibration
	if r := a.Refined; r != nil && r.Calibration != nil && r.Calibration.LogLoss != nil {
		c = r.Calibration
	}
	figures = reliabilityFigure(c, "reliability", cmp.Or(a.Positive, "+1"))
	if d := a.Decisions; d != nil {
		for _, one := range d.Each[:min(most, len(d.Each))] {
			figures = append(figures, reliabilityFigure(one.Calibration, "reliability-"+fileName(one.Class),
				one.Class)...)
		}
	}
	return figures
}
