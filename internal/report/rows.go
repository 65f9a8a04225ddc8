package report

import (
	"fmt"
	"io"
	"strconv"

	"bootbench/internal/null"
)

// Rows is the answer of rows: the examples, those that a look is worth first.
type Rows struct {
	Command string `json:"command"`
	Subject
	TestLoss string   `json:"test_loss"`
	Status   string   `json:"status"`
	Rows     []Row    `json:"rows"`
	Warnings []string `json:"warnings"`
	Cost
}

// Row is what the models without an example say of it.
type Row struct {
	Row       int        `json:"row"` // from 0
	Name      string     `json:"name,omitempty"`
	Target    null.Float `json:"target"`
	Predicted null.Float `json:"predicted"`       // mean of the models without it
	Label     string     `json:"label,omitempty"` // its class
	Class     string     `json:"class,omitempty"` // what the models without it take it for
	// share of models without it that are right (Data-OOB: Kwon and Zou 2023); of numbers minus their mean loss
	Value      null.Float `json:"value"`
	SE         null.Float `json:"value_se"`    // over resamples; null without exact ones
	LabelError null.Float `json:"label_error"` // probability that the label is another
	Influence  null.Float `json:"influence"`   // derivative of the left-out error by its weight; null: unknown
	Twin       null.Float `json:"twin"`        // row, from 0, with the same input and another label; null: none
}

func (r *Rows) cells(row *Row) []string {
	name := strconv.Itoa(row.Row + 1)
	if row.Name != "" {
		name = textCell(row.Name)
	}
	target, of := number(row.Target), number(row.Predicted)
	if row.Label != "" {
		target, of = textCell(row.Label), textCell(row.Class)
	}
	value, influence, twin := number(row.Value), "-", ""
	if row.SE == row.SE {
		value += fmt.Sprintf(" +- %.1g", row.SE)
	}
	if row.Influence == row.Influence {
		influence = number(row.Influence)
	}
	if row.Twin == row.Twin {
		twin = strconv.Itoa(int(row.Twin) + 1)
	}
	return []string{name, target, of, fmt.Sprintf("%.1f%%", 100*row.LabelError), value, influence, twin}
}

// shownRows is how many a terminal shows.
const shownRows = 15

func (r *Rows) document() *document {
	d := short("Rows to look at, of", r.Subject, r.asked())
	d.modelled(r.Subject)
	what, doubt := "share of models without the row that are right", "wrong"
	by := "probability that the label is another, to the models without the row"
	if len(r.Rows) > 0 && r.Rows[0].Label == "" {
		what, doubt = "minus the mean loss of models without the row", "odder than"
		by = "share of the rows whose target is nearer to what models without them predict"
	}
	if len(r.Rows) >= 3 {
		name := func(i int) string { return r.cells(&r.Rows[i])[0] }
		d.lead = fmt.Sprintf("Look at the rows %s, %s and %s first: models trained without them believe their "+
			"targets least.", name(0), name(1), name(2))
	}
	d.line(doubt, "%s", by)
	d.line("value", "%s", what)
	d.line("influence", "how much the error on new rows rises with the row's weight")
	d.line("twin", "a row with the same features and another target")
	d.gap()
	var rows [][]string
	for i := range r.Rows[:min(shownRows, len(r.Rows))] {
		rows = append(rows, r.cells(&r.Rows[i]))
	}
	d.table([]head{"<row", "target", "predicted", head(doubt), "value", "influence", "twin"}, rows)
	if len(r.Rows) > shownRows {
		d.paragraph(fmt.Sprintf("the first %d of %d rows: --csv FILE has all", shownRows, len(r.Rows)))
	}
	return d
}

// WriteCSV writes one line per row, the first to look at first.
func (r *Rows) WriteCSV(w io.Writer) error { return writeCSV(w, table(r.Rows)) }
