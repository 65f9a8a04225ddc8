package main

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
)

// checkJoint refuses several classes or targets if the command takes only one.
func (a *app) checkJoint(o *options, set *dataset.Set) error {
	if !answer.IsJoint(set) {
		return nil
	}
	command := a.command.name
	about, err := loss.About(o.loss)
	of, cure := "one target", fmt.Sprintf("run %s for each of %s", command, o.target)
	switch {
	case len(set.Levels()) > 2:
		of, cure = "numbers or two classes", "--positive LABEL sets one class against the others"
		if command == "compare" {
			return usage.Errorf("compare is for %s, and %s has %d classes: %s", of, set.Name,
				len(set.Levels()), cure)
		}
	case command == "compare" || command == "rows":
		return usage.Errorf("--target %s: %s takes one target", o.target, command)
	case o.loss != "" && (err != nil || about.Task == loss.Classification):
		return usage.Errorf("--target %s: several targets are numbers, and --loss %s is for labels", o.target,
			o.loss)
	case o.testLoss != "" && o.testLoss != (loss.SquareTest{}).Name():
		return usage.Errorf("--target %s: errors of several targets are squares, not --test-loss %s", o.target,
			o.testLoss)
	case o.Given("metrics"):
		return usage.Errorf("--metrics is for %s: %s", of, cure)
	}
	switch {
	case command == "grid" && o.by != tune.LeftOut && o.by != tune.Folds:
		return usage.Errorf("--by %s is for one target, numbers or two classes: cv and leftout compare several",
			o.by)
	case command == "train" && (o.format == libsvmFormat || o.loss == perceptronLoss):
		return usage.Errorf("several classes or targets are trained by a loss, into a file of --format json")
	}
	classes := len(set.Levels()) > 2
	exact := classes && slices.Contains([]string{"curve", "rows", "grid", "tune"}, command)
	none := []string{"quantiles", "covariance", "permutations", "interval", "residuals", "replicates"}
	switch {
	case command == "predict": // by a model trained once
		none = append(none, "journal", "shard", "ratio", "scheme", "refine", "accuracy", "blocks",
			"tol", "max-sweeps")
		if !o.Given("sample") {
			none = append(none, "seed")
		}
	case exact, command == "train":
		none = append(none, "tol", "max-sweeps")
	case command == "loo":
		none = append(none, "method")
	}
	if classes || command == "curve" {
		none = append(none, "level", "metrics")
	}
	if classes && o.testLoss != (loss.ZeroOne{}).Name() {
		none = append(none, "test-loss")
	}
	switch {
	case command == "predict" || command == "loo":
	case len(set.Levels()) <= 2 || o.multiclass == answer.OneAgainstOne:
		none = append(none, "nested", "refit-preprocessing")
	}
	for _, name := range none {
		if o.Given(name) {
			return usage.Errorf("--%s is for %s: %s", name, of, cure)
		}
	}
	return nil
}

// idle refuses flags that other flags make ineffective.
func (o *options) idle(command string) error {
	for _, rule := range []struct {
		when  bool
		why   string
		names []string
	}{
		{o.engine == model.Exact || o.engine == model.ScaLAPACK,
			"--engine " + o.engine.String() + " has no rank", []string{"rank-tol", "rank-error", "max-rank"}},
		{command == "grid" && o.by == tune.Folds,
			"--by cv trains in folds, without resamples and without the theory",
			[]string{"ratio", "scheme", "refine", "accuracy", "tol", "max-sweeps"}},
	} {
		for _, name := range rule.names {
			none := name == "refine" && o.asked.Refine.Resamples == 0 // states what holds
			if rule.when && o.Given(name) && !none {
				return usage.Errorf("--%s has no effect: %s", name, rule.why)
			}
		}
	}
	return nil
}

// tables are the files that never hold LIBSVM lines.
var tables = regexp.MustCompile(`\.(csv|tsv|npy|npz|parquet)(\.gz|\.zst)?$`)

// idleOn refuses flags that have no effect on a data set.
func (o *options) idleOn(set *dataset.Set, path string) error {
	about, _ := loss.About(o.loss)
	labels := !set.AreNumbers() || o.loss != "" && about.Task == loss.Classification
	switch {
	case o.Given("multiclass") && len(set.Levels()) <= 2:
		return usage.Errorf("--multiclass is for three classes or more, and the targets of %s are %s",
			set.Name, map[bool]string{true: "of two", false: "numbers"}[labels])
	case o.Given("zero-based") && tables.MatchString(path) && o.inputs == "":
		return usage.Errorf("--zero-based is for LIBSVM lines, and %s is a table", set.Name)
	case labels && o.Given("residuals"), labels && o.asked.Intervals.Of == answer.Estimator:
		return usage.Errorf("--interval and --residuals are for numbers: labels have probabilities")
	}
	return nil
}

// ask builds the machine of a problem, opens the journal for its exact fits, and delivers its answer.
func (a *app) ask(p *problem, question func(m answer.Machine) (report.Answer, error)) error {
	m, err := a.build(p)
	if err == nil {
		err = a.keepFits(m, p.choice)
	}
	if err != nil {
		return err
	}
	return a.answer(question(m))
}

// refining prepares a problem for an estimate and its exact resamples: their memory, and their journal.
func (a *app) refining(p *problem, wanted answer.Refinement) error {
	o := p.flags
	exact := loss.TraitsOf(p.spec.Loss).Proximal != nil
	if exact && wanted.Resamples > 0 {
		p.spec.Then = func(m *model.Model) int64 { return model.NeedToRefine(m, wanted.Resamples) }
	}
	switch kept := o.journal != "" || a.tasks.merging || o.shard.count > 0; {
	case !kept || answer.IsJoint(p.spec.Set): // several always use exact resamples
	case wanted.Resamples == 0:
		return usage.Errorf("--journal keeps the exact resamples of --refine, and there are none: give --refine " +
			"R, or do without --journal")
	case wanted.Accuracy > 0 && o.shard.count > 0:
		return usage.Errorf("--shard needs to know how many exact resamples there are, which --accuracy decides " +
			"on the way: give --refine R instead")
	case !exact:
		return usage.Errorf("--journal keeps exact resamples, which loss %s has none of: do without it",
			p.spec.Loss.Name())
	}
	return nil
}

// row is a complete estimate as a row of a table.
func (a *app) row(m answer.Machine, s answer.Settings) (*report.Estimate, error) {
	began := time.Now()
	r, err := m.Estimate(a.ctx, s)
	if err != nil {
		return nil, err
	}
	e := r.(report.Judgement).Judged()
	if err := a.ctx.Err(); err != nil && e.Status == answer.Cancelled { // an incomplete solve is not kept
		return nil, err
	}
	if e.Time.Solve == 0 {
		e.Time.Solve = time.Since(began).Seconds()
	}
	a.spent(&e.Cost)
	return e, nil
}
