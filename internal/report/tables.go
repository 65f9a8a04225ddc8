package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
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

// Rows is the answer of rows: the examples, the most suspicious first.
type Rows struct {
	Command string `json:"command"`
	Subject
	TestLoss string `json:"test_loss"`
	Status   string `json:"status"`
	Rows     []Row  `json:"rows"`
	Outcome
}

// Columns is the answer of columns: what the model loses without each column, the most important first.
type Columns struct {
	Command string `json:"command"`
	Subject
	TestLoss     string         `json:"test_loss"`
	Status       string         `json:"status"`
	Permutations int            `json:"permutations"` // of a column
	Columns      []ColumnEffect `json:"columns"`
	*Headline
	Measured *Measured `json:"judged,omitempty"` // nil: by the error
	Outcome
}

// ColumnEffect is the error of the model without a column of the data, and with its values permuted among the
// rows, minus the error with it: in units of the test loss, of several targets their mean, and of each. By
// another measure it is by how much that is worse.
type ColumnEffect struct {
	Column   string                   `json:"column,omitempty"`
	Features int                      `json:"features,omitempty"` // that it became
	Without  *Difference              `json:"without"`
	Permuted *Difference              `json:"permuted"`
	Targets  map[string]*ColumnEffect `json:"targets,omitempty"`
}

// importance says whether the interval of the difference without the column excludes no change.
func (c *ColumnEffect) importance() string {
	return either(c.Without.Low > 0, matters, either(c.Without.High < 0, betterWithout, ""))
}

// Verdicts on a column.
const matters, betterWithout = "matters", "better without"

// without is an error, in the units of screens, plus the end of an interval of a difference.
func (r *Columns) without(of Number) Number {
	if r.Measured != nil {
		_, e := r.Measured.loss()
		return e + of
	}
	e := max(0, r.Error+of)
	return either(r.Headline.Targets != nil, e, units(r.TestLoss).shown(e))
}

// shown is without as a text.
func (r *Columns) shown(of Number) string {
	switch e := r.without(of); {
	case r.Measured != nil:
		return digits(e, 4)
	case r.Headline.Targets != nil:
		return share(e)
	default:
		return units(r.TestLoss).digits(e, 4)
	}
}

func (r *Columns) document(bool) *document {
	d, u := about("Columns that matter, of", r.Subject), units(r.TestLoss).String()
	d.headline(r.Headline, units(r.TestLoss))
	rises := "the error"
	if r.Measured != nil {
		d.measured(r.Measured, r.ErrorLevel)
		name, _ := r.Measured.loss()
		u, rises = name, name
	}
	if r.Headline.Targets != nil {
		u = "unexplained share of the variance of a target"
	}
	named, cells := map[string]string{}, [][]string(nil)
	for i := range r.Columns {
		c := &r.Columns[i]
		named[c.importance()] = join(named[c.importance()], c.Column)
		w, p := c.Without, c.Permuted
		cells = append(cells, []string{textCell(c.Column), r.shown(w.Value), r.shown(w.Low), r.shown(w.High),
			r.shown(p.Value), r.shown(p.Low), r.shown(p.High), c.importance()})
	}
	verdict := cmp.Or(nonzero(rises+" rises without %s", named[matters]),
		"no column alone is shown to matter") + nonzero(", and falls without %s", named[betterWithout])
	d.Lead = strings.ToUpper(verdict[:1]) + verdict[1:] + "."
	d.line("verdict", "%s", verdict)
	d.model(r.Subject, nil)
	d.line("without", "error of the model trained again without the column, with the same hyperparameters "+
		"(%s)", u)
	d.line("permuted", "the same with the values of the column permuted among the rows, mean of %d",
		r.Permutations)
	d.line("from, to", "%.3g%% interval, of the difference from the error with all columns",
		100*r.ErrorLevel)
	d.line("status", "%s", unfinished(r.Status))
	d.table(known([]head{"<column", "without", "from", "to", "permuted", "from", "to", "<verdict"}, cells))
	return d
}

