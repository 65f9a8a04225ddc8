package main

import (
	"fmt"
	"math"

	"bootbench/bench/paper"
)

// writeDistances sets the L1 distances of M03 figure 5 beside what M03 reports.
func writeDistances(o *output, l *paper.PredictorDensities) error {
	fmt.Fprintln(o, "L1 distances of the laws on the Boston housing data, S = N. M03 reports 86.2% up to "+
		"0.1, 2% "+
		"from 0.2 on, largest 0.3109; it does not say from how many resamples.")
	with := func(v, se, scale float64) string {
		if math.IsNaN(se) {
			return fmt.Sprintf("%.3g", scale*v)
		}
		return fmt.Sprintf("%.3g +- %.1g", scale*v, scale*se)
	}
	var cells [][]string
	for _, c := range l.Choices {
		cells = append(cells, []string{c.Scheme, fmt.Sprint(c.Offset), fmt.Sprint(c.Resamples),
			with(c.Close, c.CloseSE, 100), with(c.Far, c.FarSE, 100), with(c.Largest, c.LargestSE, 1)})
	}
	return o.table([]string{"scheme", "edge", "resamples", "<= 0.1, %", ">= 0.2, %", "largest"}, cells)
}
