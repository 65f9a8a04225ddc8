package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// column of a text table. Cells stand to the right unless left is set. A cell
// wider than its column shifts the rest of its line.
type column struct {
	head  string
	width int
	left  bool
}

// lines are the rows of a table whose widths are known before its cells, so
// that each row can be printed as it comes.
type lines struct {
	w       io.Writer
	columns []column
}

func (t lines) header() error {
	heads := make([]string, len(t.columns))
	for i, c := range t.columns {
		heads[i] = c.head
	}
	return t.row(heads...)
}

func (t lines) row(cells ...string) error {
	var b strings.Builder
	for i, cell := range cells {
		c := t.columns[i]
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
	_, err := fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	return err
}

// table prints a table with columns as wide as their widest cells.
func table(w io.Writer, columns []column, rows [][]string) error {
	for i := range columns {
		columns[i].width = utf8.RuneCountInString(columns[i].head)
		for _, r := range rows {
			columns[i].width = max(columns[i].width, utf8.RuneCountInString(r[i]))
		}
	}
	t := lines{w, columns}
	if err := t.header(); err != nil {
		return err
	}
	for _, r := range rows {
		if err := t.row(r...); err != nil {
			return err
		}
	}
	return nil
}

// number writes a figure with the digits that a reader can use.
func number(v float64) string { return fmt.Sprintf("%.5g", v) }

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