// fill adds the table to the sheet: a line for each column, and for each of several targets.
func (r *Columns) fill(s *Sheet, _ bool) {
	type line struct {
		Column string `json:"column"`
		Target string `json:"target"`
		*ColumnEffect
	}
	var lines []line
	for i := range r.Columns {
		c := &r.Columns[i]
		lines = append(lines, line{c.Column, "", c})
		for _, name := range slices.Sorted(maps.Keys(c.Targets)) {
			lines = append(lines, line{c.Column, name, c.Targets[name]})
		}
	}
	names := []string{"column"}
	if r.Headline.Targets != nil {
		names = append(names, "target")
	}
	for _, of := range []string{"without", "permuted"} {
		for _, part := range []string{"value", "standard_error", "lower", "upper", "p_value"} {
			names = append(names, of+"_"+part)
		}
	}
	s.CSV, s.Table, s.Status, s.Figures = "columns.csv", TableOf(lines, names...), r.Status, r.intervals()
}

// Row compares an example with the models trained without it.
type Row struct {
	Row       int    `json:"row"` // from 0
	Name      string `json:"name,omitempty"`
	Target    Number `json:"target"`
	Predicted Number `json:"predicted"`       // mean of the models without it
	Label     string `json:"label,omitempty"` // its class
	Class     string `json:"class,omitempty"` // predicted by the models without it
	// fraction of models without it that are right (Data-OOB: Kwon and Zou 2023); of numbers -(mean loss)
	Value      Number `json:"value"`
	SE         Number `json:"value_se"`    // over resamples; null without exact ones
	LabelError Number `json:"label_error"` // probability that the label is wrong
	// derivative of the left-out error by its weight; null: unknown
	Influence Number `json:"influence"`
	// row, from 0, with the same input and another label; null: none
	Twin Number `json:"twin"`
}

func (r Row) cells() []string {
	shown := func(v Number) string { return either(v == v, number(v), "-") }
	target := either(r.Label != "", textCell(r.Label), shown(r.Target))
	of := either(r.Label != "", textCell(r.Class), shown(r.Predicted))
	value := digits(r.Value, 4) + either(r.SE == r.SE, " +- "+digits(r.SE, 1), "")
	return []string{r.name(), target, of, share(r.LabelError), value,
		either(r.Influence == r.Influence, digits(r.Influence, 3), "-"),
		either(r.Twin == r.Twin, strconv.Itoa(int(r.Twin)+1), "")}
}

func (r Row) name() string { return cmp.Or(textCell(r.Name), strconv.Itoa(r.Row+1)) }

// shownRows is the number of rows in a text.
const shownRows = 15

func (r *Rows) document(bool) *document {
	d := about("Rows to look at, of", r.Subject)
	what, doubt := "share of the models trained without the row that predict its label", "wrong"
	by := "probability that the label is wrong, by models trained without the row"
	if len(r.Rows) > 0 && r.Rows[0].Label == "" {
		what, doubt = "minus the mean loss of models trained without the row", "odder than"
		by = "share of the rows whose targets are nearer to the predictions of models without them"
	}
	if len(r.Rows) >= 3 {
		const why = "models trained without them contradict their targets most"
		first := fmt.Sprintf("rows %s, %s and %s", r.Rows[0].name(), r.Rows[1].name(), r.Rows[2].name())
		d.Lead = fmt.Sprintf("Check the %s first: %s.", first, why)
		d.line("check first", "%s: %s", first, why)
	}
	d.model(r.Subject, nil)
	d.line(doubt, "%s", by)
	d.line("value", "%s", what)
	heads, cells := known([]head{"<row", "target", "predicted", head(doubt), "value", "influence", "twin"},
		each(r.Rows[:min(shownRows, len(r.Rows))], Row.cells))
	if slices.Contains(heads, "influence") {
		d.line("influence", "rise of the error on new rows with the row's weight: above 0 the row does harm")
	}
	if slices.Contains(heads, "twin") {
		d.line("twin", "a row with the same features and another target")
	}
	d.table(heads, cells)
	if len(r.Rows) > shownRows {
		d.paragraph(fmt.Sprintf("The first %d of %d rows; Sheet.Table has all.", shownRows, len(r.Rows)))
	}
	return d
}

// known are the columns of a table of which a cell has a value.
func known(heads []head, rows [][]string) (some []head, cells [][]string) {
	cells = make([][]string, len(rows))
	for k, name := range heads {
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[k] != "-" && row[k] != "" }) {
			continue
		}
		some = append(some, name)
		for i, row := range rows {
			cells[i] = append(cells[i], row[k])
		}
	}
	return some, cells
}

func (r *Rows) fill(s *Sheet, _ bool) {
	s.CSV, s.Table, s.Status = "rows.csv", TableOf(r.Rows), r.Status
}
