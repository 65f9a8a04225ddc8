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
	t := &ScaleTable{lines{w, scaleColumns(width)}}
	if err := scaleLegend().writeText(w); err != nil {
		return t, err
	}
	return t, t.lines.header()
}

func scaleColumns(width int) []column {
	return []column{
		{head: "data", width: width, left: true}, {head: "engine", width: 7, left: true}, {head: "n", width: 6}, {head: "rank", width: 5},
		{head: "kernel s", width: 8}, {head: "solve s", width: 8}, {head: "sweep s", width: 8}, {head: "refreshes", width: 9}, {head: "products", width: 8},
		{head: "memory", width: 11}, {head: "error", width: 9}, {head: "error off", width: 9}, {head: "var off", width: 8},
	}
}

// scaleLegend says what the columns mean.
func scaleLegend() *sheet {
	p := &sheet{}
	for _, l := range [][2]string{
		{"kernel s", "seconds of the kernel matrix, or of its low-rank factor"},
		{"solve s", "seconds of the theory; sweep s: of one sweep of its iteration"},
		{"products", "products with G o G, for the variances"},
		{"error", "left-out error by the theory"},
		{"error off", "relative difference to the exact engine; var off: median of that of the variances per point"},
	} {
		p.line(l[0], "%s", l[1])
	}
	p.gap()
	return p
}

// Scale is the answer of scale.
type Scale struct{ Rows []bench.ScaleRow }

// Title names the experiment.
func (s *Scale) Title() string { return "The theory across N" }

// WriteText writes all rows.
func (s *Scale) WriteText(w io.Writer) error { return s.sheet().writeText(w) }

func (s *Scale) sheet() *sheet {
	p := &sheet{}
	var cells [][]string
	for _, r := range s.Rows {
		cells = append(cells, scaleCells(r))
	}
	p.table(scaleColumns(0), cells)
	p.gap()
	for _, group := range scaleGroups(s.Rows) {
		if text := Growth(group); text != "" {
			p.paragraph(text)
		}
	}
	p.blocks = append(p.blocks, scaleLegend().blocks...)
	return p
}

// WriteScaleCSV writes a line per row.
func WriteScaleCSV(w io.Writer, rows []bench.ScaleRow) error { return writeRows(w, rows) }

// ScaleFigures show seconds and memory against N.
func ScaleFigures(rows []bench.ScaleRow) []*Figure {
	if len(rows) == 0 {
		return nil
	}
	times := Panel{X: Axis{Label: "examples n", Log: true}, Y: Axis{Label: "seconds", Log: true}, Legend: TopLeft}
	memory := Panel{X: times.X, Y: Axis{Label: "GiB", Log: true}, Legend: NoLegend}
	for i, group := range scaleGroups(rows) {
		seconds := Series{Label: ShortName(group[0].Data) + ", " + group[0].Engine, Mark: Joined, Colour: i}
		bytes := Series{Mark: Joined, Colour: i}
		for _, r := range group {
			seconds.point(float64(r.N), r.TotalS)
			bytes.point(float64(r.N), float64(r.PeakBytes)/(1<<30))
		}
		times.Series, memory.Series = append(times.Series, seconds), append(memory.Series, bytes)
	}
	return []*Figure{{
		Name: "scale", Title: "the theory across N", Caption: "Seconds of the whole solve, kernel matrix or factor included, and memory, of the exact and the low-rank engine.",
		Panels: []Panel{times, memory},
	}}
}

// Row prints one row.
func (t *ScaleTable) Row(r bench.ScaleRow) error { return t.lines.row(scaleCells(r)...) }

func scaleCells(r bench.ScaleRow) []string {
	rank, errorOff, varianceOff := "-", "-", "-"
	if r.Rank > 0 {
		rank = fmt.Sprint(r.Rank)
	}
	if r.Compared {
		errorOff, varianceOff = fmt.Sprintf("%.2g%%", 100*r.ErrorOff), fmt.Sprintf("%.2g%%", 100*r.VarianceOff)
	}
	return []string{ShortName(r.Data), r.Engine, fmt.Sprint(r.N), rank, seconds(r.GramS), seconds(r.SolveS), seconds(r.SweepS),
		fmt.Sprint(r.Refreshes.Exact + r.Refreshes.Single), fmt.Sprint(r.Refreshes.Diagonal + r.Linear + r.Passes), mebibytes(r.PeakBytes), number(r.Error), errorOff, varianceOff}
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
