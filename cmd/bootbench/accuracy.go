package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/report"
)

// surveyResamples keep the noise of left-out errors at a third of a percent of them and
// the whole survey, whose fits are trained in batches, at minutes.
const surveyResamples = 5000

func accuracyCommand(a *app) *cobra.Command {
	var b resamplingFlags
	var r schemeFlags
	var only []string
	cmd := &cobra.Command{
		Use:   "accuracy",
		Short: "The theory beside retraining over data sets, losses, kernels and ratios",
		Long: `accuracy solves and retrains 168 models: seven data sets, eight losses, two
kernels, ratios 0.5, 1 and 2. A row for each tells the left-out error by both, the
theory's difference, and how far its variances per point are off.`,
		Example: `  bootbench accuracy --data crabs --resamples 20`,
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.StringSliceVar(&only, "data", nil,
		"only these sets, `NAME,NAME,...` of crabs, wisconsin, sonar, pima, boston, friedman1, waves; default: all")
	b.register(f, surveyResamples)
	r.registerScheme(f)
	registerOut(cmd, "accuracy.csv")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		retraining, err := b.settings(f)
		if err != nil {
			return err
		}
		if err := r.check(1); err != nil {
			return err
		}
		cases, err := bench.AccuracyCases()
		if err != nil {
			return err
		}
		if cases, err = casesOf(cases, only); err != nil {
			return err
		}
		return a.accuracy(cases, bench.Settings{
			Resamples: retraining.Resamples, Seed: retraining.Seed, Workers: retraining.Workers, Scheme: r.scheme,
			Folds: r.folds,
		})
	}
	return cmd
}

// casesOf are the cases of the named sets; all without names.
func casesOf(cases []bench.Case, names []string) ([]bench.Case, error) {
	if len(names) == 0 {
		return cases, nil
	}
	var kept []bench.Case
	for _, name := range names {
		before := len(kept)
		for _, c := range cases {
			if report.ShortName(c.Title()) == name {
				kept = append(kept, c)
			}
		}
		if len(kept) == before {
			return nil, usage.Errorf("--data: the survey has no set %q", name)
		}
	}
	return kept, nil
}

// accuracy runs the survey.
func (a *app) accuracy(cases []bench.Case, settings bench.Settings) error {
	settings.Progress = func(p bench.Progress) {
		a.console.Progress(fmt.Sprintf("%s, %s", p.Data, p.Phase), p.Row, p.Rows)
	}
	tasks, err := bench.AccuracyTasks(cases, settings)
	if err != nil {
		return err
	}
	c := &report.Accuracy{Command: "accuracy", Resamples: settings.Resamples, Seed: settings.Seed}
	return runRows(a, rowRun[bench.AccuracyRow]{
		tasks: tasks, document: c, csv: "accuracy.csv",
		finish: func(rows []bench.AccuracyRow, _ bool) (any, []string) {
			c.Cells, c.Summary, c.Cost = rows, bench.SummarizeAccuracy(rows), a.cost(report.Times{})
			return c, nil
		},
	})
}
