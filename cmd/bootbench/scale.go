package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/dataset"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
)

func scaleCommand(s *session) *cobra.Command {
	var exact, low int
	var maxMemory size
	cmd := &cobra.Command{
		Use:   "scale [DATA...]",
		Short: "The exact and the low-rank engine across large N",
		Long: `scale solves the theory for Gaussian process regression at growing N, with the
exact and with the low-rank engine, and fits how time grows with N. Nothing is
retrained. Without DATA it runs on synthetic regression (waves); every DATA gets a
broad kernel (rbf, gamma 0.2/d, noise a tenth of the variance) on standardised
features and target.`,
		Example: `  bootbench scale --exact 300 --lowrank 1000
  bootbench scale houses.csv --exact 60 --lowrank 60`,
	}
	f := cmd.Flags()
	f.IntVar(&exact, "exact", 5000, "largest number of examples `N` for the exact engine, at least 2; N, N/2, ... down to 2500")
	f.IntVar(&low, "lowrank", 50000, "the same for the low-rank engine")
	f.Var(&maxMemory, "max-memory", "memory that may be used, a number with unit (`SIZE`: 500MB, 8GiB); default: what the machine has left")
	s.registerOut(cmd, "scale.csv")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		cases, err := s.scaleCases(args, exact, low, int64(maxMemory))
		if err != nil {
			return err
		}
		return s.scale(cases)
	}
	return cmd
}

// scaleCases are the exact cases and then the low-rank ones of every data set.
func (s *session) scaleCases(paths []string, exact, low int, maxBytes int64) ([]bench.Case, error) {
	const most = 10_000_000
	for flag, n := range map[string]int{"exact": exact, "lowrank": low} {
		if n < 2 || n > most {
			return nil, usagef("--%s is %d, must be from 2 to %d", flag, n, most)
		}
	}
	var cases []bench.Case
	if len(paths) == 0 {
		defaults, err := bench.DefaultScale(exact, low)
		if err != nil {
			return nil, err
		}
		cases = defaults
	}
	for _, path := range paths {
		set, err := dataset.Load(path, dataset.Options{MaxBytes: maxBytes, Stdin: interruptible{s.ctx, s.stdin}})
		if err != nil {
			return nil, err
		}
		cases = append(cases, bench.UserCase(set, model.Exact, bench.Doubling(min(exact, set.N()))...), bench.UserCase(set, model.LowRank, bench.Doubling(min(low, set.N()))...))
	}
	for i := range cases {
		cases[i].Spec.MaxBytes = maxBytes
	}
	return cases, nil
}

// scale runs the cases, prints each row as it is finished, and writes all.
func (s *session) scale(cases []bench.Case) error {
	answer := &report.Scale{}
	for _, c := range cases {
		answer.Data = append(answer.Data, c.Title())
	}
	var table *report.StreamTable[bench.ScaleRow]
	err := s.text(func(w io.Writer) (err error) {
		table, err = report.NewStreamTable(w, answer)
		return err
	})
	if err != nil {
		return err
	}
	var printing error
	rows, err := bench.Scale(s.ctx, cases, bench.Settings{Progress: func(p bench.Progress) {
		s.bars.show(fmt.Sprintf("%s, n = %d", p.Data, p.N), p.Row-1+p.Done, p.Rows)
	}}, func(r bench.ScaleRow) {
		if r.Status != solver.Converged.String() && s.status == exitDone {
			s.status = exitNotConverged
		}
		if e := s.text(func(io.Writer) error { return table.Row(r) }); printing == nil {
			printing = e
		}
	})
	if printing != nil {
		return printing
	}
	if err != nil && (len(rows) == 0 || !s.isInterrupt(err)) {
		return err
	}
	if err != nil {
		s.interrupted()
	}
	answer.Rows = rows
	return s.endScale(answer, table)
}

// endScale prints and writes what was finished.
func (s *session) endScale(answer *report.Scale, table *report.StreamTable[bench.ScaleRow]) error {
	if err := s.text(func(io.Writer) error { return table.End() }); err != nil {
		return err
	}
	if err := s.document(answer.Rows); err != nil {
		return err
	}
	if err := s.file("scale.csv", answer.WriteCSV); err != nil {
		return err
	}
	return s.page(&report.Page{Answers: []report.Document{answer}, Figures: answer.Figures(), Files: []string{"scale.csv"}})
}
