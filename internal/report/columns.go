package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

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
