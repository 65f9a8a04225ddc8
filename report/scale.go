package report

import (
	"fmt"
	"io"
	"unicode/utf8"

	"bootbench/bench"
)

// ScaleTable prints the rows of a scale experiment as they come.
type ScaleTable struct{ lines lines }

// NewScaleTable prints the head of the table for data sets of the given names,
// with what its columns mean.
func NewScaleTable(w io.Writer, data []string) (*ScaleTable, error) {
	width := len("data")
	for _, name := range data {
		width = max(width, utf8.RuneCountInString(ShortName(name)))
	}
	t := &ScaleTable{lines{w, []column{
		{head: "data", width: width, left: true}, {head: "engine", width: 7, left: true}, {head: "n", width: 6}, {head: "rank", width: 5},
		{head: "kernel s", width: 8}, {head: "solve s", width: 8}, {head: "sweep s", width: 8}, {head: "refreshes", width: 9}, {head: "products", width: 8},
		{head: "memory", width: 11}, {head: "error", width: 9}, {head: "error off", width: 9}, {head: "var off", width: 8},
	}}}
	_, err := fmt.Fprint(w, `kernel s            seconds of the kernel matrix, or of its low-rank factor
solve s, sweep s    seconds of the theory, and of one sweep of its iteration
products            products with G o G, for the variances
error               left-out error by the theory
error off, var off  relative difference to the exact engine: of the left-out error, median of the variances per point

`)
	if err != nil {
		return t, err
	}
	return t, t.lines.header()
}

// Row prints one row.
func (t *ScaleTable) Row(r bench.ScaleRow) error {
	rank, errorOff, varianceOff := "-", "-", "-"
	if r.Rank > 0 {
		rank = fmt.Sprint(r.Rank)
	}
	if r.Compared {
		errorOff, varianceOff = fmt.Sprintf("%.2g%%", 100*r.ErrorOff), fmt.Sprintf("%.2g%%", 100*r.VarianceOff)
	}
	return t.lines.row(ShortName(r.Data), r.Engine, fmt.Sprint(r.N), rank, seconds(r.GramS), seconds(r.SolveS), seconds(r.SweepS),
		fmt.Sprint(r.Refreshes.Exact), fmt.Sprint(r.Refreshes.Diagonal+r.Linear+r.Passes), mebibytes(r.PeakBytes), number(r.Error), errorOff, varianceOff)
}

// End says how time grows with n, for every data set and engine with at least
// two sizes, and what did not converge.
func (t *ScaleTable) End(rows []bench.ScaleRow) error {
	for _, group := range scaleGroups(rows) {
		if text := Growth(group); text != "" {
			if _, err := fmt.Fprintf(t.lines.w, "\n%s\n", text); err != nil {
				return err
			}
		}
	}
	return nil
}

// scaleGroups splits rows into runs of the same data set, loss and engine.
func scaleGroups(rows []bench.ScaleRow) [][]bench.ScaleRow {
	var groups [][]bench.ScaleRow
	for i, r := range rows {
		if i == 0 || r.Data != rows[i-1].Data || r.Loss != rows[i-1].Loss || r.Engine != rows[i-1].Engine {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, r)
	}
	return groups
}

// Growth says in a sentence how the time and memory of rows of one data set and
// engine grow with n; nothing where they do not tell.
func Growth(rows []bench.ScaleRow) string {
	first, last := rows[0], rows[len(rows)-1]
	text := ""
	if total, ok := bench.Growth(rows, func(r bench.ScaleRow) float64 { return r.TotalS }); ok {
		text = fmt.Sprintf("%s, %s engine, n = %d to %d: the time grows like n^%.2f", ShortName(last.Data), last.Engine, first.N, last.N, total)
		if sweep, ok := bench.Growth(rows, func(r bench.ScaleRow) float64 { return r.SweepS }); ok {
			text += fmt.Sprintf(", that of a sweep like n^%.2f", sweep)
		}
		if memory, ok := bench.Growth(rows, func(r bench.ScaleRow) float64 { return float64(r.PeakBytes) }); ok {
			text += fmt.Sprintf(", the memory like n^%.2f", memory)
		}
		text += "."
	}
	for _, r := range rows {
		if r.Status != "converged" {
			text += fmt.Sprintf(" At n = %d the theory did not converge (%s).", r.N, r.Status)
		}
	}
	return text
}
