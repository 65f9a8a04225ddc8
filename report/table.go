package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// column of a text table. Cells are aligned right unless left is set. A cell
// wider than its column shifts the rest of its line.
type column struct {
	head  string
	width int
	left  bool
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

// StreamTable prints the rows of a document as they are computed.
type StreamTable[R any] struct {
	w       io.Writer
	of      RowDocument[R]
	columns []column
}

// NewStreamTable prints what is above the rows of a document.
func NewStreamTable[R any](w io.Writer, of RowDocument[R]) (*StreamTable[R], error) {
	t := &StreamTable[R]{w, of, of.columns()}
	if err := of.head().writeText(w); err != nil {
		return t, err
	}
	return t, writeCells(w, t.columns, heads(t.columns))
}

// Row prints one row.
func (t *StreamTable[R]) Row(row R) error { return writeCells(t.w, t.columns, t.of.cells(row)) }

// End prints what is below the rows, all of which the document holds by now.
func (t *StreamTable[R]) End() error { return t.of.end().writeText(t.w) }

// rowTable adds the table of a document to the page d.
func rowTable[R any](d *document, of RowDocument[R], rows []R) {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = of.cells(r)
	}
	d.table(of.columns(), cells)
}

// heads are the heads of columns.
func heads(columns []column) []string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.head
	}
	return all
}

// writeCells prints one line of a table.
func writeCells(w io.Writer, columns []column, cells []string) error {
	var b strings.Builder
	for i, cell := range cells {
		c := columns[i]
		pad := strings.Repeat(" ", max(0, c.width-utf8.RuneCountInString(cell)))
		if i > 0 {
			b.WriteString("  ")
		}
		if c.left {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	return err
}

// writeTable prints a table with columns as wide as their widest cells.
func writeTable(w io.Writer, columns []column, rows [][]string) error {
	for i := range columns {
		columns[i].width = utf8.RuneCountInString(columns[i].head)
		for _, r := range rows {
			columns[i].width = max(columns[i].width, utf8.RuneCountInString(r[i]))
		}
	}
	if err := writeCells(w, columns, heads(columns)); err != nil {
		return err
	}
	for _, r := range rows {
		if err := writeCells(w, columns, r); err != nil {
			return err
		}
	}
	return nil
}

// nameWidth is the width of a column of data sets of the given names.
func nameWidth(data []string) int {
	width := len("data")
	for _, name := range data {
		width = max(width, utf8.RuneCountInString(ShortName(name)))
	}
	return width
}

// number writes a figure with the digits that a reader can use.
func number[T ~float64](v T) string {
	if v != v {
		return "unknown"
	}
	return fmt.Sprintf("%.5g", v)
}

// WithError writes a figure with its standard error; either may be unknown, NaN.
func WithError[T ~float64](v, se T) string {
	switch {
	case v != v:
		return number(v)
	case se != se:
		return number(v) + ", standard error unknown"
	}
	return fmt.Sprintf("%s, standard error %.2g", number(v), se)
}

// threeDigits writes a figure for a cell of a map.
func threeDigits(v float64) string { return fmt.Sprintf("%.3g", v) }

// seconds writes a wall time in seconds.
func seconds(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// mebibytes writes a number of bytes.
func mebibytes(b int64) string { return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20)) }

// join lists the parts that are not empty.
func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ", ")
}
