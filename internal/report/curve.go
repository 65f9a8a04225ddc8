package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// Curve is the answer of curve.
type Curve struct {
	Command string `json:"command"`
	Subject
	Scheme   string     `json:"-"`      // of resampling, of every result
	TestLoss string     `json:"-"`      // of every result
	Status   string     `json:"status"` // "complete" or "cancelled"
	Results  []Estimate `json:"results"`
	// Growth is what twice the rows would do; nil: not asked for, or unknown.
	Growth *calibration.Growth `json:"growth,omitempty"`
	Cost
}

func (c *Curve) document() *document { return rowDocument(c, c.Results) }

func (c *Curve) above() *document {
	d := about("Learning curve on", c.Subject)
	d.line("resampling", "%s; S examples drawn of %d, distinct ones on average", c.Scheme, c.N)
	d.line("errors", "%s loss", c.TestLoss)
	d.gap()
	return d
}

func (*Curve) heads() []head {
	return append([]head{"    ratio", "        S", " distinct"}, estimateHeads...)
}

func (*Curve) cells(e Estimate) []string {
	return append([]string{number(e.Ratio), number(e.Ratio * float64(e.N)), fmt.Sprintf("%.1f", e.Distinct)},
		e.cells()...)
}

// estimateHeads are those of the cells of an estimate in a row.
var estimateHeads = []head{"  left-out", " refined", "     +-", "      .632", "     .632+", "sweeps",
	" seconds", "<status"}

func (e *Estimate) cells() []string {
	refined, se, e632, plus := "-", "-", "-", "-"
	if r := e.Refined; r != nil {
		refined, se = number(r.TestError), fmt.Sprintf("%.2g", r.SE)
	}
	if e.Is632Applicable {
		e632, plus = number(e.Err632), number(e.Err632Plus)
		if r := e.Refined; r != nil && e.TestError != e.TestError { // there is no theory
			e632, plus = number(r.Err632), number(r.Err632Plus)
		}
	}
	return []string{number(e.TestError), refined, se, e632, plus, fmt.Sprint(e.Sweeps), seconds(e.Time.Solve),
		e.Status}
}

func (c *Curve) below() *document {
	d := &document{lead: fmt.Sprintf("The left-out error (%s) against the size of resamples, at %d ratios.",
		units(c.TestLoss), len(c.Results))}
	d.gap()
	d.cost(c.Cost)
	return d
}

// WriteCSV writes one line per ratio, the points left out.
func (c *Curve) WriteCSV(w io.Writer) error {
	type line struct {
		Ratio    float64 `json:"ratio"`
		Distinct float64 `json:"distinct"`
		Errors
		Convergence
		SolveS    float64    `json:"solve_s"`
		Refined   null.Float `json:"refined"` // NaN: not refined
		RefinedSE null.Float `json:"refined_se"`
	}
	var rows []line
	for _, e := range c.Results {
		row := line{e.Ratio, e.Distinct, e.Errors, e.Convergence, e.Time.Solve, null.Float(math.NaN()),
			null.Float(math.NaN())}
		if r := e.Refined; r != nil {
			row.Refined, row.RefinedSE = r.TestError, r.SE
		}
		rows = append(rows, row)
	}
	return WriteRows(w, rows)
}

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
