package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/bench"
	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
)

// smallest is the least number of examples that compare halves DATA down to.
const smallest = 250

func compareCommand(a *app) *cobra.Command {
	var c compareFlags
	cmd := &cobra.Command{
		Use:   "compare [DATA...]",
		Short: "The theory against naive bootstrap retraining across N: time, error, memory",
		Long: `compare sets the theory against retraining on the same examples in the same
process: the time of the theory, in seconds and in single bootstrap fits; the
left-out error of both; how far the theory's variances are off; and how many
retrainings, and how much time, it takes to be as accurate.

Without DATA it takes the Boston housing data, four classification sets with hard
margins and synthetic regression (friedman1) at several sizes, in less than a
minute. With a list of ratios it draws learning curves. Rows are printed as they are
finished, and kept when the program is interrupted. The memory is that of the
theory; the kernel matrix, which both sides need, is in none of the times.

With --models two models are compared instead, those of the answers that estimate has
written with --json A.json and --json B.json: compare houses.csv --models A.json B.json.`,
		Example: `  bootbench compare
  bootbench compare boston crabs --sizes 60,120 --resamples 40 --out results
  bootbench compare crabs --ratio 0.5,1,2 --sizes 200 --resamples 40
  bootbench compare houses.csv --loss square --noise 0.5 --resamples 40
  bootbench compare synthetic:friedman1,n=120 --loss square --noise 1 --sizes 60,120 --resamples 40 --json -`,
		RunE: func(cmd *cobra.Command, args []string) error { return runCompare(a, cmd, args, &c) },
	}
	c.register(cmd.Flags())
	registerOut(cmd, "compare.csv")
	a.tasks.registerShard(cmd.Flags())
	return cmd
}

// runCompare compares what the flags say: models, or the theory with retraining.
func runCompare(a *app, cmd *cobra.Command, args []string, c *compareFlags) error {
	switch {
	case c.model.engine.engine == model.ScaLAPACK.String():
		return usage.Errorf("--engine scalapack has no part in compare, whose retraining needs the whole " +
			"kernel matrix; estimate, curve, grid and predict take it")
	case cmd.Flags().Changed("models") && a.tasks.folder != "":
		return usage.Errorf("--journal has no part in --models")
	case cmd.Flags().Changed("models"):
		return compareModels(a, c, args)
	}
	settings, err := c.settings(cmd.Flags())
	if err != nil {
		return err
	}
	cases, err := compareCases(a, c, args, settings.Workers)
	if err != nil {
		return err
	}
	if err := a.openJournal(cmd, args, choice{}); err != nil {
		return err
	}
	return compareRows(a, cases, settings)
}

// compareFlags are those of the command compare.
type compareFlags struct {
	model      modelFlags
	ratio      string
	scheme     schemeFlags
	sizes      []int
	resampling resamplingFlags
	solver     solverFlags
	models     []string
}

func (c *compareFlags) register(f *pflag.FlagSet) {
	c.model.register(f)
	f.StringVar(&c.ratio, "ratio", "1",
		"size of a resample over that of DATA, S/N, above 0: one `NU`, a list (0.5,1,2), or FROM:TO:COUNT in "+
			"equal factors")
	c.scheme.registerScheme(f)
	f.IntSliceVar(&c.sizes, "sizes", nil,
		"numbers of examples `N[,N...]` to compare on, each the first of one shuffle, at least 2 and at most "+
			"those of DATA; "+
			"default with DATA: all and halves down to 250; without: 250,500,1000,2000 (pure Go: 250,500,1000)")
	c.resampling.register(f, bench.DefaultResamples)
	c.solver.register(f)
	c.model.registerEngine(f)
	f.StringSliceVar(&c.models, "models", nil,
		"compare two models on DATA instead: `FILES` A.json,B.json are answers of estimate or retrain; the "+
			"difference of their left-out errors on the same resamples, with its interval and p-value; default: "+
			"theory against retraining")
}

// settings are those of the comparison.
func (c *compareFlags) settings(f *pflag.FlagSet) (s bench.Settings, err error) {
	solve, err := c.solver.settings()
	if err != nil {
		return s, err
	}
	retraining, err := c.resampling.settings(f)
	if err != nil {
		return s, err
	}
	if f.Changed("sizes") && len(c.sizes) == 0 {
		return s, usage.Errorf("--sizes names no size")
	}
	return bench.Settings{
		Resamples: retraining.Resamples, Seed: c.resampling.seed, Workers: retraining.Workers,
		Tolerance: solve.Tolerance, MaxSweeps: solve.MaxSweeps, Scheme: c.scheme.scheme, Folds: c.scheme.folds,
	}, nil
}

