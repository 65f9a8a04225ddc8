package main

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"

	"bootbench/bench"
	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
)

// smallest is the least number of examples that compare halves DATA down to.
const smallest = 250

func compareCommand() *command {
	return &command{
		name: "compare",
		args: func(*options, []string) error { return nil },
		takes: slices.Concat(problemNames, engineNames, shardNames, []string{"ratio/list", "scheme", "folds",
			"sizes", "resamples", "seed", "workers", "models"}),
		defaults: map[string]string{"ratio": "1", "resamples": fmt.Sprint(bench.DefaultResamples)},
		out:      ", compare.csv",
		run:      runCompare,
	}
}

// runCompare compares what the flags say: models, or the theory with retraining.
func runCompare(a *app, o *options, data []string) error {
	switch {
	case o.engine == model.ScaLAPACK.String():
		return usage.Errorf("--engine scalapack has no part in compare, whose retraining needs the whole " +
			"kernel matrix; estimate, curve, grid and predict take it")
	case o.Given("models") && o.journal != "":
		return usage.Errorf("--journal has no part in --models")
	case o.Given("models"):
		return compareModels(a, o, data)
	case o.Given("sizes") && len(o.sizes) == 0:
		return usage.Errorf("--sizes names no size")
	}
	settings := bench.Settings{Resamples: o.resamples, Seed: o.seed, Tolerance: o.tol, MaxSweeps: o.maxSweeps,
		Workers: min(cmp.Or(o.workers, runtime.GOMAXPROCS(0)), o.resamples), Scheme: o.scheme, Folds: o.folds}
	cases, err := o.compareCases(a, data, settings.Workers)
	if err != nil {
		return err
	}
	if err := a.openJournal(choice{}); err != nil {
		return err
	}
	settings.Progress = a.console.Progress
	tasks, err := bench.CompareTasks(cases, settings)
	if err != nil {
		return err
	}
	c := &report.Comparison{}
	for _, of := range cases {
		c.Data = append(c.Data, of.Title())
	}
	return runRows(a, rowRun[bench.CompareRow]{
		tasks: tasks, document: c, csv: "compare.csv",
		status: func(row bench.CompareRow) string { return row.Status },
		finish: func(rows []bench.CompareRow, _ bool) (any, []string) {
			c.Rows = rows
			return rows, nil
		},
	})
}

// compareCases are the cases at every ratio, checked before the work.
func (o *options) compareCases(a *app, paths []string, workers int) (all []bench.Case, err error) {
	if err := o.checkScheme(o.ratios.List...); err != nil {
		return nil, err
	}
	cases, err := o.dataCases(a, paths)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		for _, ratio := range o.ratios.List {
			c.Ratio = ratio
			if err := o.checkCase(c, workers); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// dataCases are those of DATA, or the ones that need no arguments.
func (o *options) dataCases(a *app, data []string) (cases []bench.Case, err error) {
	if len(data) == 0 {
		return o.defaultCases()
	}
	for _, path := range data {
		set, err := a.loadData(o, path)
		if err != nil {
			return nil, err
		}
		p, err := o.problem(nil, set)
		if err != nil {
			return nil, err
		}
		c := bench.Case{Spec: p.spec, Sizes: slices.Clone(o.sizes)}
		if len(c.Sizes) == 0 {
			c.Sizes = halves(set.N())
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// defaultCases are those without DATA.
func (o *options) defaultCases() ([]bench.Case, error) {
	for _, name := range modelNames {
		if o.Given(name) {
			return nil, usage.Errorf("--%s is for DATA, and none is given", name)
		}
	}
	sizes := o.sizes
	if len(sizes) == 0 {
		sizes = []int{250, 500, 1000, 2000}
		if blas.Bound().Name() == "gonum" {
			sizes = sizes[:3]
		}
	}
	cases, err := bench.DefaultCases(sizes)
	for i := range cases {
		o.storage(&cases[i].Spec)
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

// checkCase refuses, before the work, matrices that would not fit.
func (o *options) checkCase(c bench.Case, workers int) error {
	largest := float64(c.Spec.Set.N())
	if len(c.Sizes) > 0 {
		largest = float64(slices.Max(c.Sizes))
	}
	drawn := largest * -math.Expm1(-c.Ratio)
	rows := largest * c.Ratio // of the naive fit
	need := 8 * (2*largest*largest + max(float64(workers)*drawn*drawn, rows*rows+drawn*drawn,
		3*math.Pow(min(largest, 4000), 2)))
	return linalg.CheckMemory(int64(min(need, math.MaxInt64/2)), c.Spec.MaxBytes,
		fmt.Sprintf("comparing on %.0f examples of %s", largest, c.Spec.Set.Name))
}
