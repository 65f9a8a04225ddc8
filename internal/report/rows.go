package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
