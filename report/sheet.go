package report

import (
	"fmt"
	"io"
)

// sheet is what a reader gets of an answer: labelled lines, tables and
// paragraphs, in order. It is written as text, and stands in a page.
type sheet struct {
	blocks []block
}

// block is a line with a label, a table (columns are set), a paragraph, or a gap
// (all empty).
type block struct {
	label, text string
	columns     []column
	rows        [][]string
}

func (s *sheet) line(label, format string, args ...any) {
	s.blocks = append(s.blocks, block{label: label, text: fmt.Sprintf(format, args...)})
}

func (s *sheet) paragraph(text string) { s.blocks = append(s.blocks, block{text: text}) }

func (s *sheet) gap() { s.blocks = append(s.blocks, block{}) }

func (s *sheet) table(columns []column, rows [][]string) {
	s.blocks = append(s.blocks, block{columns: columns, rows: rows})
}

// writeText writes the sheet for a terminal.
func (s *sheet) writeText(w io.Writer) error {
	for _, b := range s.blocks {
		var err error
		switch {
		case b.columns != nil:
			err = table(w, b.columns, b.rows)
		case b.label != "":
			_, err = fmt.Fprintf(w, "%-15s %s\n", b.label, b.text)
		default:
			_, err = fmt.Fprintln(w, b.text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Document is what a command has computed, in a form for readers.
type Document interface {
	// WriteText writes it for a terminal.
	WriteText(w io.Writer) error
	// Title names it in a few words.
	Title() string
	sheet() *sheet
}

// WriteText writes the estimate for a reader.
func (e *Estimate) WriteText(w io.Writer) error { return e.sheet().writeText(w) }

// WriteText writes the prediction for a reader: what was asked, then a row per
// new input.
func (r *Prediction) WriteText(w io.Writer) error { return r.sheet().writeText(w) }

// WriteText writes the Monte-Carlo reference for a reader.
func (r *Retraining) WriteText(w io.Writer) error { return r.sheet().writeText(w) }

// WriteText writes the answer for a reader.
func (l *LeaveOneOut) WriteText(w io.Writer) error { return l.sheet().writeText(w) }

// WriteText writes the listing for a reader.
func (d *Datasets) WriteText(w io.Writer) error { return d.sheet().writeText(w) }

// WriteText writes the description of the machine for a reader.
func (m *Machine) WriteText(w io.Writer) error { return m.sheet().writeText(w) }

// WriteText writes the tables.
func (t *PaperTables) WriteText(w io.Writer) error { return t.sheet().writeText(w) }

// WriteText writes what was modelled and all ratios.
func (c *Curve) WriteText(w io.Writer) error { return c.sheet().writeText(w) }

// Title names the estimate.
func (e *Estimate) Title() string { return "Bootstrap estimate of " + ShortName(e.Data) }

// Title names the prediction.
func (r *Prediction) Title() string {
	return "Bootstrap law of predictions from " + ShortName(r.Data)
}

// Title names the Monte-Carlo reference.
func (r *Retraining) Title() string { return "Bootstrap retraining on " + ShortName(r.Data) }

// Title names the leave-one-out estimate.
func (l *LeaveOneOut) Title() string { return "Leave-one-out error on " + ShortName(l.Data) }

// Title names the curve.
func (c *Curve) Title() string { return "Learning curve on " + ShortName(c.Data) }
