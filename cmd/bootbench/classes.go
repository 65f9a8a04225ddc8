package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
)

// several reports whether a problem is of several classes.
func (p *problem) several() bool { return p.spec.Set.Task == dataset.Several }

// checkClasses refuses several classes for a command of two.
func (c *command) checkClasses(set *dataset.Set) error {
	if set.Task != dataset.Several || c.classes {
		return nil
	}
	return usage.Errorf("%s is for numbers or two classes, and %s has %d: --positive LABEL sets one against "+
		"the others", c.name, set.Name, len(set.Classes))
}

// buildClasses computes the kernel matrix of several classes.
func (a *app) buildClasses(p *problem) (*answer.Classes, error) {
	a.console.Progress("kernel matrix", 0, 1)
	spec := p.spec
	spec.Stop = a.stopped
	c, err := answer.NewClasses(spec)
	if err != nil {
		return nil, err
	}
	limitGarbage(p.spec.MaxBytes)
	for _, j := range c.Jobs {
		j.Progress = a.console.Progress
	}
	first := c.Jobs[0]
	first.Times.Read, first.Times.Choose = p.readS, p.choice.seconds
	if s := &first.Subject; p.choice.by != "" {
		s.ChosenBy, s.CommandLine = p.choice.by, a.commandLine(p.choice.settings...)
	}
	return c, a.ctx.Err()
}

// decision is how several classes are told apart.
type decision interface {
	Estimate(ctx context.Context, s answer.Settings) (*report.Classes, error)
	CrossValidate(ctx context.Context, v answer.Validation) (*report.Classes, error)
	Train(ctx context.Context) (*model.Predictor, error)
}

// decide is what --multiclass says.
func (o *options) decide(c *answer.Classes) decision {
	if o.multiclass == answer.OneAgainstOne {
		return answer.Pairs{Classes: c}
	}
	return c
}

// solvableClasses builds the models of several classes, and says what is asked of them.
func (a *app) solvableClasses(o *options, p *problem) (c *answer.Classes, s answer.Settings, err error) {
	if o.journal != "" || o.shard.count > 0 {
		return nil, s, usage.Errorf("--journal and --shard are for numbers or two classes")
	}
	if s, err = o.answers(); err == nil {
		s.Scheme, err = o.designed(o.ratio, p.spec.Set)
	}
	if err == nil {
		c, err = a.buildClasses(p)
	}
	return c, s, err
}

// estimateClasses is estimate of several classes.
func (a *app) estimateClasses(o *options, p *problem) error {
	c, s, err := a.solvableClasses(o, p)
	if err != nil {
		return err
	}
	r, err := o.decide(c).Estimate(a.ctx, s)
	if err != nil {
		return err
	}
	return o.deliverClasses(a, r)
}

// validateClasses is cv of several classes.
func (a *app) validateClasses(o *options, p *problem) error {
	v, err := o.validation(p.spec.Set)
	if err != nil {
		return err
	}
	if v.Permutations > 0 || o.nested {
		return usage.Errorf("--permutations and --nested are for numbers or two classes: --positive LABEL sets " +
			"one against the others")
	}
	c, err := a.buildClasses(p)
	if err != nil {
		return err
	}
	r, err := o.decide(c).CrossValidate(a.ctx, v)
	if err != nil {
		return err
	}
	return o.deliverClasses(a, r)
}

// deliverClasses prints an answer about several classes.
func (o *options) deliverClasses(a *app, r *report.Classes) error {
	points := r.Points
	g := given{document: r, warnings: r.Warnings, cost: &r.Cost, csv: "points.csv", writeCSV: points.WriteCSV}
	if o.noPoints {
		r.Points = nil
	}
	return a.deliver(g)
}

