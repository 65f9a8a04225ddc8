package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/report"
	"bootbench/solver"
)

func stepsCommand(s *session) *cobra.Command {
	var sizes []int
	cmd := &cobra.Command{
		Use:   "steps",
		Short: "Where the time of a solve goes, and what each kind of step brings",
		Long: `steps solves synthetic regression (friedman1) at several sizes and two hard and two
soft margins, with all ways of moving G = (K^-1 + diag d)^-1 and with each left out,
in turns, and splits the time of the fastest run of each.`,
		Example: `  bootbench steps --sizes 60,120 --out speed`,
		Args:    noArguments,
	}
	cmd.Flags().IntSliceVar(&sizes, "sizes", []int{500, 1000, 2000}, "numbers of examples `N[,N...]` of the synthetic regression, at least 2")
	s.registerOut(cmd, "steps.csv")
	cmd.RunE = func(*cobra.Command, []string) error {
		if len(sizes) == 0 {
			return usagef("--sizes names no size")
		}
		if err := checkSizes(sizes, math.MaxInt32); err != nil {
			return err
		}
		cases, err := bench.DefaultSteps(sizes)
		if err != nil {
			return err
		}
		return s.steps(cases)
	}
	return cmd
}

// steps runs the cases, then prints and writes what was finished.
func (s *session) steps(cases []bench.Case) error {
	rows, err := bench.Steps(s.ctx, cases, bench.Settings{Progress: func(p bench.Progress) {
		s.bars.show(fmt.Sprintf("%s, n = %d", p.Data, p.N), p.Row-1, p.Rows)
	}}, nil)
	if err != nil && (len(rows) == 0 || !s.isInterrupt(err)) {
		return err
	}
	if err != nil {
		s.interrupted()
	}
	for _, r := range rows {
		if r.Status != solver.Converged.String() && s.status == exitDone {
			s.status = exitNotConverged
		}
	}
	answer := &report.StepTimes{Rows: rows}
	if err := s.text(answer.WriteText); err != nil {
		return err
	}
	if err := s.document(rows); err != nil {
		return err
	}
	if err := s.file("steps.csv", func(w io.Writer) error { return report.WriteStepsCSV(w, rows) }); err != nil {
		return err
	}
	return s.page(&report.Page{Answers: []report.Document{answer}, Figures: report.StepsFigures(rows), Files: []string{"steps.csv"}})
}
