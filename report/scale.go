package report

import (
	"fmt"
	"io"

	"bootbench/bench"
)

// Scale is the answer of scale.
type Scale struct {
	Data []string // names of the data sets to come
	Rows []bench.ScaleRow
}

// Title names the experiment.
func (s *Scale) Title() string { return "The theory across N" }

// Lead is empty: sentences on the growth are below the table.
func (s *Scale) Lead() []string { return nil }

// WriteCSV writes a line per row.
func (s *Scale) WriteCSV(w io.Writer) error { return writeRows(w, s.Rows) }

func (s *Scale) document() *document {
	d := &document{}
	rowTable(d, s, s.Rows)
	d.gap()
	for _, text := range s.growth() {
		d.paragraph(text)
	}
	d.blocks = append(d.blocks, s.head().blocks...)
	return d
}

func (s *Scale) head() *document {
	d := &document{}
	d.legend(
		[2]string{"kernel s", "seconds of the kernel matrix, or of its low-rank factor"},
		[2]string{"solve s", "seconds of the theory; sweep s: of one sweep of its iteration"},
		[2]string{"products", "products with G o G, for the variances"},
		[2]string{"error", "left-out error by the theory"},
		[2]string{"error off", "relative difference to the exact engine; var off: median of that of the variances per point"},
	)
	return d
}

func (s *Scale) columns() []column {
	return []column{
		{head: "data", width: nameWidth(s.Data), left: true}, {head: "engine", width: 7, left: true},
		{head: "n", width: 6}, {head: "rank", width: 5},
		{head: "kernel s", width: 8}, {head: "solve s", width: 8}, {head: "sweep s", width: 8},
		{head: "refreshes", width: 9}, {head: "products", width: 8},
		{head: "memory", width: 11}, {head: "error", width: 9}, {head: "error off", width: 9},
		{head: "var off", width: 8},
	}
}

func (*Scale) cells(r bench.ScaleRow) []string {
	rank, errorOff, varianceOff := "-", "-", "-"
	if r.Rank > 0 {
		rank = fmt.Sprint(r.Rank)
	}
	if r.Compared {
		errorOff, varianceOff = fmt.Sprintf("%.2g%%", 100*r.ErrorOff), fmt.Sprintf("%.2g%%", 100*r.VarianceOff)
	}
	return []string{ShortName(r.Data), r.Engine, fmt.Sprint(r.N), rank, seconds(r.GramS), seconds(r.SolveS),
		seconds(r.SweepS),
		fmt.Sprint(r.Refreshes.Exact + r.Refreshes.Single), fmt.Sprint(r.Refreshes.Diagonal + r.Linear + r.Passes),
		mebibytes(r.PeakBytes), number(r.Error), errorOff, varianceOff}
}

func (s *Scale) end() *document {
	d := &document{}
	for _, text := range s.growth() {
		d.gap()
		d.paragraph(text)
	}
	return d
}

// growth says how time grows with n, for every data set and engine with at least
// two sizes, and what did not converge.
func (s *Scale) growth() []string {
	var all []string
	for _, group := range scaleGroups(s.Rows) {
		if text := growthSentence(group); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// Figures show seconds and memory against N.
func (s *Scale) Figures() []*Figure {
	if len(s.Rows) == 0 {
		return nil
	}
	times := Panel{X: Axis{Label: "examples n", Log: true}, Y: Axis{Label: "seconds", Log: true},
		Legend: TopLeft}
	memory := Panel{X: times.X, Y: Axis{Label: "GiB", Log: true}, Legend: NoLegend}
	for i, group := range scaleGroups(s.Rows) {
		seconds := Series{Label: ShortName(group[0].Data) + ", " + group[0].Engine, Mark: Joined, Colour: i}
		bytes := Series{Mark: Joined, Colour: i}
		for _, r := range group {
			seconds.point(float64(r.N), r.TotalS)
			bytes.point(float64(r.N), float64(r.PeakBytes)/(1<<30))
		}
		times.Series, memory.Series = append(times.Series, seconds), append(memory.Series, bytes)
	}
	return []*Figure{{
		Name: "scale", Title: "the theory across N",
		Caption: "Seconds of the whole solve, kernel matrix or factor included, and memory, of the exact and the low-rank engine.",
		Panels:  []Panel{times, memory},
	}}
}

// scaleGroups splits rows into runs of the same data set, loss and engine.
func scaleGroups(rows []bench.ScaleRow) [][]bench.ScaleRow {
	return runs(rows, func(a, b bench.ScaleRow) bool {
		return a.Data == b.Data && a.Loss == b.Loss &&
			a.Engine == b.Engine
	})
}

// growthSentence says how the time and memory of rows of one data set and engine
// grow with n; nothing where that is not determined.
func growthSentence(rows []bench.ScaleRow) string {
	first, last := rows[0], rows[len(rows)-1]
	text := ""
	if total, ok := bench.Growth(rows, func(r bench.ScaleRow) float64 { return r.TotalS }); ok {
		text = fmt.Sprintf("%s, %s engine, n = %d to %d: the time grows like n^%.2f", ShortName(last.Data),
			last.Engine, first.N, last.N, total)
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
