package report

import (
	"fmt"
	"io"
)

// document is what a reader gets of an answer: labelled lines, tables and
// paragraphs, in order. It is written as text, or as a part of a page.
type document struct {
	blocks []block
}

// block is a line with a label, a table (columns are set), a paragraph, or a gap
// (all empty).
type block struct {
	label, text string
	columns     []column
	rows        [][]string
}

func (d *document) line(label, format string, args ...any) {
	d.blocks = append(d.blocks, block{label: label, text: fmt.Sprintf(format, args...)})
}

func (d *document) paragraph(text string) { d.blocks = append(d.blocks, block{text: text}) }

func (d *document) gap() { d.blocks = append(d.blocks, block{}) }

func (d *document) table(columns []column, rows [][]string) {
	d.blocks = append(d.blocks, block{columns: columns, rows: rows})
}

// legend adds what the columns of a table mean: pairs of labels and texts.
func (d *document) legend(pairs ...[2]string) {
	for _, p := range pairs {
		d.line(p[0], "%s", p[1])
	}
	d.gap()
}

// writeText writes it for a terminal.
func (d *document) writeText(w io.Writer) error {
	for _, b := range d.blocks {
		var err error
		switch {
		case b.columns != nil:
			err = writeTable(w, b.columns, b.rows)
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
	// Title names it in a few words.
	Title() string
	document() *document
}

// WriteText writes a document for a terminal.
func WriteText(w io.Writer, d Document) error { return d.document().writeText(w) }
