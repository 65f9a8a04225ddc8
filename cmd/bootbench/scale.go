package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/dataset"
	"bootbench/model"
	"bootbench/report"
)

func scaleCommand(a *app) *cobra.Command {
	var exact, low int
	var maxMemory values.Size
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
	f.IntVar(&exact, "exact", 5000,
		"largest number of examples `N` for the exact engine, at least 2; N, N/2, ... down to 2500")
	f.IntVar(&low, "lowrank", 50000, "the same for the low-rank engine")
	f.Var(&maxMemory, "max-memory",
		"memory that may be used, a number with unit (`SIZE`: 500MB, 8GiB); default: what the machine has left")
	registerOut(cmd, "scale.csv")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		cases, err := a.scaleCases(args, exact, low, int64(maxMemory))
		if err != nil {
			return err
		}
		return a.scale(cases)
	}
	return cmd
}

// scaleCases are the exact cases and then the low-rank ones of every data set.
func (a *app) scaleCases(paths []string, exact, low int, maxBytes int64) ([]bench.Case, error) {
	const most = 10_000_000
	for flag, n := range map[string]int{"exact": exact, "lowrank": low} {
		if n < 2 || n > most {
			return nil, usage.Errorf("--%s is %d, must be from 2 to %d", flag, n, most)
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
		set, err := dataset.Load(path, dataset.Options{MaxBytes: maxBytes, Stdin: a.stdin()})
		if err != nil {
			return nil, err
		}
		cases = append(cases, bench.UserCase(set, model.Exact, bench.Doubling(min(exact, set.N()))...),
			bench.UserCase(set, model.LowRank, bench.Doubling(min(low, set.N()))...))
	}
	for i := range cases {
		cases[i].Spec.MaxBytes = maxBytes
	}
	return cases, nil
}

// scale runs the cases.
func (a *app) scale(cases []bench.Case) error {
	tasks, err := bench.ScaleTasks(cases, bench.Settings{Progress: func(p bench.Progress) {
		a.console.Progress(fmt.Sprintf("%s, n = %d", p.Data, p.N), p.Row-1+p.Done, p.Rows)
	}})
	if err != nil {
		return err
	}
	c := &report.Scale{Data: titles(cases)}
	return runRows(a, rowRun[bench.ScaleRow]{
		tasks: tasks, document: c, csv: "scale.csv",
		status: func(row bench.ScaleRow) string { return row.Status },
		finish: func(rows []bench.ScaleRow, _ bool) (any, []string) {
			c.Rows = rows
			return rows, nil
		},
	})
}
