package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// Grid is the answer of grid: an estimate in every cell of a grid of parameters.
type Grid struct {
	Command  string     `json:"command"`
	Data     string     `json:"data"`
	N        int        `json:"n"`
	D        int        `json:"d"`
	Task     string     `json:"task"`
	TestLoss string     `json:"test_loss"`
	Over     []GridAxis `json:"over"`
	Status   string     `json:"status"`         // "complete" or "cancelled"
	By       string     `json:"by"`             // objective by which cells are compared
	Best     *int       `json:"best,omitempty"` // place in Results, from 0, of the least of it
	Results  []GridCell `json:"results"`        // the last axis fastest
	Warnings []string   `json:"warnings"`
	Cost
}

// GridAxis is a parameter by the name of its flag, and its values as that takes
// them.
type GridAxis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// GridCell is what was found at a value of every axis.
type GridCell struct {
	Values    []string    `json:"values"` // in the order of the axes
	Failure   string      `json:"failure,omitempty"`
	Estimate  *Estimate   `json:"estimate,omitempty"`  // nil where it failed
	Objective *null.Float `json:"objective,omitempty"` // nil: the left-out error
	// Difference is the left-out error less that of the best cell.
	Difference *calibration.Difference `json:"difference,omitempty"`
	// Examples are the left-out errors of the examples, nil where some are not known.
	Examples *calibration.Errors `json:"-"`
}

// significant is the p-value below which a cell errs more than the best.
const significant = 0.05

// undecided says which cells the examples do not tell apart from the best.
func (g *Grid) undecided() string {
	var close []string
	compared := 0
	for i := range g.Results {
		c := &g.Results[i]
		if c.Difference == nil {
			continue
		}
		if compared++; !(c.Difference.PValue < significant) {
			close = append(close, fmt.Sprintf("%s (p = %.2g)", c.Name(g.Over), c.Difference.PValue))
		}
	}
	switch {
	case compared == 0:
		return ""
	case len(close) == 0:
		return fmt.Sprintf("All of the other %d cells err more, p < %.2g for each.", compared, significant)
	}
	const shown = 4
	list := strings.Join(close[:min(shown, len(close))], "; ")
	if len(close) > shown {
		list += fmt.Sprintf("; and %d more", len(close)-shown)
	}
	return fmt.Sprintf("Of %d other cells these examples cannot tell %d from the best: %s.", compared,
		len(close), list)
}

// Value is the objective of a cell that has converged, else NaN.
func (c *GridCell) Value() float64 {
	switch {
	case c.Estimate == nil || c.Estimate.Status != "converged" && c.Estimate.Status != Contradicted:
		return math.NaN()
	case c.Objective != nil:
		return float64(*c.Objective)
	}
	return float64(c.Estimate.TestError)
}

// Name is the cell's place in the grid.
func (c *GridCell) Name(axes []GridAxis) string {
	var at []string
	for k, a := range axes {
		at = append(at, a.Name+" "+c.Values[k])
	}
	return strings.Join(at, ", ")
}

func (g *Grid) heads() []head {
	var heads []head
	for _, a := range g.Over {
		width := 0
		for _, v := range a.Values {
			width = max(width, len(v))
		}
		heads = append(heads, head(fmt.Sprintf("%*s", width, a.Name)))
	}
	if g.byOther() {
		heads = append(heads, head(fmt.Sprintf("%10s", g.By)))
	}
	return append(heads, estimateHeads...)
}

// byOther reports whether cells are compared by something else than the left-out error.
func (g *Grid) byOther() bool { return g.By != "" && g.By != "leftout" }

func (g *Grid) cells(c GridCell) []string {
	switch {
	case c.Estimate == nil:
		return slices.Concat(c.Values, slices.Repeat([]string{"-"}, len(g.heads())-len(g.Over)-1),
			[]string{"failed: " + c.Failure})
	case g.byOther():
		return slices.Concat(c.Values, []string{number(*c.Objective)}, c.Estimate.cells())
	}
	return slices.Concat(c.Values, c.Estimate.cells())
}

