// Package report turns results into what is read: JSON documents, text tables,
// CSV and pictures. It computes nothing but summaries of what it is given.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// document is what a reader gets of an answer: labelled lines, tables and
// paragraphs, in order. It is written as text, or as a part of a page.
type document struct {
	Title  string // in a few words
	Lead   string // the answer in a sentence, which begins a page
	Blocks []block
}

// block is a run of labelled lines, a table (it has heads), or a paragraph, "" for a gap.
type block struct {
	Lines [][2]string
	Heads []head
	Rows  [][]string
	Text  string
}

// head is that of a column. Cells are aligned left if it begins with "<", else right; spaces before or after
// its name make room for wider cells, where these are not known yet.
type head string

// Left reports whether cells are aligned left.
func (h head) Left() bool { return strings.HasPrefix(string(h), "<") }

// Name is what readers see.
func (h head) Name() string { return strings.TrimSpace(strings.TrimPrefix(string(h), "<")) }

func (d *document) line(label, format string, args ...any) {
	last := len(d.Blocks) - 1
	if last < 0 || d.Blocks[last].Lines == nil {
		d.Blocks, last = append(d.Blocks, block{}), last+1
	}
	d.Blocks[last].Lines = append(d.Blocks[last].Lines, [2]string{label, fmt.Sprintf(format, args...)})
}

func (d *document) paragraph(text string) { d.Blocks = append(d.Blocks, block{Text: text}) }

func (d *document) gap() { d.paragraph("") }

func (d *document) table(heads []head, rows [][]string) {
	d.Blocks = append(d.Blocks, block{Heads: heads, Rows: rows})
}

// Answer is what a command has computed, in a form for readers.
type Answer interface{ document() *document }

// detailed is an Answer that has more numbers than a person asks for.
type detailed interface{ details() *document }

// more has all numbers of an answer; nil if its document has.
func more(a Answer) *document {
	if d, has := a.(detailed); has {
		return d.details()
	}
	return nil
}

// WriteText writes an answer for a terminal, with all its numbers if verbose.
func WriteText(w io.Writer, a Answer, verbose bool) error {
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

// writeTable writes a table with columns as wide as their widest cells.
func (b *block) writeTable(text *strings.Builder) {
	lines, widths := append([][]string{names(b.Heads)}, b.Rows...), make([]int, len(b.Heads))
	for i, h := range b.Heads {
		width := 0
		for _, cells := range lines {
			width = max(width, utf8.RuneCountInString(cells[i]))
		}
		widths[i] = either(h.Left(), -width, width)
	}
	for _, cells := range lines {
		text.WriteString(lineOf(widths, cells))
	}
}

func names(heads []head) (names []string) {
	for _, h := range heads {
		names = append(names, h.Name())
	}
	return names
}

// lineOf is one line of a table; negative widths are of columns aligned left. A cell wider than its column
// shifts the rest of its line.
func lineOf(widths []int, cells []string) string {
	var line strings.Builder
	for i, cell := range cells {
		fmt.Fprintf(&line, "%*s  ", widths[i], cell)
	}
	return strings.TrimRight(line.String(), " ") + "\n"
}

// RowDocument is an Answer with a table whose rows can be printed while they
// are computed. R is what a row is made of.
type RowDocument[R any] interface {
	Answer
	Figures() []*Figure
	WriteCSV(w io.Writer) error // a line per row

	above() *document // what the rows are about
	heads() []head    // with room for rows that are not known yet
	cells(row R) []string
	below() *document // once all rows are known
}

// WriteHead prints what is above the rows of a document, and their heads.
func WriteHead[R any](w io.Writer, of RowDocument[R]) error {
	if err := of.above().writeText(w); err != nil {
		return err
	}
	return writeLine(w, of, names(of.heads()))
}

// WriteRow prints one row.
func WriteRow[R any](w io.Writer, of RowDocument[R], row R) error {
	return writeLine(w, of, of.cells(row))
}

// writeLine prints cells in columns as wide as their heads.
func writeLine[R any](w io.Writer, of RowDocument[R], cells []string) error {
	var widths []int
	for _, h := range of.heads() {
		width := utf8.RuneCountInString(string(h))
		widths = append(widths, either(h.Left(), 1-width, width))
	}
	_, err := io.WriteString(w, lineOf(widths, cells))
	return err
}

// WriteEnd prints what is below the rows, all of which the document holds by now.
func WriteEnd[R any](w io.Writer, of RowDocument[R]) error { return of.below().writeText(w) }

// rowDocument is a document with all of its rows.
func rowDocument[R any](of RowDocument[R], rows []R) *document {
	d := of.above()
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = of.cells(r)
	}
	d.table(of.heads(), cells)
	below := of.below()
	d.Lead, d.Blocks = below.Lead, append(d.Blocks, below.Blocks...)
	return d
}
