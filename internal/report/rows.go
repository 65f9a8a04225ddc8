package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
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
	target, of := shown(r.Target), shown(r.Predicted)
	if r.Label != "" {
		target, of = textCell(r.Label), textCell(r.Class)
	}
	value := number(r.Value) + either(r.SE == r.SE, fmt.Sprintf(" +- %.1g", r.SE), "")
	return []string{r.name(), target, of, fmt.Sprintf("%.1f%%", 100*r.LabelError), value,
		either(r.Influence == r.Influence, number(r.Influence), "-"),
		either(r.Twin == r.Twin, strconv.Itoa(int(r.Twin)+1), "")}
}

func (r Row) name() string { return cmp.Or(textCell(r.Name), strconv.Itoa(r.Row+1)) }

// shownRows is the number of rows in a text.
const shownRows = 15

func (r *Rows) document() *document {
	d := short("Rows to look at, of", r.Subject, r.asked())
	d.modelled(r.Subject, "")
	what, doubt := "share of models without the row that are right", "wrong"
	by := "probability that the label is another, to the models without the row"
	if len(r.Rows) > 0 && r.Rows[0].Label == "" {
		what, doubt = "minus the mean loss of models without the row", "odder than"
		by = "share of the rows whose target is nearer to what models without them predict"
	}
	if len(r.Rows) >= 3 {
		d.Lead = fmt.Sprintf("Look at the rows %s, %s and %s first: models trained without them believe "+
			"their targets least.", r.Rows[0].name(), r.Rows[1].name(), r.Rows[2].name())
	}
	d.line(doubt, "%s", by)
	d.line("value", "%s", what)
	heads, cells := known([]head{"<row", "target", "predicted", head(doubt), "value", "influence", "twin"},
		each(r.Rows[:min(shownRows, len(r.Rows))], Row.cells))
	if slices.Contains(heads, "influence") {
		d.line("influence", "how much the error on new rows rises with the row's weight")
	}
	if slices.Contains(heads, "twin") {
		d.line("twin", "a row with the same features and another target")
	}
	d.gap()
	d.table(heads, cells)
	if len(r.Rows) > shownRows {
		d.paragraph(fmt.Sprintf("the first %d of %d rows: Sheet.Table has all", shownRows, len(r.Rows)))
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

// fill adds the table of all rows to the sheet.
func (r *Rows) fill(s *Sheet, _ bool) {
	s.CSV, s.Table = "rows.csv", TableOf(r.Rows)
	s.Status = r.Status
}
