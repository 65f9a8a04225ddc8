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
