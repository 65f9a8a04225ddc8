package main

import (
	"fmt"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
)

// estimators judges every estimate of a classifier's error on DATA by held-out
// data over many splits.
func (a *app) estimators(spec model.Spec, splits int, seed uint64) error {
	switch spec.Loss.(type) {
	case loss.HardMargin, loss.Hinge:
	default:
		return usage.Errorf("--estimators judges support vector classifiers: --loss hard or hinge, not %s",
			spec.Loss.Name())
	}
	if splits < 2 {
		return usage.Errorf("--splits is %d, must be at least 2", splits)
	}
	j, err := bench.CompareEstimators(a.ctx, spec, bench.EstimatorSettings{
		Train: spec.Set.N() / 2, Splits: splits, Seed: seed,
		Progress: func(done, total int) {
			a.console.Progress(fmt.Sprintf("split %d of %d", done, total), done,
				total)
		},
	})
	if err != nil {
		return err
	}
	doc := &report.EstimatorComparison{Command: "compare", EstimatorComparison: *j, Cost: a.cost(report.Times{})}
	return a.deliver(answer{document: doc, page: report.Page{Answers: []report.Document{doc},
		Figures: doc.Figures()}})
}
