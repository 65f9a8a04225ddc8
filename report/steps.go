package report

import (
	"fmt"
	"io"

	"bootbench/bench"
)

// StepTimes is the answer of steps.
type StepTimes struct{ Rows []bench.StepsRow }

// Title names the experiment.
func (s *StepTimes) Title() string { return "Where the time of a solve goes" }

// WriteText writes all rows.
func (s *StepTimes) WriteText(w io.Writer) error { return s.sheet().writeText(w) }

func (s *StepTimes) sheet() *sheet {
	p := &sheet{}
	for _, l := range [][2]string{
		{"steps", "all; nocoarse: without a start from a factor of low rank; nofollow: without small moves of all of G; double: nor single precision; nonewton: without Newton's method; exact: exact refreshes only"},
		{"total s", "seconds of the theory, to the left-out error; exact, single, follow, updates (of low rank): of them in moving G"},
		{"limit s", "seconds of all of G once, n^3 flops, at the rate of dgemm in the same process"},
	} {
		p.line(l[0], "%s", l[1])
	}
	p.gap()
	var cells [][]string
	for _, r := range s.Rows {
		cells = append(cells, stepsCells(r))
	}
	p.table(stepsColumns(), cells)
	return p
}

func stepsColumns() []column {
	return []column{
		{head: "data", left: true}, {head: "n"}, {head: "steps", left: true}, {head: "total s"}, {head: "exact"}, {head: "single"}, {head: "follow"},
		{head: "updates"}, {head: "rest"}, {head: "refreshes"}, {head: "limit s"}, {head: "error"}, {head: "status", left: true},
	}
}

func stepsCells(r bench.StepsRow) []string {
	return []string{ShortName(r.Data), fmt.Sprint(r.N), r.Steps, seconds(r.TotalS), seconds(r.ExactS), seconds(r.SingleS), seconds(r.FollowS), seconds(r.WoodburyS),
		seconds(r.RestS), fmt.Sprint(r.Refreshes.Exact + r.Refreshes.Single + r.Refreshes.Follow + r.Refreshes.Woodbury), seconds(r.LimitS), number(r.Error), r.Status}
}

// WriteStepsCSV writes a line per row.
func WriteStepsCSV(w io.Writer, rows []bench.StepsRow) error { return writeRows(w, rows) }

// StepsFigures are bars for every way of moving G, in panels side by side for the
// sizes of a data set.
func StepsFigures(rows []bench.StepsRow) []*Figure {
	var figures []*Figure
	for i, r := range rows {
		switch {
		case i == 0 || r.Data != rows[i-1].Data:
			figures = append(figures, &Figure{
				Name: "steps-" + fileName(ShortName(r.Data)), Title: ShortName(r.Data) + ": where the time goes",
				Caption: "Time of a solve with all steps and with some left out, over the time that all of G once takes at the rate of dgemm (the line).",
			})
		case r.N == rows[i-1].N:
			continue
		}
		f := figures[len(figures)-1]
		f.Panels = append(f.Panels, stepsPanel(rows[i:], len(f.Panels) == 0))
	}
	return figures
}

// stepsPanel stacks the parts of each of the first rows, those of one model.
func stepsPanel(rows []bench.StepsRow, first bool) Panel {
	p := Panel{Title: fmt.Sprintf("%s, n = %d", ShortName(rows[0].Data), rows[0].N), X: Axis{Min: 0.4, Max: 0.6}, Legend: NoLegend}
	if first {
		p.Y.Label, p.Legend = "time / (n^3 flops at dgemm's rate)", TopLeft
	}
	parts := []Series{{Label: "the rest"}, {Label: "low-rank updates"}, {Label: "small moves"}, {Label: "single precision"}, {Label: "double precision"}}
	for _, r := range rows {
		if r.Data != rows[0].Data || r.N != rows[0].N {
			break
		}
		x := float64(len(p.X.Ticks) + 1)
		p.X.Ticks, p.X.Max = append(p.X.Ticks, Tick{At: x, Label: r.Steps}), x+0.6
		height := 0.0
		spent := []float64{r.RestS, r.WoodburyS, r.FollowS, r.SingleS, r.ExactS}
		for i := len(parts) - 1; i >= 0; i-- { // from the ground up; the highest is drawn first
			height += spent[i] / r.LimitS
			parts[i].point(x, height)
		}
	}
	for i := range parts {
		parts[i].Mark, parts[i].Colour = Columns, i
	}
	p.Series = append(parts, Series{Mark: Level, Y: []float64{1}, Colour: len(parts)})
	return p
}
