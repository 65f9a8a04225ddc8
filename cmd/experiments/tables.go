package main

import (
	"fmt"
	"math"

	"bootbench/bench"
	"bootbench/bench/paper"
	"bootbench/report"
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

// writeTimes sets the theory's time beside that of single trainings, as both papers do.
func writeTimes(o *output, rows []bench.CompareRow) error {
	fmt.Fprintln(o, "Time of the theory at S = N against single trainings. M03 claims at most 15 "+
		"retrainings (all S "+
		"rows) for N <= 500 and 25 for N <= 2500; M04 claims less than one training on the data for broad kernels.")
	var cells [][]string
	for _, r := range rows {
		naive, ratio := "-", "-"
		if r.NaiveFitS > 0 {
			naive, ratio = seconds(r.NaiveFitS), seconds(r.NaiveFitsEquivalent)
		}
		cells = append(cells, []string{report.ShortName(r.Data), r.Loss, fmt.Sprint(r.N), seconds(r.TheoryS),
			seconds(r.FitS), seconds(r.ResampleFitS), naive, seconds(r.TheoryS / r.FitS), seconds(r.FitsEquivalent),
			ratio})
	}
	if err := csv(o, "times.csv", rows); err != nil {
		return err
	}
	return o.table([]string{"data", "loss", "n", "theory s", "full fit s", "merged fit s", "naive fit s",
		"theory / full", "/ merged", "/ naive"}, cells)
}

// writeLeaveOneOut is the table of the lecture on leave-one-out.
func writeLeaveOneOut(o *output, rows []paper.LeaveOneOutRow) error {
	fmt.Fprintln(o, "Fast leave-one-out of soft-margin classifiers with bias, C = 1. The lecture reports "+
		"0.58% of the "+
		"trainings and 32 s on Reuters (n = 6451), 20.42% and 235 s on WebKB (2092), 2.56% and 1132 s on "+
		"Ohsumed (10000).")
	var cells [][]string
	for _, r := range rows {
		kernel := fmt.Sprintf("rbf, gamma %v/d", r.GammaD)
		if r.LinearKernel {
			kernel = "linear"
		}
		cells = append(cells, []string{report.ShortName(r.Data), fmt.Sprint(r.N), kernel,
			fmt.Sprintf("%.2f%%", 100*r.Retrained), seconds(r.FastS), seconds(r.ExactS), seconds(r.TrainS),
			fmt.Sprint(r.Errors), fmt.Sprint(r.ExactErrors), fmt.Sprint(r.Approximate), fmt.Sprint(r.XiAlpha)})
	}
	if err := csv(o, "leave-one-out.csv", rows); err != nil {
		return err
	}
	return o.table([]string{"data", "n", "kernel", "retrained", "fast s", "exact s", "one training s",
		"fast errors",
		"exact", "approx", "xi-alpha"}, cells)
}
