package main

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// checkTargets refuses several targets where only one has an answer.
func (o *options) checkTargets(command string) error {
	if slices.Contains([]string{"compare", "curve", "grid", "rows"}, command) {
		return usage.Errorf("--target %s: several targets are for estimate, cv, loo, retrain, train, tune and "+
			"predict; %s takes one", o.target, command)
	}
	if about, err := loss.About(o.loss); o.loss != "" && (err != nil || about.Task == loss.Classification) {
		return usage.Errorf("--target %s: several targets are numbers, and --loss %s is for labels", o.target,
			o.loss)
	}
	if o.testLoss != "" && o.testLoss != (loss.SquareTest{}).Name() {
		return usage.Errorf("--target %s: errors of several targets are squares, not --test-loss %s", o.target,
			o.testLoss)
	}
	for _, name := range []string{"metrics", "quantiles", "covariance", "journal", "shard", "method", "nested",
		"permutations", "refit-preprocessing", "interval", "residuals", "replicates"} {
		if o.Given(name) {
			return usage.Errorf("--%s is for one target: run %s for each of %s", name, command, o.target)
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

// retrainTargets retrains for several targets, and prints.
func (a *app) retrainTargets(o *options, j *answer.Job, how answer.Retraining) error {
	r, err := j.RetrainTargets(a.ctx, how)
	if err != nil {
		return err
	}
	return o.deliverTargets(a, r)
}

// validateTargets cross-validates for several targets, and prints.
func (a *app) validateTargets(o *options, j *answer.Job, v answer.Validation) error {
	r, err := j.CrossValidateTargets(a.ctx, v)
	if err != nil {
		return err
	}
	return o.deliverTargets(a, r)
}

// looTargets leaves every example out for several targets, by exact fits.
func (a *app) looTargets(o *options, j *answer.Job) error {
	r, err := j.CrossValidateTargets(a.ctx, answer.Validation{Design: resample.Design{N: j.Set.N()},
		Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return err
	}
	r.Command = "loo"
	return o.deliverTargets(a, r)
}

// deliverTargets prints an answer about several targets.
func (o *options) deliverTargets(a *app, r *report.Targets) error {
	if o.noPoints {
		r.DropPoints()
	}
	return a.deliver(given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status})
}

// trainTargets trains for several targets, and writes one model file.
func (a *app) trainTargets(o *options, j *answer.Job) error {
	if o.format == libsvmFormat {
		return usage.Errorf("several targets are trained into a file of --format json")
	}
	began := time.Now()
	p, err := j.TrainTargets(a.ctx)
	if err != nil {
		return err
	}
	r := &report.Training{Command: "train", Subject: j.Subject, Model: o.model, ModelFile: o.model,
		Format: jsonFormat, Bias: j.Bias, Status: p.Training.Status, SupportVectors: len(p.Weight),
		TestLoss: p.Training.TestLoss, Apparent: null.Float(p.Training.Apparent),
		Warnings: append([]string{}, j.Warnings()...)}
	r.Subject.Target, r.Subject.Model, r.Time = strings.Join(append([]string{j.Set.Target},
		p.Encoding.Further...), ", "), nil, j.Times
	r.Time.Fit = time.Since(began).Seconds()
	p.Program = version()
	if err := files.Replace(o.model, p.Write); err != nil {
		return err
	}
	return a.deliver(given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status})
}

// predictTargets is predict of several targets: by the model of all examples.
func (a *app) predictTargets(o *options, j *answer.Job) error {
	in, err := dataset.LoadInputs(a.place(o.inputs), j.Set, o.readOptions(a.console.In))
	if err != nil {
		return err
	}
	p, err := j.TrainTargets(a.ctx)
	if err != nil {
		return err
	}
	return a.predictTargetsBy(o, p, in)
}

// predictTargetsBy predicts several targets of new inputs by a trained model, and prints.
func (a *app) predictTargetsBy(o *options, p *model.Predictor, in *dataset.Inputs) error {
	r, err := answer.PredictTargets(p, in, answer.Settings{Level: o.level})
	if err != nil {
		return err
	}
	r.Model, r.ModelFile = o.model, o.model
	g := given{document: r, warnings: r.Warnings, cost: &r.Cost, csv: "points.csv", writeCSV: r.WriteCSV}
	if o.noPoints {
		g.json = r.WithoutPoints()
	}
	return a.deliver(g)
}
