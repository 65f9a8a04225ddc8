package main

import (
	"context"
	"flag"
	"fmt"

	"bootbench/bench"
	"bootbench/internal/report"
)

// scaleStudy solves the theory for Gaussian process regression at growing N, with both
// engines. Nothing is retrained.
func scaleStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	exact := f.Int("exact", 5000, "largest `N` of the exact engine; N, N/2, ... down to 2500")
	low := f.Int("lowrank", 50000, "largest `N` of the low-rank engine")
	return func(ctx context.Context, _ []string, o *output) error {
		if *exact < 2 || *low < 2 {
			return fmt.Errorf("-exact is %d and -lowrank %d; both must be at least 2", *exact, *low)
		}
		cases, err := bench.DefaultScale(*exact, *low)
		if err != nil {
			return err
		}
		tasks, err := bench.ScaleTasks(cases, bench.Settings{})
		if err != nil {
			return err
		}
		rows, err := bench.Run(ctx, tasks)
		if err != nil {
			return err
		}
		return writeScale(o, rows)
	}
}

func writeScale(o *output, rows []bench.ScaleRow) error {
	var cells [][]string
	for _, r := range rows {
		errorOff, varianceOff := "-", "-"
		if r.Compared {
			errorOff, varianceOff = fmt.Sprintf("%.2g%%", 100*r.ErrorOff), fmt.Sprintf("%.2g%%", 100*r.VarianceOff)
		}
		cells = append(cells, []string{report.ShortName(r.Data), r.Engine, fmt.Sprint(r.N), fmt.Sprint(r.Rank),
			seconds(r.GramS), seconds(r.SolveS), seconds(r.SweepS),
			fmt.Sprint(r.Refreshes.Exact + r.Refreshes.Single), fmt.Sprint(r.Refreshes.Diagonal + r.Linear + r.Passes),
			fmt.Sprintf("%.1f", float64(r.PeakBytes)/(1<<20)), number(r.Error), errorOff, varianceOff, r.Status})
	}
	if err := o.table([]string{"data", "engine", "n", "rank", "kernel s", "solve s", "sweep s", "refreshes",
		"products", "MiB", "error", "error off", "var off", "status"}, cells); err != nil {
		return err
	}
	groups := bench.Groups(rows, func(a, b bench.ScaleRow) bool {
		return a.Data == b.Data &&
			a.Engine == b.Engine
	})
	for _, group := range groups {
		if p, ok := bench.Growth(group, func(r bench.ScaleRow) float64 { return r.TotalS }); ok {
			fmt.Fprintf(o, "%s, %s engine: time grows like n^%.2f\n", report.ShortName(group[0].Data),
				group[0].Engine, p)
		}
	}
	if err := csv(o, "scale.csv", rows); err != nil {
		return err
	}
	return o.figures(scaleFigure(groups))
}

// scaleFigure shows seconds and memory against N.
func scaleFigure(groups [][]bench.ScaleRow) *report.Figure {
	times := report.Panel{X: report.Axis{Label: "examples n", Log: true},
		Y: report.Axis{Label: "seconds", Log: true}}
	memory := report.Panel{X: times.X, Y: report.Axis{Label: "GiB", Log: true}}
	for i, group := range groups {
		seconds := report.Series{Label: report.ShortName(group[0].Data) + ", " + group[0].Engine,
			Mark: report.Joined, Colour: i}
		bytes := report.Series{Mark: report.Joined, Colour: i}
		for _, r := range group {
			seconds.Add(float64(r.N), r.TotalS)
			bytes.Add(float64(r.N), float64(r.PeakBytes)/(1<<30))
		}
		times.Series, memory.Series = append(times.Series, seconds), append(memory.Series, bytes)
	}
	return &report.Figure{
		Name: "scale", Title: "the theory across N", Panels: []report.Panel{times, memory},
		Caption: "Seconds of the whole solve, kernel matrix or factor included, and memory, of the exact and the " +
			"low-rank engine.",
	}
}
