package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Curve is the answer of curve.
type Curve struct {
	Command string `json:"command"`
	Subject
	Scheme   string   `json:"-"`      // of resampling, of every result
	TestLoss string   `json:"-"`      // of every result
	Grows    bool     `json:"-"`      // over numbers of rows, about the use of more
	Status   string   `json:"status"` // "complete" or "cancelled"
	Results  []Answer `json:"results"`
	// Headline is the error of the model of all rows, which has chosen it; nil: unknown.
	*Headline
	// Growth predicts the error with twice the rows; nil: not requested, or unknown.
	Growth *Growth `json:"growth,omitempty"`
	Outcome
}

func (c *Curve) document(full bool) *document {
	u := units(c.TestLoss)
	d := about("Learning curve on", c.Subject)
	d.Lead = fmt.Sprintf("The left-out error (%s) against the size of resamples, at %d ratios.", u,
		len(c.Results))
	d.headline(c.Headline, u)
	heads, cells := append([]head{"ratio", "S", "distinct"}, estimateHeads...), Answer.cellsOfRatio
	if c.Grows {
		if g := c.Growth; g != nil {
			d.Lead = fmt.Sprintf("More rows %s. The error (%s) is %s.", g.helps(), u, g.text(u))
			d.growth(g, u)
		} else if c.Status == "complete" {
			d.line("more rows", "unknown: it takes 20 rows, and exact subsamples that leave out each of them")
		}
		heads, cells = []head{"rows", "error", "+-", "<status"}, Answer.cellsOfSize
	}
	d.model(c.Subject, nil)
	n := len(c.Kernel.LengthScale)
	d.line("errors", "%s of left-out rows; +- is the standard error%s%s", u,
		either(c.Grows, ", over rows and over subsamples without replacement", " of refined"),
		either(n > 1 && c.ChosenBy != "", fmt.Sprintf("; too low, as these rows chose %d length scales, too",
			n), ""))
	if !c.Grows {
		d.line("resampling", "%s: S rows are drawn of %d, so many distinct ones on average", c.Scheme, c.N)
		d.line(estimates[0], "%s", estimates[1])
	}
	d.table(known(heads, each(c.Results, cells)))
	return d.withCost(full, c.Cost)
}

// cellsOfRatio are the cells of an estimate on a curve over ratios.
func (a Answer) cellsOfRatio() []string {
	return append([]string{number(a.Ratio), number(a.Ratio * float64(a.N)), fmt.Sprintf("%.1f", a.Distinct)},
		a.cells()...)
}

// cellsOfSize are the cells of an estimate on a curve over sizes, which does not show the theory.
func (a Answer) cellsOfSize() []string {
	u := units(a.TestLoss)
	return []string{fmt.Sprint(math.Round(a.Ratio * float64(a.N))), u.text(a.Error), a.plusMinus(u),
		unfinished(a.Status)}
}

// estimateHeads are the heads of an estimate's cells in a row.
var estimateHeads = []head{"theory", "refined", "+-", ".632", ".632+", "<status"}

// estimates explains these heads.
var estimates = [2]string{"theory, refined", "left-out errors without retraining, and by exact resamples"}

func (a *Answer) cells() []string {
	u, refined, se := units(a.TestLoss), "-", "-"
	error, around := cmp.Or(a.TestError, &unknown),
		cmp.Or(a.Errors, &Errors{Err632: unknown, Err632Plus: unknown})
	e632, plus := around.Err632, around.Err632Plus
	if r := a.Refined; r != nil {
		refined, se = u.text(r.TestError), a.plusMinus(u)
		if *error != *error { // no theory
			e632, plus = r.Err632, r.Err632Plus
		}
	}
	known := func(v Number) string { return either(v == v, u.text(v), "-") }
	suits := func(v Number) string { return either(a.Is632Applicable, known(v), "-") }
	return []string{known(*error), refined, se, suits(e632), suits(plus),
		either(a.Status == Contradicted, a.Status, unfinished(a.Status))}
}

// curveColumns are the columns of a curve as CSV, without the points.
const curveColumns = `ratio distinct test_loss test_error apparent_error no_information_error err632
	err632plus method status engine residual sweeps refreshes_exact refreshes_single refreshes_woodbury
	refreshes_diagonal rank rank_residual rank_largest rank_error solve_s=time_solve
	refined=refined_test_error refined_se=refined_standard_error`

func (c *Curve) fill(s *Sheet, _ bool) {
	s.Cost, s.CSV, s.Figures = &c.Cost, "curve.csv", c.figures()
	s.Table = TableOf(c.Results, strings.Fields(curveColumns)...)
	for i := range c.Results {
		s.addParts(&c.Results[i])
	}
}

func (c *Curve) figures() []*Figure {
	if c.Grows {
		return c.growing()
	}
	left := Series{Label: "left-out", Mark: Joined}
	plus := Series{Label: ".632+", Mark: Joined, Colour: 1}
	refined := Series{Label: "refined, two standard errors", Mark: Dots, Colour: 2}
	u := units(c.TestLoss)
	for _, e := range c.Results {
		left.Add(e.Ratio, float64(u.shown(*cmp.Or(e.TestError, &unknown))))
		if e.Is632Applicable && e.Errors != nil {
			plus.Add(e.Ratio, float64(u.shown(e.Err632Plus)))
		}
		if e.Refined != nil {
			refined.AddErr(e.Ratio, float64(u.shown(e.Error)), 2*float64(u.shownSE(e.Error, e.ErrorSE)))
		}
	}
	ratios := Axis{Label: "ratio S/N", Log: true}
	if len(left.X) > 0 {
		ratios.Min, ratios.Max = slices.Min(left.X), slices.Max(left.X)
	}
	return []*Figure{NewFigure("curve-"+fileName(c.Data),
		"error against the size of resamples",
		"Left-out and .632+ error of training sets of S = ratio x n examples, by theory and exact resamples.",
		ratios, Axis{Label: "error, " + u.String()}, left, plus, refined)}
}

// growing shows the error against the number of rows, and what is expected with twice as many.
func (c *Curve) growing() []*Figure {
	u, errors := units(c.TestLoss), Series{Label: "rows left out, two standard errors", Mark: Joined}
	for _, e := range c.Results {
		if e.Quote != nil && e.Error == e.Error {
			errors.AddErr(math.Round(e.Ratio*float64(e.N)), float64(u.shown(e.Error)),
				2*float64(u.shownSE(e.Error, e.ErrorSE)))
		}
	}
	var others []IntervalRow
	if g := c.Growth; g != nil {
		then := Quote{Error: g.Then, ErrorSE: g.FallSE}
		others = []IntervalRow{plain(g.Now).row("end of the learning curve", u, besideRow),
			then.row(fmt.Sprintf("expected with %d rows", g.Rows), u, besideRow)}
	}
	return append(learningFigure("curve-"+fileName(c.Data), "learning curve", "Left-out errors of models of "+
		"parts of the rows, and what is expected with twice the rows, with two standard errors of the fall.",
		errors, c.Growth, u), c.Headline.intervals(u, others...)...)
}