// trainClasses is train of several classes.
func (a *app) trainClasses(o *options, p *problem) error {
	if o.format == libsvmFormat || o.loss == perceptronLoss {
		return usage.Errorf("several classes are trained by a loss, into a file of --format json")
	}
	c, err := a.buildClasses(p)
	if err != nil {
		return err
	}
	began := time.Now()
	trained, err := o.decide(c).Train(a.ctx)
	if err != nil {
		return err
	}
	trained.Program = version()
	if err := files.Replace(o.model, trained.Write); err != nil {
		return err
	}
	first := c.Jobs[0]
	r := &report.Training{Command: "train", Subject: first.Subject, Model: o.model, ModelFile: o.model,
		Format: jsonFormat, Bias: first.Bias, Status: trained.Training.Status, TestLoss: trained.Training.TestLoss,
		SupportVectors: len(trained.Weight), Warnings: append([]string{}, first.Warnings()...)}
	r.Subject.Labels, r.Subject.Positive, r.Subject.Model, r.Subject.Notes = nil, "", nil, c.Set.Notes
	r.Time = first.Times
	r.Time.Fit = time.Since(began).Seconds()
	for _, other := range trained.Others {
		r.SupportVectors += len(other.Weight)
	}
	in, err := answer.PredictClasses(trained, c.Set)
	if err != nil {
		return err
	}
	r.Apparent = *in.TestError
	return a.deliver(given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status})
}

// predictClasses is predict of several classes: by the model of all examples.
func (a *app) predictClasses(o *options, p *problem) error {
	in, err := dataset.LoadInputs(a.place(o.inputs), p.spec.Set, o.readOptions(a.console.In))
	if err != nil {
		return err
	}
	c, err := a.buildClasses(p)
	if err != nil {
		return err
	}
	trained, err := o.decide(c).Train(a.ctx)
	if err != nil {
		return err
	}
	r, err := answer.PredictClasses(trained, in)
	if err != nil {
		return err
	}
	r.Time = c.Jobs[0].Times
	return a.deliverClassPrediction(r)
}

// deliverClassPrediction prints the classes of new inputs.
func (a *app) deliverClassPrediction(r *report.ClassPrediction) error {
	return a.deliver(given{document: r, warnings: r.Warnings, cost: &r.Cost, csv: "points.csv",
		writeCSV: r.Points.WriteCSV})
}

// answerClasses is a cell's joint decision by exact resamples.
func (c *gridCell) answerClasses(a *app, by tune.By) (cell report.GridCell, err error) {
	if by != tune.LeftOut {
		return cell, model.InputError(fmt.Errorf(
			"--by %v is for numbers or two classes: cv and leftout compare several",
			by))
	}
	classes, err := a.buildClasses(c.problem)
	if err != nil {
		return cell, err
	}
	r, err := classes.Estimate(a.ctx, c.settings)
	if err != nil {
		return cell, err
	}
	e := answer.AsEstimate(r)
	a.spent(&e.Cost)
	cell = report.GridCell{Values: c.values, Estimate: e, Examples: &e.Examples}
	e.Refined.Points = nil
	return cell, nil
}

// validateClasses is the joint decision of cell i by exact fits without every fold.
func (g *gridFolds) validateClasses(i int) (cell report.GridCell, err error) {
	c, err := g.app.buildClasses(g.cells[i].problem)
	if err != nil {
		return cell, err
	}
	r, err := c.CrossValidate(g.app.ctx, g.folds())
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

// retrainClasses is retrain of several classes.
func (a *app) retrainClasses(o *options, p *problem, how answer.Retraining) error {
	if o.journal != "" || o.shard.count > 0 || o.replicates != "" {
		return usage.Errorf("--journal, --shard and --replicates are for numbers or two classes")
	}
	c, err := a.buildClasses(p)
	if err != nil {
		return err
	}
	r, err := c.Retrain(a.ctx, how)
	if err != nil {
		return err
	}
	return o.deliverClasses(a, r)
}

// looClasses is loo of several classes: by exact fits.
func (a *app) looClasses(o *options, p *problem) error {
	if o.Given("method") {
		return usage.Errorf("--method is for numbers or two classes: several are left out by exact fits")
	}
	c, err := a.buildClasses(p)
	if err != nil {
		return err
	}
	r, err := c.LeaveOneOut(a.ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	return o.deliverClasses(a, r)
}
