package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

func predictCommand() *command {
	return &command{
		use:   "predict DATA --test FILE | predict --model FILE --test FILE",
		short: "Mean, variance and interval of predictions over resamples, at new inputs",
		long: `predict gives the law over resamples of the prediction at new inputs: its mean,
its variance and an interval that holds LEVEL of it, taken as normal. That is the
sampling variability of the estimator, how much its prediction would change with
another resample; the noise of a new target is not in it.

With --interval observation the interval holds a new target instead, with probability
LEVEL, whatever the noise: it is made of the residuals of examples that the resamples
leave out (jackknife+-after-bootstrap; CV+ with --scheme kfold).

For a classifier there are the class of the mean prediction, the share of the resamples
that vote for the label +1, and the probability of +1. That is no share of votes: it is
calibrated on examples that the resamples leave out, by a logistic curve, or
the posterior's own of --loss probit and logit.

The new inputs have the features of DATA; a table names them in its header, in any
order, and other columns are ignored. If it names its rows, points have these names. If
it has targets too, the test loss is printed: averaged over resamples, and that of the
mean prediction.

With --model instead of DATA the one model of a file that train has written
predicts, in units and labels of the data that it was trained on: no resampling and
no variance, no training data, and the speed of a product of matrices.`,
		example: `  bootbench predict houses.csv --test new.csv --loss square --noise 0.5
  bootbench predict houses.csv --test new.csv --interval observation --level 0.9 --csv -
  bootbench predict --model houses.json --test new.csv --csv -
  bootbench predict synthetic:friedman1,n=200 --test synthetic:friedman1,n=50,seed=2 --json predicted.json`,
		args: dataOrModel,
		flags: func(o *options) {
			o.Group("Output")
			o.Text(&o.inputs, "test",
				"new inputs: a file (`FILE`), - for standard input, or a set like DATA; required")
			o.Text(&o.model, "model",
				"predict by a model file (`FILE`) of train, instead of DATA; of the other flags "+
					"only those that say how --test is read and answers are written; default: none")
			o.Choice(&o.interval, "interval", []string{answer.Estimator, answer.Observation}, answer.Estimator,
				"what the interval holds, `OF`: estimator (the prediction of another resample: how far the trained "+
					"predictor moves) or observation (a new target, its noise included: jackknife+-after-bootstrap, CV+ "+
					"with --scheme kfold)")
			o.levelFlag()
			o.Choice(&o.residuals, "residuals", []string{answer.Plain, answer.Scaled}, answer.Plain, "of --interval "+
				"observation, `UNIT` in which left-out residuals are carried to a new input: plain (the noise is the "+
				"same everywhere) or scaled (by how much the prediction varies there: wider where noise is larger or "+
				"examples are few)")
			o.lawFlags("new inputs")
			o.Text(&o.csv, "csv", "write the predictions as CSV to `FILE`; with - to standard output, and nothing "+
				"else "+
				"there; default: none")
			o.theoryFlags(refineAuto)
			o.unseenFlag()
			o.ratioFlag()
			o.pointsFlag()
		},
		out: ", points.csv",
		run: runPredict,
	}
}

// runPredict reads DATA and the new inputs, predicts and prints.
func runPredict(a *app, o *options, data []string) error {
	if err := o.checkPredict(a, data); err != nil {
		return err
	}
	if o.model != "" {
		return predictByFile(a, o)
	}
	j, s, err := a.readSolvable(o, data[0])
	if err != nil {
		return err
	}
	in, err := dataset.LoadInputs(a.place(o.inputs), j.Set, o.readOptions(a.console.In))
	if err != nil {
		return err
	}
	if a.place(o.inputs) != o.inputs {
		in.Name = o.inputs
	}
	intervals := answer.Intervals{Of: o.interval, Residuals: o.residuals}
	for _, err := range []error{checkTargets(in), j.CheckIntervals(intervals, o.level),
		o.checkCovariance(in.N())} {
		if err != nil {
			return usage.Wrap(err)
		}
	}
	r, solution, err := j.Predict(a.ctx, in, s, intervals)
	if err != nil {
		return a.orElsewhere(err)
	}
	if err := o.writeCovariance(j, solution, in); err != nil {
		return err
	}
	points := r.Points
	if o.noPoints {
		r.Points = nil
	}
	a.spent(&r.Cost)
	a.ended(r.Status)
	return o.deliverPredictions(a, points, given{
		document: r, warnings: r.Warnings,
		lead: []string{fmt.Sprintf("The law over resamples of the trained predictor at %d new inputs.",
			r.Count)},
		figures: append(report.PredictionFigure(points, r.Interval), report.ReliabilityFigure(r.Calibration)...),
	})
}

// checkTargets refuses new targets that are beyond the range of numbers.
func checkTargets(in *dataset.Inputs) error {
	if err := model.CheckTargets(in.Y); err != nil {
		return usage.Errorf("--test: %w", err)
	}
	return nil
}

