package main

import (
	"io"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/report"
	"bootbench/loss"
)

// checkTargets refuses several targets where only one has an answer.
func (o *options) checkTargets(command string) error {
	if command != "estimate" {
		return usage.Errorf("--target %s: several targets are for estimate; %s takes one", o.target, command)
	}
	if about, err := loss.About(o.loss); o.loss != "" && (err != nil || about.Task == loss.Classification) {
		return usage.Errorf("--target %s: several targets are numbers, and --loss %s is for labels", o.target,
			o.loss)
	}
	if o.testLoss != "" && o.testLoss != (loss.SquareTest{}).Name() {
		return usage.Errorf("--target %s: errors of several targets are squares, not --test-loss %s", o.target,
			o.testLoss)
	}
	for _, name := range []string{"metrics", "quantiles", "covariance", "journal", "shard", "method"} {
		if o.Given(name) {
			return usage.Errorf("--%s is for one target: run estimate for each of %s", name, o.target)
		}
	}
	return nil
}

// estimateTargets estimates for several targets, and prints.
func (a *app) estimateTargets(o *options, j *answer.Job, s answer.Settings) error {
	r, err := j.EstimateTargets(a.ctx, s)
	if err != nil {
		return err
	}
	g := given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status}
	if o.verbose {
		g.text = func(w io.Writer) error {
			for _, name := range r.Names {
				if err := report.WriteText(w, r.Targets[name]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return a.deliver(g)
}
