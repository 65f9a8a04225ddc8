package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"bootbench/bench"
	"bootbench/internal/report"
)

// accuracyStudy solves and retrains 168 models: seven data sets, eight losses, two kernels,
// ratios 0.5, 1 and 2.
func accuracyStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	var s bench.Settings
	names := f.String("data", "",
		"only these `sets`, of crabs,wisconsin,sonar,pima,boston,friedman1,waves; default: all")
	// 5000 resamples keep the noise of left-out errors at a third of a percent of them.
	f.IntVar(&s.Resamples, "resamples", 5000, "retrainings of each model")
	f.Uint64Var(&s.Seed, "seed", 0, "of the resamples")
	f.IntVar(&s.Workers, "workers", 0, "retrainings at a time; default: one for each processor")
	return func(ctx context.Context, _ []string, o *output) error {
		cases, err := bench.AccuracyCases()
		if err != nil {
			return err
		}
		if *names != "" {
			if cases, err = casesOf(cases, strings.Split(*names, ",")); err != nil {
				return err
			}
		}
		tasks, err := bench.AccuracyTasks(cases, s)
		if err != nil {
			return err
		}
		rows, err := bench.Run(ctx, tasks)
		if err != nil {
			return err
		}
		return writeAccuracy(o, rows, s.Resamples)
	}
}

// casesOf are the cases of the named sets.
func casesOf(cases []bench.Case, names []string) ([]bench.Case, error) {
	var kept []bench.Case
	for _, name := range names {
		before := len(kept)
		for _, c := range cases {
			if report.ShortName(c.Title()) == name {
				kept = append(kept, c)
			}
		}
		if len(kept) == before {
			return nil, fmt.Errorf("-data: the survey has no set %q", name)
		}
	}
	return kept, nil
}

func writeAccuracy(o *output, rows []bench.AccuracyRow, resamples int) error {
	fmt.Fprint(o, `theory          left-out error by the theory
retrained +-    left-out error by retraining, with its standard error
error off       theory / retrained - 1
var ratio       median over points of the theory's variance over that of retraining
var rms         root mean square relative difference of the variances, noise of retraining
                subtracted; "-" where that noise hides it

`)
	var cells [][]string
	for _, r := range rows {
		rms := "-"
		if r.VarianceError > 0 {
			rms = fmt.Sprintf("%.1f%%", 100*r.VarianceError)
		}
		cells = append(cells, []string{report.ShortName(r.Data), fmt.Sprint(r.N), r.Loss, fmt.Sprint(r.Width),
			fmt.Sprint(r.Ratio), number(r.TheoryError), number(r.RetrainError), fmt.Sprintf("%.2g", r.RetrainSE),
			percent(r.ErrorOff()), fmt.Sprintf("%.3f", r.VarianceRatio), rms, r.Status})
	}
	if err := o.table([]string{"data", "n", "loss", "gamma d", "ratio", "theory", "retrained", "+-", "error off",
		"var ratio", "var rms", "status"}, cells); err != nil {
		return err
	}
	s := bench.SummarizeAccuracy(rows)
	fmt.Fprintf(o, "\n%d of %d solves converged. Median over the cells: left-out error off by %.1f%%, ratio "+
		"of the variances per point off by %.1f%% (root mean square over points %.1f%%), against %d "+
		"retrainings a cell. In %d cells the errors differ by at most two standard errors of retraining; "+
		"the largest difference is %.0f%%.\n",
		s.Converged, s.Cells, 100*s.MedianErrorOff, 100*s.MedianVariance, 100*s.MedianRMS, resamples, s.WithinTwoSE,
		100*s.WorstErrorOff)
	if err := csv(o, "accuracy.csv", rows); err != nil {
		return err
	}
	return o.figures(accuracyFigure(rows))
}

// accuracyFigure sets the theory's errors against those of retraining, and shows its
// variances, loss by loss.
func accuracyFigure(rows []bench.AccuracyRow) *report.Figure {
	errors := report.Panel{X: report.Axis{Label: "left-out error by retraining, relative to the largest of " +
		"its set"},
		Y: report.Axis{Label: "theory over retraining"}}
	variances := report.Panel{X: errors.X, Y: report.Axis{Label: "median ratio of variances"}}
	largest := map[string]float64{}
	for _, r := range rows {
		largest[r.Data] = max(largest[r.Data], float64(r.RetrainError))
	}
	var losses []string
	for _, r := range rows {
		i := slices.Index(losses, r.Loss)
		if i < 0 {
			i, losses = len(losses), append(losses, r.Loss)
			errors.Series = append(errors.Series, report.Series{Label: r.Loss, Mark: report.Dots, Colour: i})
			variances.Series = append(variances.Series, report.Series{Mark: report.Dots, Colour: i})
		}
		x := float64(r.RetrainError) / largest[r.Data]
		errors.Series[i].AddErr(x, 1+r.ErrorOff(), 2*float64(r.RetrainSE/r.RetrainError))
		variances.Series[i].Add(x, r.VarianceRatio)
	}
	return &report.Figure{
		Name: "accuracy", Title: "the theory beside retraining",
		Caption: "Every cell of the survey: the theory's left-out error over that of retraining with two " +
			"standard " +
			"errors of the latter, and the median over points of the ratio of the variances.",
		Panels: []report.Panel{errors, variances},
	}
}
