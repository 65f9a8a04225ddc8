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

	Headless bool // a table's heads are not written as text
}

// head is that of a column. Cells are aligned left if it begins with "<", else right; spaces before or after
// its name make room for cells that are not known yet.
type head string

// Left reports whether cells are aligned left.
func (h head) Left() bool { return strings.HasPrefix(string(h), "<") }

// Name is what readers see.
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

// writeTable writes a table with columns as wide as their heads and their widest cells.
func (b *block) writeTable(text *strings.Builder) {
	var names []string
	for _, h := range b.Heads {
		names = append(names, h.Name())
	}
	lines, widths := append([][]string{names}, b.Rows...), make([]int, len(b.Heads))
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

// RowAnswer is an Answer with a table whose rows, made of an R each, can be printed while they are computed.
type RowAnswer[R any] interface {
	Answer
	Figures() []*Figure
	WriteCSV(w io.Writer) error // a line per row

	above() *document // what the rows are about
	heads() []head    // with room for rows that are not known yet
	cells(row R) []string
	below() *document // once all rows are known
}

// WriteRow prints one row in columns as wide as their heads, which come before the first row, below what the
// rows are about. A wider cell shifts the rest of its line.
func WriteRow[R any](w io.Writer, of RowAnswer[R], row R, first bool) error {
	d, heads := &document{}, of.heads()
	if first {
		d = of.above()
		d.table(heads, nil)
	}
	d.Blocks = append(d.Blocks, block{Heads: heads, Rows: [][]string{of.cells(row)}, Headless: true})
	return d.writeText(w)
}

// WriteEnd prints what is below the rows, all of which the answer holds by now.
func WriteEnd[R any](w io.Writer, of RowAnswer[R]) error { return of.below().writeText(w) }

// rowDocument is a document with all of its rows.
func rowDocument[R any](of RowAnswer[R], rows []R) *document {
	d, below := of.above(), of.below()
	d.table(of.heads(), each(rows, of.cells))
	d.Lead, d.Blocks = below.Lead, append(d.Blocks, below.Blocks...)
	return d
}

// each are the lines of a table, one for each of a list.
func each[T any](list []T, cells func(T) []string) (lines [][]string) {
	for _, t := range list {
		lines = append(lines, cells(t))
	}
	return lines
}
