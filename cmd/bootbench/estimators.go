package main

import (
	"fmt"

	"bootbench/bench"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
)

// estimators judges every estimate of a classifier's error on DATA by held-out
// data over many splits.
func (s *session) estimators(spec model.Spec, splits int, seed uint64) error {
	switch spec.Loss.(type) {
	case loss.HardMargin, loss.Hinge:
	default:
		return usagef("--estimators judges support vector classifiers: --loss hard or hinge, not %s", spec.Loss.Name())
	}
	if splits < 2 {
		return usagef("--splits is %d, must be at least 2", splits)
	}
	j, err := bench.CompareEstimators(s.ctx, spec, bench.EstimatorSettings{
		Train: spec.Set.N() / 2, Splits: splits, Seed: seed,
		Progress: func(done, total int) { s.bars.show(fmt.Sprintf("split %d of %d", done, total), done, total) },
	})
	if err != nil {
		return err
	}
	a := &report.EstimatorComparison{Command: "compare", EstimatorComparison: *j, Cost: s.cost(report.Times{})}
	if err := s.print(a); err != nil {
		return err
	}
	return s.page(&report.Page{Answers: []report.Document{a}, Figures: a.Figures()})
}
