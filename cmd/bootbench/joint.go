package main

import (
	"fmt"
	"time"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
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
	about, err := loss.About(o.loss)
	of, cure := "one target", fmt.Sprintf("run %s for each of %s", command, o.target)
	switch {
	case set.Task == dataset.Several:
		of, cure = "numbers or two classes", "--positive LABEL sets one class against the others"
		if command == "compare" {
			return usage.Errorf("compare is for %s, and %s has %d classes: %s", of, set.Name, len(set.Classes), cure)
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
	none := []string{"quantiles", "covariance", "permutations", "interval", "residuals", "replicates"}
	switch {
	case command == "predict": // by a model that is trained once
		none = append(none, "journal", "shard", "ratio", "scheme", "refine")
	case command == "loo":
		none = append(none, "method")
	case set.Task != dataset.Several || o.multiclass == answer.OneAgainstOne:
		none = append(none, "nested", "refit-preprocessing")
	}
	for _, name := range none {
		if o.Given(name) {
			return usage.Errorf("--%s is for %s: %s", name, of, cure)
		}
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

// answerJoint builds the models of several classes or targets, and delivers what is asked of them; a journal
// keeps their exact fits.
func (a *app) answerJoint(p *problem, ask func(answer.Joint) (report.Answer, error)) error {
	j, err := a.buildJoint(p)
	if err == nil && (a.tasks.Journal == nil || a.tasks.merging) {
		err = a.openJournal(p.choice)
	}
	if err != nil {
		return err
	}
	if a.tasks.Journal != nil {
		j.KeepFits(a.keep)
	}
	return a.answer(ask(j))
}

// estimateJoint is an estimate of all classes or targets as of one.
func (a *app) estimateJoint(p *problem, s answer.Settings) (answer.Joint, *report.Estimate, error) {
	j, err := a.buildJoint(p)
	if err != nil {
		return nil, nil, err
	}
	r, err := j.Estimate(a.ctx, s)
	if err != nil {
		return nil, nil, err
	}
	e := answer.AsEstimate(r)
	a.spent(&e.Cost)
	return j, e, nil
}

// trainJoint is train of several classes or targets.
func (a *app) trainJoint(o *options, p *problem) error {
	if o.format == libsvmFormat || o.loss == perceptronLoss {
		return usage.Errorf("several classes or targets are trained by a loss, into a file of --format json")
	}
	return a.answerJoint(p, func(j answer.Joint) (report.Answer, error) {
		began := time.Now()
		trained, err := a.writeModel(o.model, j)
		if err != nil {
			return nil, err
		}
		first := j.First()
		r := &report.Training{Command: "train", Subject: j.Subject(), Model: o.model, ModelFile: o.model,
			Format: jsonFormat, Bias: first.Bias, Status: trained.Training.Status, TestLoss: trained.Training.TestLoss,
			SupportVectors: len(trained.Weight), Apparent: null.Float(trained.Training.Apparent),
			Warnings: append([]string{}, first.Warnings()...)}
		r.Subject.Model = nil // Training has another of this name
		for _, other := range trained.Others {
			r.SupportVectors += len(other.Weight)
		}
		if set := p.spec.Set; set.Task == dataset.Several {
			in, err := answer.PredictClasses(trained, set)
			if err != nil {
				return nil, err
			}
			r.Apparent = *in.TestError
		}
		r.Time = first.Times
		r.Time.Fit = time.Since(began).Seconds()
		return r, nil
	})
}

// answerJoint is a cell's answer about several classes or targets by exact resamples.
func (c *gridCell) answerJoint(a *app, by tune.By) (cell report.GridCell, err error) {
	if by != tune.LeftOut {
		return cell, model.InputError(fmt.Errorf("--by %v is for one target, numbers or two classes: cv and "+
			"leftout compare several", by))
	}
	_, e, err := a.estimateJoint(c.problem, c.settings)
	if err != nil {
		return cell, err
	}
	if e.Refined != nil {
		e.Refined.Points = nil
	}
	return report.GridCell{Values: c.values, Estimate: e, Examples: &e.Examples}, nil
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
	return g.cell(i, v, nil), nil
}
