// Package report writes results as JSON documents, text tables, CSV and figures. It computes only summaries.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// document is an answer as labelled lines, tables and paragraphs, in order. It is written as text, or as a
// part of a page.
type document struct {
	Title  string
	Lead   string // the answer in a sentence, first on a page
	Blocks []block
}

// block is a run of labelled lines, a table (it has heads), or a paragraph, "" for a gap.
type block struct {
	Lines [][2]string
	Table
	Text string

	Headless bool // a table's heads are not written as text
}

// Table has a row of cells below its heads.
type Table struct {
	Heads []head
	Rows  [][]string
}

// names are the names of the columns.
func (t *Table) names() (names []string) {
	for _, h := range t.Heads {
		names = append(names, h.Name())
	}
	return names
}

// head is the head of a column. Cells are aligned left if it begins with "<", else right; spaces before or
// after its name reserve width for later cells.
type head string

// Left reports whether cells are aligned left.
func (h head) Left() bool { return strings.HasPrefix(string(h), "<") }

// Name is the displayed name.
func (h head) Name() string { return strings.TrimSpace(strings.TrimPrefix(string(h), "<")) }

// line adds a labelled line, unless its text is empty.
func (d *document) line(label, format string, args ...any) {
	text, last := fmt.Sprintf(format, args...), len(d.Blocks)-1
	if text == "" {
		return
	}
	if last < 0 || d.Blocks[last].Lines == nil {
		d.Blocks, last = append(d.Blocks, block{}), last+1
	}
	d.Blocks[last].Lines = append(d.Blocks[last].Lines, [2]string{label, text})
}

func (d *document) paragraph(text string) { d.Blocks = append(d.Blocks, block{Text: text}) }

func (d *document) gap() { d.paragraph("") }

func (d *document) table(heads []head, rows [][]string) {
	d.Blocks = append(d.Blocks, block{Table: Table{heads, rows}})
}

// Result is the result of a command.
type Result interface{ document() *document }

// detailed is a Result with a longer document.
type detailed interface{ details() *document }

// more is the longer document of a result, or nil.
func more(a Result) *document {
	if d, has := a.(detailed); has {
		return d.details()
	}
	return nil
}

// WriteText writes a result for a terminal, with all its numbers if verbose.
func WriteText(w io.Writer, a Result, verbose bool) error {
	d := a.document()
	if verbose {
		d = cmp.Or(more(a), d)
	}
	return d.writeText(w)
}

func (d *document) writeText(w io.Writer) error {
	var text strings.Builder
	for _, b := range d.Blocks {
		for _, l := range b.Lines {
			fmt.Fprintf(&text, "%-15s %s\n", l[0], l[1])
		}
		switch {
		case b.Heads != nil:
			b.writeTable(&text)
		case b.Lines == nil:
			fmt.Fprintln(&text, b.Text)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// writeTable writes a table with columns as wide as their heads and their widest cells.
func (b *block) writeTable(text *strings.Builder) {
	lines, widths := append([][]string{b.names()}, b.Rows...), make([]int, len(b.Heads))
	for i, h := range b.Heads {
		widths[i] = utf8.RuneCountInString(strings.TrimPrefix(string(h), "<"))
		for _, cells := range lines {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		widths[i] *= either(h.Left(), -1, 1)
	}
	for _, cells := range lines[either(b.Headless, 1, 0):] {
		line := ""
		for i, cell := range cells {
			line += fmt.Sprintf("%*s  ", widths[i], cell)
		}
		fmt.Fprintln(text, strings.TrimRight(line, " "))
	}
}

// RowResult is a Result with a table that is printed row by row during the computation. R is a row's type.
type RowResult[R any] interface {
	Result
	above() *document // printed before the rows
	heads() []head    // with the widths of later rows
	cells(row R) []string
	below() *document // printed after the rows
}

// WriteRow prints one row in columns as wide as their heads; above and heads come before the first row. A
// wider cell shifts the rest of its line.
func WriteRow[R any](w io.Writer, of RowResult[R], row R, first bool) error {
	d := &document{}
	if first {
		d = of.above()
		d.table(of.heads(), nil)
	}
	d.table(of.heads(), [][]string{of.cells(row)})
	d.Blocks[len(d.Blocks)-1].Headless = true
	return d.writeText(w)
}

// WriteEnd prints below, after all rows.
func WriteEnd[R any](w io.Writer, of RowResult[R]) error { return of.below().writeText(w) }

// rowDocument is a document with all of its rows.
func rowDocument[R any](of RowResult[R], rows []R) *document {
	d, below := of.above(), of.below()
	d.table(of.heads(), each(rows, of.cells))
	d.Lead, d.Blocks = below.Lead, append(d.Blocks, below.Blocks...)
	return d
}

// each is the image of every element of a list.
func each[T, R any](list []T, image func(T) R) (images []R) {
	for _, t := range list {
		images = append(images, image(t))
	}
	return images
}
