package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
)

// smallest is the least number of examples that compare halves DATA down to.
const smallest = 250

func compareCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var v solverFlags
	var b retrainFlags
	var sizes []int
	var estimators bool
	var splits int
	var ratio string
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
theory; the kernel matrix, which both sides need, is in none of the times.`,
		Example: `  bootbench compare
  bootbench compare --sizes 60,120 --resamples 40 --out results
  bootbench compare crabs --ratio 0.5,1,2 --sizes 200 --resamples 40
  bootbench compare crabs --loss hinge --C 1 --estimators --splits 3
  bootbench compare houses.csv --loss square --noise 0.5 --resamples 40
  bootbench compare synthetic:friedman1,n=120 --loss square --noise 1 --sizes 60,120 --resamples 40 --json -`,
	}
	f := cmd.Flags()
	m.register(f)
	f.StringVar(&ratio, "ratio", "1", "size of a resample over that of DATA, S/N, above 0: one `NU`, a list (0.5,1,2), or FROM:TO:COUNT in equal factors")
	r.registerScheme(f)
	f.IntSliceVar(&sizes, "sizes", nil, "numbers of examples `N[,N...]` to compare on, each the first of one shuffle, at least 2 and at most those of DATA; "+
		"default with DATA: all and halves down to 250; without: 250,500,1000,2000 (pure Go: 250,500,1000)")
	b.register(f, bench.DefaultResamples)
	v.registerLimits(f)
	m.registerEngine(f)
	f.BoolVar(&estimators, "estimators", false, "judge estimates of a classifier's error on DATA instead (leave-one-out, cross-validation, analytic bootstrap), by held-out data over random halves; default: theory against retraining")
	f.IntVar(&splits, "splits", bench.DefaultSplits, "--estimators: number of random splits, an integer `K` of at least 2")
	s.registerOut(cmd, "compare.csv")
	s.study.register(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		solve, err := v.settings()
		if err != nil {
			return err
		}
		if m.engine.engine == model.ScaLAPACK.String() {
			return usagef("--engine scalapack has no part in compare, whose retraining needs the whole kernel matrix; estimate, curve, grid and predict take it")
		}
		if estimators {
			return s.compareEstimators(&m, args, splits, b.seed)
		}
		list, err := ratios(ratio)
		if err != nil {
			return err
		}
		for _, ratio := range list {
			if err := r.check(ratio); err != nil {
				return err
			}
		}
		retraining, err := b.settings(f)
		if err != nil {
			return err
		}
		if f.Changed("sizes") && len(sizes) == 0 {
			return usagef("--sizes names no size")
		}
		cases, err := s.cases(&m, args, sizes)
		if err != nil {
			return err
		}
		cases = atRatios(cases, list)
		for i := range cases {
			if err := r.checkCase(&cases[i], retraining.Workers); err != nil {
				return err
			}
		}
		if err := s.split(); err != nil {
			return err
		}
		return s.compare(cases, bench.Settings{
			Resamples: retraining.Resamples, Seed: retraining.Seed, Workers: retraining.Workers,
			Tolerance: solve.Tolerance, MaxSweeps: solve.MaxSweeps, Scheme: r.scheme, Folds: r.folds, Do: s.study.Do,
		})
	}
	return cmd
}

// compareEstimators reads the one DATA and judges on it.
func (s *session) compareEstimators(m *modelFlags, args []string, splits int, seed uint64) error {
	for _, flag := range []string{"ratio", "scheme", "folds", "sizes", "resamples", "workers", "engine", "rank-tol", "max-rank", "tol", "max-sweeps", "shard", "shards"} {
		if m.flags.Changed(flag) {
			return usagef("--%s has no part in --estimators", flag)
		}
	}
	if len(args) != 1 {
		return usagef("--estimators takes one DATA, not %d", len(args))
	}
	set, err := m.load(s, args[0])
	if err != nil {
		return err
	}
	spec, _, err := m.spec(set)
	if err != nil {
		return err
	}
	spec.Storage = model.Exact
	return s.estimators(spec, splits, seed)
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

// cases are those of DATA, or the ones that need no arguments.
func (s *session) cases(m *modelFlags, args []string, sizes []int) ([]bench.Case, error) {
	if len(args) == 0 {
		return defaultCases(m, sizes)
	}
	var cases []bench.Case
	for _, path := range args {
		set, err := m.load(s, path)
		if err != nil {
			return nil, err
		}
		spec, _, err := m.spec(set)
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
			return nil, usagef("--%s is for DATA, and none is given", name)
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
			return usagef("--sizes: %d examples are not between 2 and %d", n, most)
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
	need := 8 * (2*largest*largest + max(float64(workers)*drawn*drawn, rows*rows+drawn*drawn, 3*math.Pow(min(largest, 4000), 2)))
	return linalg.CheckMemory(int64(min(need, math.MaxInt64/2)), c.Spec.MaxBytes, fmt.Sprintf("comparing on %.0f examples of %s", largest, c.Spec.Set.Name))
}

// compare runs the cases, prints each row as it is finished, and writes all.
func (s *session) compare(cases []bench.Case, settings bench.Settings) error {
	c := &report.Comparison{}
	for _, x := range cases {
		c.Data = append(c.Data, x.Title())
	}
	var table *report.StreamTable[bench.CompareRow]
	err := s.text(func(w io.Writer) (err error) {
		table, err = report.NewStreamTable(w, c)
		return err
	})
	if err != nil {
		return err
	}
	settings.Progress = func(p bench.Progress) {
		s.bars.show(fmt.Sprintf("row %d of %d, n = %d: %s", p.Row, p.Rows, p.N, p.Phase), p.Done, p.Total)
	}
	var printing error
	rows, err := bench.Compare(s.ctx, cases, settings, func(row bench.CompareRow) {
		if row.Status != solver.Converged.String() && s.status == exitDone {
			s.status = exitNotConverged
		}
		if e := s.text(func(io.Writer) error { return table.Row(row) }); printing == nil {
			printing = e
		}
	})
	switch {
	case printing != nil:
		return printing
	case err != nil && len(rows) == 0:
		return err
	case err == nil && s.study.partial():
		return s.told()
	case err == nil:
		if err := s.study.complete(); err != nil {
			return err
		}
	}
	c.Rows = rows
	if err := s.endCompare(c, table); err != nil {
		return err
	}
	if err != nil && !s.isInterrupt(err) {
		s.status = exitFailed
		return err
	}
	if err != nil {
		s.interrupted()
	}
	return nil
}

// endCompare prints and writes what was finished.
func (s *session) endCompare(c *report.Comparison, table *report.StreamTable[bench.CompareRow]) error {
	if err := s.text(func(io.Writer) error { return table.End() }); err != nil {
		return err
	}
	if err := s.document(c.Rows); err != nil {
		return err
	}
	if err := s.file("compare.csv", c.WriteCSV); err != nil {
		return err
	}
	return s.page(&report.Page{
		Lead: c.Lead(), Answers: []report.Document{c}, Figures: c.Figures(), Files: []string{"compare.csv"},
	})
}