// compareCases are the cases at every ratio, checked before the work.
func compareCases(a *app, c *compareFlags, paths []string, workers int) ([]bench.Case, error) {
	list, err := values.Ratios(c.ratio)
	if err != nil {
		return nil, err
	}
	for _, ratio := range list {
		if err := c.scheme.check(ratio); err != nil {
			return nil, err
		}
	}
	cases, err := dataCases(a, &c.model, paths, c.sizes)
	if err != nil {
		return nil, err
	}
	cases = atRatios(cases, list)
	for i := range cases {
		if err := c.scheme.checkCase(&cases[i], workers); err != nil {
			return nil, err
		}
	}
	return cases, nil
}

// atRatios repeats each case at every ratio.
func atRatios(cases []bench.Case, ratios []float64) []bench.Case {
	var all []bench.Case
	for _, c := range cases {
		for _, ratio := range ratios {
			c.Ratio = ratio
			all = append(all, c)
		}
	}
	return all
}

// dataCases are those of DATA, or the ones that need no arguments.
func dataCases(a *app, m *modelFlags, args []string, sizes []int) ([]bench.Case, error) {
	if len(args) == 0 {
		return defaultCases(m, sizes)
	}
	var cases []bench.Case
	for _, path := range args {
		set, err := loadData(a, m, path)
		if err != nil {
			return nil, err
		}
		preset, _ := model.PresetFor(set)
		spec, _, err := m.spec(set, preset)
		if err != nil {
			return nil, err
		}
		c := bench.Case{Spec: spec, Sizes: slices.Clone(sizes)}
		if len(sizes) == 0 {
			c.Sizes = halves(set.N())
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// defaultCases are those without DATA.
func defaultCases(m *modelFlags, sizes []int) ([]bench.Case, error) {
	for _, name := range modelFlagNames {
		if m.given(name) {
			return nil, usage.Errorf("--%s is for DATA, and none is given", name)
		}
	}
	if len(sizes) == 0 {
		sizes = []int{250, 500, 1000, 2000}
		if blas.Bound().Name() == "gonum" {
			sizes = sizes[:3]
		}
	}
	if err := checkSizes(sizes, math.MaxInt32); err != nil {
		return nil, err
	}
	cases, err := bench.DefaultCases(sizes)
	for i := range cases {
		cases[i].Spec.MaxBytes = int64(m.maxMemory)
		if err := m.engine.apply(&cases[i].Spec); err != nil {
			return nil, err
		}
	}
	return cases, err
}

// halves is n and its halves down to smallest, ascending.
func halves(n int) []int {
	sizes := []int{n}
	for n/2 >= smallest {
		n /= 2
		sizes = append(sizes, n)
	}
	slices.Reverse(sizes)
	return sizes
}

func checkSizes(sizes []int, most int) error {
	for _, n := range sizes {
		if n < 2 || n > most {
			return usage.Errorf("--sizes: %d examples are not between 2 and %d", n, most)
		}
	}
	return nil
}

// checkCase refuses, before the work, sizes that DATA does not have, resamples
// without a draw and matrices that would not fit.
func (r *schemeFlags) checkCase(c *bench.Case, workers int) error {
	n := c.Spec.Set.N()
	if len(c.Sizes) == 0 {
		c.Sizes = []int{n}
	}
	if err := checkSizes(c.Sizes, n); err != nil {
		return fmt.Errorf("%s: %w", c.Spec.Set.Name, err)
	}
	if _, err := r.of(c.Ratio, slices.Min(c.Sizes)); err != nil {
		return err
	}
	largest := float64(slices.Max(c.Sizes))
	drawn := largest * -math.Expm1(-c.Ratio)
	rows := largest * c.Ratio // of the naive fit
	need := 8 * (2*largest*largest + max(float64(workers)*drawn*drawn, rows*rows+drawn*drawn,
		3*math.Pow(min(largest, 4000), 2)))
	return linalg.CheckMemory(int64(min(need, math.MaxInt64/2)), c.Spec.MaxBytes,
		fmt.Sprintf("comparing on %.0f examples of %s", largest, c.Spec.Set.Name))
}

// compareRows runs the cases.
func compareRows(a *app, cases []bench.Case, settings bench.Settings) error {
	settings.Progress = func(p bench.Progress) {
		a.console.Progress(fmt.Sprintf("row %d of %d, n = %d: %s", p.Row, p.Rows, p.N, p.Phase), p.Done, p.Total)
	}
	tasks, err := bench.CompareTasks(cases, settings)
	if err != nil {
		return err
	}
	c := &report.Comparison{Data: titles(cases)}
	return runRows(a, rowRun[bench.CompareRow]{
		tasks: tasks, document: c, csv: "compare.csv",
		status: func(row bench.CompareRow) string { return row.Status },
		finish: func(rows []bench.CompareRow, _ bool) (any, []string) {
			c.Rows = rows
			return rows, nil
		},
	})
}

// titles are the names of the cases.
func titles(cases []bench.Case) []string {
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.Title()
	}
	return names
}
