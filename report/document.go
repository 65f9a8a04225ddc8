package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// document is what a reader gets of an answer: labelled lines, tables and
// paragraphs, in order. It is written as text, or as a part of a page.
type document struct {
	blocks []block
}

// block is a run of labelled lines, a table (columns are set), or a paragraph, "" for a gap.
type block struct {
	Lines   [][2]string
	Columns []column
	Rows    [][]string
	Text    string
}

// column of a text table. Cells are aligned right unless Left is set. A cell
// wider than its column shifts the rest of its line.
type column struct {
	Head  string
	width int
	Left  bool
}

func (d *document) line(label, format string, args ...any) {
	last := len(d.blocks) - 1
	if last < 0 || d.blocks[last].Lines == nil {
		d.blocks, last = append(d.blocks, block{}), last+1
	}
	d.blocks[last].Lines = append(d.blocks[last].Lines, [2]string{label, fmt.Sprintf(format, args...)})
}

func (d *document) paragraph(text string) { d.blocks = append(d.blocks, block{Text: text}) }

func (d *document) gap() { d.paragraph("") }

// table adds a table; heads of columns that are aligned left begin with "<".
func (d *document) table(heads []string, rows [][]string) {
	b := block{Columns: make([]column, len(heads)), Rows: rows}
	for i, head := range heads {
		b.Columns[i].Head, b.Columns[i].Left = strings.CutPrefix(head, "<")
	}
	d.blocks = append(d.blocks, b)
}

// Document is what a command has computed, in a form for readers.
type Document interface {
	// Title names it in a few words.
	Title() string
	document() *document
}

// WriteText writes a document for a terminal.
func WriteText(w io.Writer, d Document) error { return d.document().writeText(w) }

func (d *document) writeText(w io.Writer) error {
	var text strings.Builder
	for _, b := range d.blocks {
		for _, l := range b.Lines {
			fmt.Fprintf(&text, "%-15s %s\n", l[0], l[1])
		}
		switch {
		case b.Columns != nil:
			b.writeTable(&text)
		case b.Lines == nil:
			fmt.Fprintln(&text, b.Text)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// writeTable prints a table with columns as wide as their widest cells.
func (b *block) writeTable(text *strings.Builder) {
	for i := range b.Columns {
		c := &b.Columns[i]
		c.width = utf8.RuneCountInString(c.Head)
		for _, r := range b.Rows {
			c.width = max(c.width, utf8.RuneCountInString(r[i]))
		}
	}
	text.WriteString(textLine(b.Columns, heads(b.Columns)))
	for _, r := range b.Rows {
		text.WriteString(textLine(b.Columns, r))
	}
}

// heads are the heads of columns.
func heads(columns []column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Head
	}
	return all
}

// textLine is one line of a table.
func textLine(columns []column, cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		width := columns[i].width
		if columns[i].Left {
			width = -width
		}
		fmt.Fprintf(&b, "%*s  ", width, cell)
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// RowDocument is a Document with a table whose rows can be printed while they
// are computed. R is what a row is made of.
type RowDocument[R any] interface {
	Document
	// Lead says what came out, in a sentence or two.
	Lead() []string
	// Figures show it.
	Figures() []*Figure
	// WriteCSV writes a line per row.
	WriteCSV(w io.Writer) error

	head() *document   // above the table: what the rows are about
	columns() []column // with widths for rows that are not known yet
	cells(row R) []string
	end() *document // below the table, once all rows are known
}

// WriteHead prints what is above the rows of a document, and their heads.
func WriteHead[R any](w io.Writer, of RowDocument[R]) error {
	if err := of.head().writeText(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, textLine(of.columns(), heads(of.columns())))
	return err
}

// WriteRow prints one row.
func WriteRow[R any](w io.Writer, of RowDocument[R], row R) error {
	_, err := io.WriteString(w, textLine(of.columns(), of.cells(row)))
	return err
}

// WriteEnd prints what is below the rows, all of which the document holds by now.
func WriteEnd[R any](w io.Writer, of RowDocument[R]) error { return of.end().writeText(w) }

// rowDocument is a document with all of its rows.
func rowDocument[R any](of RowDocument[R], rows []R) *document {
	d := of.head()
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = of.cells(r)
	}
	d.blocks = append(d.blocks, block{Columns: of.columns(), Rows: cells})
	d.blocks = append(d.blocks, of.end().blocks...)
	return d
}
