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
