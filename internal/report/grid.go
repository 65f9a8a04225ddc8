package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Grid is the answer of grid: an estimate in every cell of a grid of parameters.
type Grid struct {
	Command string `json:"command"`
	Data    string `json:"data"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	Task    string `json:"task"`
	// Sample is the size of a random sample of the rows, and RowsTotal the number of all; 0: all rows.
	Sample    int        `json:"sample,omitempty"`
	RowsTotal int        `json:"rows_total,omitempty"`
	TestLoss  string     `json:"test_loss"`
	Over      []GridAxis `json:"over"`
	Status    string     `json:"status"`         // "complete" or "cancelled"
	By        string     `json:"by"`             // objective of the comparison
	Best      *int       `json:"best,omitempty"` // index in Results, from 0, of the least objective
	Results   []GridCell `json:"results"`        // the last axis fastest
	// Headline is the error of the best model trained on all rows, corrected for its choice; nil: unknown.
	*Headline
	Outcome
}

// GridAxis is a parameter by the name of its flag, and its values as texts.
type GridAxis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// GridCell is the result at one value of every axis.
type GridCell struct {
	Values    []string `json:"values"` // in the order of the axes
	Failure   string   `json:"failure,omitempty"`
	Estimate  *Answer  `json:"estimate,omitempty"`  // nil if it failed, and by cv
	Objective *Number  `json:"objective,omitempty"` // nil: the error
	// Validation is the cross-validation, for a grid by cv.
	Validation *Answer `json:"validation,omitempty"`
	// Difference is the left-out error minus the one of the best cell.
	Difference *Difference `json:"difference,omitempty"`
	// Examples are the left-out errors of the examples, nil if some are unknown.
	Examples *Examples `json:"-"`
}

// significant is the p-value below which a cell is significantly worse than the best.
const significant = 0.05

// undecided counts the cells that do not differ significantly from the best.
func (g *Grid) undecided() string {
	undecided, compared := 0, 0
	for _, c := range g.Results {
		if c.Difference != nil {
			compared++
			undecided += either(c.Difference.PValue < significant, 0, 1)
		}
	}
	return fmt.Sprintf("not significantly worse (p >= %g): %d of %d", significant, undecided, compared)
}

func (c *GridCell) judged() *Answer { return cmp.Or(c.Validation, c.Estimate) }

// Value is the objective of a cell that has converged, else NaN.
func (c *GridCell) Value() float64 {
	e := c.judged()
	if e == nil || !Done(e.Status) {
		return math.NaN()
	}
	return float64(*cmp.Or(c.Objective, &e.Error))
}

// Name is the cell's parameters.
func (c *GridCell) Name(axes []GridAxis) string {
	at := make([]string, len(axes))
	for k, a := range axes {
		at[k] = a.Name + " " + c.Values[k]
	}
	return strings.Join(at, ", ")
}

// byFolds is the objective of a grid by exact cross-validation.
const byFolds = "cv"

func (g *Grid) heads() []head {
	heads := each(g.Over, func(a GridAxis) head { return head(a.Name) })
	switch {
	case g.By == byFolds: // with the skill
		skill := either[head](g.Task == "classification", "balanced error", "explained")
		return append(heads, "cv", "+-", skill, "<status")
	case g.byOther():
		heads = append(heads, head(g.By))
	}
	return append(heads, estimateHeads...)
}

func (g *Grid) objective() string {
	return either(g.weighted(), "class-weighted ", "") +
		either(g.By == byFolds, "error by cross-validation", either(g.byOther(), g.By, "left-out error"))
}

// weighted reports whether errors times class weights judge the cells.
func (g *Grid) weighted() bool {
	return g.Best != nil && g.Results[*g.Best].Objective != nil && (g.By == byFolds || !g.byOther())
}

// byOther reports whether the objective is not the left-out error.
func (g *Grid) byOther() bool { return g.By != "" && g.By != "leftout" }

func (g *Grid) units() units { return units(either(g.By == "evidence", "", g.TestLoss)) }

func (g *Grid) cells(c GridCell) []string {
	cells := slices.Clone(c.Values)
	if v := c.Validation; v != nil {
		skill, q, u := "-", cmp.Or(v.Quality, &Quality{}), units(v.TestLoss)
		if known := cmp.Or(q.Balanced, q.RSquared); known != nil {
			skill = share(*known)
		}
		return append(cells, u.text(v.Error), v.plusMinus(u), skill, unfinished(v.Status))
	}
	if c.Estimate == nil {
		missing := slices.Repeat([]string{"-"}, len(g.heads())-len(g.Over)-1)
		return append(append(cells, missing...), "failed: "+c.Failure)
	}
	if g.byOther() {
		cells = append(cells, g.units().text(*c.Objective))
	}
	return append(cells, c.Estimate.cells()...)
}

func (g *Grid) document(full bool) *document {
	d := about("Bootstrap estimates over a grid on", Subject{Data: g.Data, N: g.N, D: g.D, Task: g.Task,
		Sample: g.Sample, RowsTotal: g.RowsTotal})
	u, heads := units(g.TestLoss), g.heads()
	d.headline(g.Headline, u)
	if g.Best != nil {
		best := &g.Results[*g.Best]
		quality, se := best.judged().Quality, ""
		if quality != nil && g.By != "evidence" && !g.weighted() {
			se = fmt.Sprintf(" (%s)", best.judged().within(nil, g.units()))
		}
		name, value := best.Name(g.Over), g.objective()+" "+g.units().text(Number(best.Value()))
		d.Lead = fmt.Sprintf("The best of %d models is %s, with the %s.", len(g.Results), name, value)
		if g.Headline == nil {
			d.baseline(quality, u)
		}
		d.line("best", "%s: %s%s, the lowest of %d%s", name, value, se, len(g.Results),
			either(g.By == "evidence", "", ", which makes it too low for new rows"))
		d.line("others", "%s", g.undecided())
	}
	d.line("errors", "%s of left-out rows; +- is the standard error", u)
	if slices.Contains(heads, "theory") {
		d.line(estimates[0], "%s", estimates[1])
	}
	d.table(known(heads, each(g.Results, g.cells)))
	return d.withCost(full, g.Cost)
}

// gridColumns are the columns of a grid as CSV after the values of the axes.
const gridColumns = `objective test_loss test_error apparent_error no_information_error err632
	err632plus status residual sweeps solve_s=time_solve difference=difference_value
	difference_se=difference_standard_error p_value=difference_p_value`

func (g *Grid) fill(s *Sheet, _ bool) {
	type line struct {
		Objective Number `json:"objective"`
		TestLoss  string `json:"test_loss"`
		Status    string `json:"status"`
		*Answer
		Difference *Difference `json:"difference"`
	}
	lines := each(g.Results, func(c GridCell) line {
		e := cmp.Or(c.judged(), &Answer{Status: "failed"})
		return line{Number(c.Value()), e.TestLoss, e.Status, c.Estimate, c.Difference}
	})
	t, numbers := &Table{Rows: make([][]string, len(lines))}, TableOf(lines, strings.Fields(gridColumns)...)
	for k, a := range g.Over {
		addColumn(t, a.Name, g.Results, func(c GridCell) string { return textCell(c.Values[k]) })
	}
	for i, cells := range numbers.Rows {
		t.Rows[i] = append(t.Rows[i], cells...)
	}
	t.Heads = append(t.Heads, numbers.Heads...)
	for _, c := range g.Results {
		s.addParts(c.Estimate)
		s.addParts(c.Validation)
	}
	s.CSV, s.Table, s.Figures = "grid.csv", t, append(g.figures(), g.Headline.intervals(units(g.TestLoss))...)
}

// figures show the objective over the grid: a curve for one axis, a map for two, none for more.
func (g *Grid) figures() []*Figure {
	axes := slices.DeleteFunc(slices.Clone(g.Over), func(a GridAxis) bool { return len(a.Values) == 1 })
	if len(axes) == 0 || len(axes) > 2 {
		return nil
	}
	across, y, mark := axes[len(axes)-1], Axis{Label: g.objective()}, Joined
	if len(axes) == 2 {
		y, mark = axes[0].axis(), Heat
	}
	var series []Series
	for cells := range slices.Chunk(g.Results, len(across.Values)) {
		s := Series{Mark: mark}
		if mark == Heat {
			s.Label = axes[0].Name + " " + axes[0].Values[len(series)]
		}
		for i := range cells {
			s.Add(float64(i+1), float64(g.units().shown(Number(cells[i].Value()))))
		}
		series = append(series, s)
	}
	if g.Best != nil {
		row, column := *g.Best/len(across.Values), *g.Best%len(across.Values)
		best := Series{Label: "best", Colour: 1, Mark: Frame, X: []float64{float64(column + 1)},
			Y: []float64{float64(row + 1)}}
		if mark != Heat {
			best.Mark, best.Y[0] = Triangles, float64(g.units().shown(Number(g.Results[column].Value())))
		}
		series = append(series, best)
	}
	return []*Figure{NewFigure("grid-"+fileName(g.Data), g.objective()+" over the grid",
		"Without retraining; the mark is the best cell.", across.axis(), y, series...)}
}

func (a *GridAxis) axis() Axis {
	axis := Axis{Label: a.Name, Min: 0.5, Max: float64(len(a.Values)) + 0.5}
	for i, v := range a.Values {
		axis.Ticks = append(axis.Ticks, Tick{float64(i + 1), v})
	}
	return axis
}
