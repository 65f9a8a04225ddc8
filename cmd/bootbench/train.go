package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/internal/svm"
	"bootbench/internal/train"
	"bootbench/loss"
)

// trainFlags say how train trains and what it writes.
type trainFlags struct {
	model  modelFlags
	path   string // of the model file
	format string
	tol    float64
}

func trainCommand(a *app) *cobra.Command {
	var t trainFlags
	cmd := &cobra.Command{
		Use:   "train DATA --model FILE",
		Short: "Train once on all of DATA and write a model file, for predict --model",
		Long: `train trains the model once, on all of DATA, and writes it into a file: with the
names and levels of the columns, means and scales, labels, kernel, weights and the
inputs that have one. predict --model FILE needs nothing else (doc/models.md). Without
--loss a model is chosen. The model is the one that estimate judges: classifiers have
a bias unless --no-bias is given.

With --format libsvm, or where FILE ends in .libsvm, it is a model file of LIBSVM,
which svm-predict and other programs read: of labels as c_svc, of numbers as
epsilon_svr; and so it is where FILE ends in .model, the loss is hinge, hard or
perceptron and that format has place for the model. It has none for scales: give
--no-standardize with dense DATA, scale it before, and new inputs alike. Kernels are
rbf with one length scale, linear, poly and precomputed, without a jitter.

With --loss perceptron it runs the perceptron instead: pass after pass over the
examples in their order, each one with y f <= 0 at its turn is added to the weights.
It has no bias term (--constant adds one), and ends with a pass without a mistake.`,
		Example: `  bootbench train boston --model boston.json
  bootbench train houses.csv --loss square --noise 10% --gamma 0.05 --model houses.json
  bootbench train crabs --loss hinge --C 10 --no-standardize --model crabs.libsvm`,
		Args: oneData,
		RunE: func(_ *cobra.Command, args []string) error { return runTrain(a, args[0], &t) },
	}
	t.register(cmd.Flags())
	registerOut(cmd, "")
	return cmd
}

// runTrain reads flags and DATA before it trains.
func runTrain(a *app, path string, t *trainFlags) error {
	if err := t.check(); err != nil {
		return err
	}
	rule := t.model.loss == perceptronLoss
	if rule && t.model.given("tol", "bias", "no-bias") {
		return usage.Errorf("--loss perceptron has neither --tol nor a bias (--constant adds one)")
	}
	j, err := readJob(a, &t.model, path)
	if err != nil {
		return err
	}
	if t.model.given("tol") && !margin(j.Loss) {
		return usage.Errorf("--tol is for --loss hinge and hard, not for %s", j.Loss.Name())
	}
	if t.format, err = t.fileFormat(j, rule); err != nil {
		return err
	}
	if rule {
		return trainPerceptron(a, j, t)
	}
	return trainOnce(a, j, t)
}

func (t *trainFlags) register(f *pflag.FlagSet) {
	t.model.only = lossWords("train")
	t.model.register(f)
	f.StringVar(&t.path, "model", "", "write the model to `FILE`; required")
	f.StringVar(&t.format, "format", "",
		"`FORMAT` of the model file: json or libsvm; default: by its name, see above")
	f.Float64Var(&t.tol, "tol", svm.DefaultTolerance,
		"hinge and hard: largest violation of the Kuhn-Tucker conditions at convergence, in units of y f, `TOL` "+
			"between 0 and 1")
}

// check refuses flags that need no data to be refused.
func (t *trainFlags) check() error {
	switch {
	case t.path == "":
		return usage.Errorf("--model is required: the file to write")
	case !(t.tol > 0 && t.tol < 1):
		return usage.Errorf("--tol is %v, must be between 0 and 1", t.tol)
	}
	return usage.OneOf("format", cmp.Or(t.format, jsonFormat), jsonFormat, libsvmFormat)
}

// margin reports whether a loss is one of support vector classifiers.
func margin(l loss.Loss) bool {
	switch l.(type) {
	case loss.Hinge, loss.HardMargin:
		return true
	}
	return false
}

// trainOnce trains a model, writes its file and prints.
func trainOnce(a *app, j *job, t *trainFlags) error {
	a.console.Progress("training", 0, 1)
	began := time.Now()
	var settings model.FitSettings
	if margin(j.Loss) {
		settings.Tolerance = t.tol
	}
	fit, err := j.Fit(settings)
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	if err == nil && fit.Status == train.Diverged {
		err = fit.Err
	}
	if err != nil {
		return err
	}
	j.times.Fit = time.Since(began).Seconds()
	r := &report.Training{Bias: j.Bias, Status: fit.Status.String()}
	if s := fit.SVM; s != nil {
		r.Bounded, r.Violation = &s.Bounded, null.Of(s.Violation)
	}
	if err := fit.Err; err != nil {
		a.status = exitNotConverged
		r.Warnings = append(r.Warnings, err.Error())
	}
	return writeTrained(a, j, fit, r, t)
}

// writeTrained writes the file of a trained model, completes its report and prints.
func writeTrained(a *app, j *job, fit *retrain.Learned, r *report.Training, t *trainFlags) error {
	p, err := j.Predictor(fit)
	if err != nil {
		return err
	}
	p.Program, p.Loss = version(), j.report.Loss
	r.Command, r.Subject, r.Model, r.ModelFile, r.Format = "train", j.report, t.path, t.path, t.format
	r.Subject.Model = nil // Training has another of this name
	r.SupportVectors, r.TestLoss, r.Apparent = len(p.Weight), p.Training.TestLoss,
		null.Float(p.Training.Apparent)
	write := p.Write
	if t.format == libsvmFormat {
		file, err := libsvmFile(j, p)
		if err != nil {
			return err
		}
		if !file.Regression {
			r.Labels, r.Subject.Labels = file.Label[:], nil
		}
		write = file.Write
	}
	if err := files.Replace(t.path, write); err != nil {
		return err
	}
	r.Warnings = append(append([]string{}, j.Warnings()...), r.Warnings...)
	r.Cost = a.cost(j.times)
	return a.deliver(answer{document: r, warnings: r.Warnings, page: report.Page{Answers: []report.Document{r}}})
}
