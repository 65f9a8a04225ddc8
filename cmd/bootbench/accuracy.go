package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/report"
)

// surveyResamples keep the noise of the median variance ratio of a set below one
// percent and the whole survey at minutes.
const surveyResamples = 400

func accuracyCommand(s *session) *cobra.Command {
	var b retrainFlags
	var r schemeFlags
	var only []string
	cmd := &cobra.Command{
		Use:   "accuracy",
		Short: "The theory beside retraining over data sets, losses, kernels and ratios",
		Long: `accuracy solves and retrains 168 models: seven data sets, eight losses, two
kernels, ratios 0.5, 1 and 2. A row for each tells the left-out error by both, the
theory's difference, and how far its variances per point are off.`,
		Example: `  bootbench accuracy --data crabs --resamples 20 --out survey`,
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.StringSliceVar(&only, "data", nil, "only these sets, `NAME,NAME,...` of crabs, wisconsin, sonar, pima, boston, friedman1, waves; default: all")
	b.register(f, surveyResamples)
	r.registerScheme(f)
	s.registerOut(cmd, "accuracy.csv")
	s.study.register(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
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
		if err := s.split(); err != nil {
			return err
		}
		return s.accuracy(cases, bench.Settings{
			Resamples: retraining.Resamples, Seed: retraining.Seed, Workers: retraining.Workers, Scheme: r.scheme, Folds: r.folds, Do: s.study.Do,
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
			return nil, usagef("--data: the survey has no set %q", name)
		}
	}
	return kept, nil
}

// accuracy runs the cells, prints each as it is finished, and writes all.
func (s *session) accuracy(cases []bench.Case, settings bench.Settings) error {
	a := &report.Accuracy{Command: "accuracy", Resamples: settings.Resamples, Seed: settings.Seed}
	var table *report.StreamTable[bench.AccuracyRow]
	err := s.text(func(w io.Writer) (err error) {
		table, err = report.NewStreamTable(w, a)
		return err
	})
	if err != nil {
		return err
	}
	settings.Progress = func(p bench.Progress) {
		s.bars.show(fmt.Sprintf("%s, %s", p.Data, p.Phase), p.Row, p.Rows)
	}
	var printing error
	cells, err := bench.Accuracy(s.ctx, cases, settings, func(c bench.AccuracyRow) {
		if e := s.text(func(io.Writer) error { return table.Row(c) }); printing == nil {
			printing = e
		}
	})
	if printing != nil {
		return printing
	}
	if err != nil && (len(cells) == 0 || !s.isInterrupt(err)) {
		return err
	}
	switch {
	case err != nil:
		s.interrupted()
	case s.study.partial():
		return s.told()
	default:
		if err := s.study.complete(); err != nil {
			return err
		}
	}
	a.Cells, a.Summary, a.Cost = cells, bench.SummarizeAccuracy(cells), s.cost(report.Times{})
	if err := s.text(func(io.Writer) error { return table.End() }); err != nil {
		return err
	}
	if err := s.document(a); err != nil {
		return err
	}
	if err := s.file("accuracy.csv", a.WriteCSV); err != nil {
		return err
	}
	return s.page(&report.Page{Lead: a.Lead(), Answers: []report.Document{a}, Figures: a.Figures(), Files: []string{"accuracy.csv"}})
}