func (g *Grid) above() *document {
	d := &document{title: "Bootstrap estimates of " + ShortName(g.Data) + " over a grid"}
	d.line("data", "%s: %d examples, %d features, %s", g.Data, g.N, g.D, g.Task)
	d.line("errors", "%s loss", g.TestLoss)
	d.gap()
	return d
}

func (g *Grid) below() *document {
	d := &document{}
	d.gap()
	if g.Best != nil {
		d.line("best", "%s", g.Lead()[0])
		for _, note := range g.Lead()[1:] {
			d.line("note", "%s", note)
		}
	}
	d.cost(g.Cost)
	return d
}

// Lead names the best cell, or says that there is none.
func (g *Grid) Lead() []string {
	if g.Best == nil {
		return []string{"No cell of the grid has converged."}
	}
	best := &g.Results[*g.Best]
	what := "left-out error"
	if g.byOther() {
		what = g.By
	}
	se := ""
	if q := best.Estimate.Quality; q != nil && g.By != "evidence" {
		se = fmt.Sprintf(" (standard error over examples %s)", number(q.ExampleSE))
	}
	lead := []string{fmt.Sprintf("%s: %s %s%s, the least of %d on the same data; expect more on new data",
		best.Name(g.Over), what, number(best.Value()), se, len(g.Results))}
	for _, note := range []string{g.undecided(), g.edges()} {
		if note != "" {
			lead = append(lead, note)
		}
	}
	return lead
}

// edges says on which edges of the grid the best cell lies: a better one may lie beyond.
func (g *Grid) edges() string {
	var at []string
	for k, a := range g.Over {
		value := g.Results[*g.Best].Values[k]
		if _, err := strconv.ParseFloat(value, 64); err != nil || len(a.Values) < 3 {
			continue
		}
		if value == a.Values[0] || value == a.Values[len(a.Values)-1] {
			at = append(at, a.Name+" "+value)
		}
	}
	if at == nil {
		return ""
	}
	return "The best cell lies on the edge of the grid, " + strings.Join(at, ", ") + ": go on beyond it."
}

func (g *Grid) document() *document { return rowDocument(g, g.Results) }

// solveColumns are the columns of WriteCSV after those of the axes and the objective.
var solveColumns = []string{"test_loss", "test_error", "apparent_error", "no_information_error", "err632",
	"err632plus", "status", "residual", "sweeps", "solve_s", "difference", "difference_se", "p_value"}

// WriteCSV writes one line per cell: the value of every axis, the errors and the
// solve. Of a cell that failed these are empty but for the status.
func (g *Grid) WriteCSV(w io.Writer) error {
	rows := make([][]string, 1+len(g.Results))
	for _, a := range g.Over {
		rows[0] = append(rows[0], a.Name)
	}
	if g.byOther() {
		rows[0] = append(rows[0], "objective")
	}
	rows[0] = append(rows[0], solveColumns...)
	for i := range g.Results {
		c := &g.Results[i]
		for _, v := range c.Values {
			rows[i+1] = append(rows[i+1], textCell(v))
		}
		if g.byOther() {
			rows[i+1] = append(rows[i+1], optionalCell(c.Objective))
		}
		rows[i+1] = append(rows[i+1], c.solveCells()...)
	}
	return writeCSV(w, rows)
}

// solveCells are those of solveColumns.
func (c *GridCell) solveCells() []string {
	e, difference := c.Estimate, make([]string, 3)
	if e == nil {
		return append(append(make([]string, 6), "failed"), make([]string, 6)...)
	}
	if d := c.Difference; d != nil {
		difference = []string{numberCell(d.Value), numberCell(d.StandardError), numberCell(d.PValue)}
	}
	return append([]string{e.TestLoss, numberCell(e.TestError), numberCell(e.Apparent),
		numberCell(e.NoInformation), numberCell(e.Err632), numberCell(e.Err632Plus), e.Status,
		numberCell(e.Residual), fmt.Sprint(e.Sweeps), numberCell(e.Time.Solve)}, difference...)
}

// optionalCell is empty where there is no number.
func optionalCell(v *null.Float) string {
	if v == nil {
		return ""
	}
	return numberCell(*v)
}
