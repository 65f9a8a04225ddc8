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
	Status   string   `json:"status"` // "complete" or "cancelled"
	Results  []Answer `json:"results"`
	// Headline is the error of the model of all rows, which has chosen it; nil: unknown.
	*Headline
	// Growth predicts the error with twice the rows; nil: not requested, or unknown.
	Growth *Growth `json:"growth,omitempty"`
	Outcome
}

// parts are the findings of the results.
func (c *Curve) parts() (all []*Findings) {
	for i := range c.Results {
		all = append(append(all, &c.Results[i].Findings), c.Results[i].parts()...)
	}
	return all
}

func (c *Curve) document() *document { return rowDocument(c, c.Results) }

func (c *Curve) above() *document {
	d := about("Learning curve on", c.Subject)
	d.line("resampling", "%s; S examples drawn of %d, distinct ones on average", c.Scheme, c.N)
	d.line("errors", "%s; refined by exact resamples, with its standard error", units(c.TestLoss))
	d.gap()
	return d
}

func (*Curve) heads() []head {
	return append([]head{"    ratio", "        S", " distinct"}, estimateHeads...)
}

func (*Curve) cells(e Answer) []string {
	return append([]string{number(e.Ratio), number(e.Ratio * float64(e.N)), fmt.Sprintf("%.1f", e.Distinct)},
		e.cells()...)
}

// estimateHeads are the heads of an estimate's cells in a row.
var estimateHeads = []head{"  left-out", " refined", "     +-", "      .632", "     .632+", "sweeps",
	" seconds", "<status"}

func (a *Answer) cells() []string {
	u, refined, se := units(a.TestLoss), "-", "-"
	error, around := cmp.Or(a.TestError, &unknown),
		cmp.Or(a.Errors, &Errors{Err632: unknown, Err632Plus: unknown})
	e632, plus := around.Err632, around.Err632Plus
	if r := a.Refined; r != nil {
		refined, se = u.long(r.TestError), a.plusMinus(u)
		if *error != *error { // no theory
			e632, plus = r.Err632, r.Err632Plus
		}
	}
	known := func(v Number) string { return either(v == v, u.long(v), "-") }
	suits := func(v Number) string { return either(a.Is632Applicable, known(v), "-") }
	return []string{known(*error), refined, se, suits(e632), suits(plus),
		fmt.Sprint(cmp.Or(a.Convergence, &Convergence{}).Sweeps), seconds(a.Time.Solve), a.Status}
}

func (c *Curve) below() *document {
	d := &document{Lead: fmt.Sprintf("The left-out error (%s) against the size of resamples, at %d ratios.",
		units(c.TestLoss), len(c.Results))}
	d.gap()
	d.headline(c.Headline, units(c.TestLoss))
	d.cost(c.Cost)
	return d
}

// curveColumns are the columns of a curve as CSV, without the points.
const curveColumns = `ratio distinct test_loss test_error apparent_error no_information_error err632
	err632plus method status engine residual sweeps refreshes_exact refreshes_single refreshes_woodbury
	refreshes_diagonal rank rank_residual rank_largest rank_error solve_s=time_solve
	refined=refined_test_error refined_se=refined_standard_error`

// fill adds the other forms of the curve to the sheet.
func (c *Curve) fill(s *Sheet, _ bool) {
	s.Cost, s.CSV, s.Figures = &c.Cost, "curve.csv", c.figures()
	s.Table = TableOf(c.Results, strings.Fields(curveColumns)...)
}

// figures show the error against the ratio.
func (c *Curve) figures() []*Figure {
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
		ShortName(c.Data)+": error against the size of resamples",
		"Left-out and .632+ error of training sets of S = ratio x n examples, by theory and exact resamples.",
		ratios, Axis{Label: "error, " + u.String()}, left, plus, refined)}
}

// Growing is a short learning curve, about the use of more rows.
type Growing struct{ *Curve }

func (c Growing) document() *document { return rowDocument(c, c.Results) }

func (c Growing) above() *document {
	d := short("Error by number of rows, on", c.Subject, c.asked())
	d.modelled(c.Subject, "")
	n := len(c.Kernel.LengthScale)
	scales := either(n > 1 && c.ChosenBy != "",
		fmt.Sprintf(", too low as they helped to choose %d length scales", n), "")
	d.line("errors", "%s of rows left out%s; +- over rows and over subsamples without replacement",
		units(c.TestLoss), scales)
	d.gap()
	return d
}

func (Growing) heads() []head {
	return []head{"   rows", "     error", "      +-", "  seconds", "<status"}
}

func (Growing) cells(e Answer) []string {
	u := units(e.TestLoss)
	status := strings.Replace(e.Status, Contradicted, "converged", 1) // the theory is not shown
	return []string{fmt.Sprint(math.Round(e.Ratio * float64(e.N))), u.text(e.Error), e.plusMinus(u),
		seconds(e.Time.Solve), status}
}

func (c Growing) below() *document {
	d := &document{}
	d.gap()
	d.headline(c.Headline, units(c.TestLoss))
	if g := c.Growth; g != nil {
		u := units(c.TestLoss)
		twice := fmt.Sprintf("%s with all %d rows, %s expected with %d: a fall of %s +- %s", u.text(g.Now),
			c.N, u.text(g.Then), g.Rows, u.fall(g.Now, g.Then), u.se(g.Then, g.FallSE))
		d.Lead = fmt.Sprintf("More rows %s. The error (%s) is %s.", helps(g), u, twice)
		d.line("twice the rows", "%s", twice)
		d.line("more rows", "%s", helps(g))
	} else if c.Status == "complete" {
		d.line("more rows", "unknown: it takes 20 rows, and exact subsamples that leave out each of them")
	}
	d.cost(c.Cost)
	return d
}

// helps says whether twice the rows would help.
func helps(g *Growth) string {
	switch {
	case g.Fall+2*g.FallSE < g.Now/10:
		return "hardly help: the error falls by less than a tenth"
	case g.Fall > 2*g.FallSE && g.Fall > g.Now/20:
		return "help"
	}
	return "may help: the fall is less than twice its standard error"
}