// checkPredict refuses files that cannot be read or written beside DATA.
func (o *options) checkPredict(a *app, data []string) error {
	switch {
	case o.inputs == "":
		return usage.Errorf("--test is required: the new inputs")
	case o.inputs == "-" && o.journal != "":
		return usage.Errorf("--test from standard input cannot be read again, which --journal needs: save it as " +
			"a file")
	case o.inputs == "-" && slices.Contains(data, "-"):
		return usage.Errorf("DATA and --test cannot both be standard input")
	case o.csv == "-" && a.outputs.json == "-":
		return usage.Errorf("--csv and --json cannot both take standard output")
	case o.Given("residuals") && o.interval != answer.Observation:
		return usage.Errorf("--residuals belongs to --interval %s", answer.Observation)
	}
	return nil
}

// deliverPredictions prints an answer about new inputs, and writes its points where --csv says.
func (o *options) deliverPredictions(a *app, points *report.Points, g given) error {
	g.csv, g.writeCSV = "points.csv", points.WriteCSV
	if o.csv == "-" {
		g.text = points.WriteCSV
	} else if o.csv != "" {
		if err := files.Replace(o.csv, points.WriteCSV); err != nil {
			return err
		}
	}
	return a.deliver(g)
}

// modelPredictFlags are the flags of predict that mean something with --model: what the
// others say stands in the file.
var modelPredictFlags = []string{"test", "model", "csv", "missing", "unseen", "zero-based", "no-header",
	"max-memory", "test-loss", "no-points", "metrics",
	"json", "out", "quiet", "threads", "backend", "cpuprofile", "memprofile", "help"}

// dataOrModel refuses anything but one DATA, or --model.
func dataOrModel(o *options, args []string) (err error) {
	if o.model == "" {
		return oneData("predict", args)
	}
	if len(args) > 0 {
		return usage.Errorf("predict takes DATA or --model FILE, not both")
	}
	o.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(modelPredictFlags, f.Name) {
			err = usage.Errorf("--%s has no meaning with --model: the file holds a model that is trained once, and "+
				"its preprocessing", f.Name)
		}
	})
	return err
}

// predictByFile predicts at new inputs by a model file.
func predictByFile(a *app, o *options) error {
	began := time.Now()
	p, err := openModel(o.model)
	if err != nil {
		return err
	}
	e := p.Encoding
	in, err := e.LoadInputs(o.inputs, o.readOptions(a.console.In))
	if err == nil {
		err = checkTargets(in)
	}
	if err != nil {
		return err
	}
	test, err := o.test(e.Task, o.model)
	if err != nil {
		return err
	}
	r := &report.ModelPrediction{
		Command: "predict", Model: o.model, ModelFile: o.model, Test: in.Name, Warnings: append([]string{},
			in.Notes...),
		TrainedOn: report.TrainedOn{Data: e.Name, N: p.Training.Examples, D: e.Features, Task: e.Task.String(),
			Target: e.Target, Labels: e.Labels.Names(), Loss: p.Loss, Kernel: p.Kernel, SupportVectors: len(p.Weight)},
	}
	r.Time.Read = time.Since(began).Seconds()
	began = time.Now()
	f, err := p.Predict(in)
	if err != nil {
		return err
	}
	r.Time.Predict = time.Since(began).Seconds()
	points := &report.Points{Names: in.RowNames, Prediction: f}
	r.Count, r.Points = len(f), points
	if e.Task == dataset.Classification {
		for _, v := range f {
			points.Class = append(points.Class, r.Labels.Name(v))
		}
	}
	if in.Y != nil {
		r.Judge(test, in.Y)
		r.Metrics = o.metricsOf(f, in.Y, e.Task)
	}
	if o.noPoints {
		r.Points = nil
	}
	a.spent(&r.Cost)
	return o.deliverPredictions(a, points, given{document: r, warnings: r.Warnings,
		lead: []string{fmt.Sprintf("The predictions of a trained model at %d new inputs.", r.Count)}})
}

// metricsOf are the measures that are asked for of the predictions of one model; nil: none are.
func (o *options) metricsOf(f, y []float64, task dataset.Task) *calibration.Metrics {
	s := answer.Settings{Metrics: o.metrics}
	return s.Judge(y, f, nil, task, func(test loss.Test) []float64 {
		each := make([]float64, len(y))
		for i, v := range y {
			each[i] = test.Value(f[i], v)
		}
		return each
	})
}

// openModel reads a model file.
func openModel(path string) (*model.Predictor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("--model: %w", err)
	}
	defer f.Close()
	p, err := model.ReadPredictor(f)
	if errors.Is(err, model.ErrInput) {
		return nil, usage.Errorf("--model: %s: %w", path, err)
	}
	return p, err
}
