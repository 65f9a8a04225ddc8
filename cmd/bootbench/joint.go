package main

import (
	"fmt"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
)

// joint reports whether a problem is of several classes, or of several targets.
func (p *problem) joint() bool { return answer.IsJoint(p.spec.Set) }

// checkJoint refuses several classes or targets where only one has an answer.
func (a *app) checkJoint(o *options, set *dataset.Set) error {
	if !answer.IsJoint(set) {
		return nil
	}
	command := a.command.name
	none := []string{"metrics", "quantiles", "covariance", "nested", "permutations", "refit-preprocessing",
		"interval", "residuals", "replicates"}
	if command == "predict" { // by a model that is trained once
		none = append(none, "journal", "shard")
	}
	if command == "loo" {
		none = append(none, "method")
	}
	of, cure := "one target", fmt.Sprintf("run %s for each of %s", command, o.target)
	if set.Task == dataset.Several {
		of, cure, none = "numbers or two classes", "--positive LABEL sets one class against the others", none[1:]
		if command == "compare" {
			return usage.Errorf("compare is for %s, and %s has %d classes: %s", of, set.Name, len(set.Classes), cure)
		}
	} else if err := o.checkTargets(command); err != nil {
		return err
	}
	for _, name := range none {
		if o.Given(name) {
			return usage.Errorf("--%s is for %s: %s", name, of, cure)
		}
	}
	return nil
}

// checkTargets refuses what several targets have not.
func (o *options) checkTargets(command string) error {
	about, err := loss.About(o.loss)
	switch {
	case command == "compare" || command == "rows":
		return usage.Errorf("--target %s: %s takes one target", o.target, command)
	case o.loss != "" && (err != nil || about.Task == loss.Classification):
		return usage.Errorf("--target %s: several targets are numbers, and --loss %s is for labels", o.target,
			o.loss)
	case o.testLoss != "" && o.testLoss != (loss.SquareTest{}).Name():
		return usage.Errorf("--target %s: errors of several targets are squares, not --test-loss %s", o.target,
			o.testLoss)
	}
	return nil
}

// buildJoint computes the kernel matrix of several classes, which --multiclass says how to tell apart, or
// targets.
func (a *app) buildJoint(p *problem) (answer.Joint, error) {
	if p.spec.Set.Further != nil {
		j, err := a.build(p)
		return answer.Targets{Job: j}, err
	}
	a.console.Progress("kernel matrix", 0, 1)
	spec := p.spec
	spec.Stop = a.stopped
	c, err := answer.NewClasses(spec)
	if err != nil {
		return nil, err
	}
	for _, j := range c.Jobs {
		j.Progress = a.console.Progress
	}
	if _, err := a.describe(c.Jobs[0], p); err != nil {
		return nil, err
	}
	if p.flags.multiclass == answer.OneAgainstOne {
		return answer.Pairs{Classes: c}, nil
	}
	return c, nil
}

// answerJoint builds the models of several classes or targets, and prints what is asked of them.
func (a *app) answerJoint(p *problem, ask func(answer.Joint) (report.Joint, error)) error {
	j, err := a.buildJoint(p)
	if err != nil {
		return err
	}
	r, err := ask(j)
	if err != nil {
		return a.orElsewhere(err)
	}
	return a.deliver(r.Sheet())
}

// keepJoint opens the journal, if there is one, for the exact fits of several classes or targets.
func (a *app) keepJoint(j answer.Joint, chosen choice) error {
	err := a.openJournal(chosen)
	if a.tasks.Journal != nil {
		j.KeepFits(a.keep)
	}
	return err
}

// trainJoint is train of several classes or targets.
func (a *app) trainJoint(o *options, p *problem) error {
	if o.format == libsvmFormat || o.loss == perceptronLoss {
		return usage.Errorf("several classes or targets are trained by a loss, into a file of --format json")
	}
	j, err := a.buildJoint(p)
	if err != nil {
		return err
	}
	began := time.Now()
	trained, err := j.Train(a.ctx)
	if err != nil {
		return err
	}
	trained.Program = version()
	if err := files.Replace(o.model, trained.Write); err != nil {
		return err
	}
	first, set := j.First(), p.spec.Set
	r := &report.Training{Command: "train", Subject: j.Subject(), Model: o.model, ModelFile: o.model,
		Format: jsonFormat, Bias: first.Bias, Status: trained.Training.Status, TestLoss: trained.Training.TestLoss,
		SupportVectors: len(trained.Weight), Apparent: null.Float(trained.Training.Apparent),
		Warnings: append([]string{}, first.Warnings()...)}
	r.Subject.Model = nil // Training has another of this name
	for _, other := range trained.Others {
		r.SupportVectors += len(other.Weight)
	}
	if set.Task == dataset.Several {
		in, err := answer.PredictClasses(trained, set)
		if err != nil {
			return err
		}
		r.Apparent = *in.TestError
	}
	r.Time = first.Times
	r.Time.Fit = time.Since(began).Seconds()
	return a.deliver(r.Sheet())
}

// predictJoint is predict of several classes or targets: by the model of all examples.
func (a *app) predictJoint(o *options, p *problem) error {
	in, err := dataset.LoadInputs(a.place(o.inputs), p.spec.Set, o.readOptions(a.console.In))
	if err != nil {
		return err
	}
	j, err := a.buildJoint(p)
	if err != nil {
		return err
	}
	trained, err := j.Train(a.ctx)
	if err != nil {
		return err
	}
	r, err := answer.PredictJoint(trained, in, answer.Settings{Level: o.level})
	if err != nil {
		return err
	}
	return a.deliver(r.Sheet())
}

// answerJoint is a cell's answer about several classes or targets by exact resamples.
func (c *gridCell) answerJoint(a *app, by tune.By) (cell report.GridCell, err error) {
	if by != tune.LeftOut {
		return cell, model.InputError(fmt.Errorf("--by %v is for one target, numbers or two classes: cv and leftout "+
			"compare several", by))
	}
	e, err := a.estimateJoint(c.problem, c.settings)
	if err != nil {
		return cell, err
	}
	a.spent(&e.Cost)
	cell = report.GridCell{Values: c.values, Estimate: e, Examples: &e.Examples}
	if e.Refined != nil {
		e.Refined.Points = nil
	}
	return cell, nil
}

// estimateJoint is an estimate of all classes or targets as of one.
func (a *app) estimateJoint(p *problem, s answer.Settings) (*report.Estimate, error) {
	j, err := a.buildJoint(p)
	if err != nil {
		return nil, err
	}
	r, err := j.Estimate(a.ctx, s)
	if err != nil {
		return nil, err
	}
	return answer.AsEstimate(r), nil
}

// validateJoint is the answer about several classes or targets in cell i by exact fits without every fold.
func (g *gridFolds) validateJoint(i int) (cell report.GridCell, err error) {
	j, err := g.app.buildJoint(g.cells[i].problem)
	if err != nil {
		return cell, err
	}
	r, err := j.CrossValidate(g.app.ctx, g.folds())
	if err != nil {
		return cell, err
	}
	v := answer.AsValidation(r)
	g.app.spent(&v.Cost)
	cell = report.GridCell{Values: g.cells[i].values, Validation: v,
		Examples: &calibration.Errors{Each: v.Points.Error}}
	v.Points = nil
	return cell, nil
}
