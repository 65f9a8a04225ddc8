package main

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/report"
	"bootbench/svm"
	"bootbench/train"
)

func trainCommand(a *app) *cobra.Command {
	var m modelFlags
	var path string
	var noBias bool
	var tol float64
	var perceptron perceptronFlags
	cmd := &cobra.Command{
		Use:   "train DATA --model FILE",
		Short: "Train a support vector classifier or a perceptron on all of DATA, as a model file of LIBSVM",
		Long: `train trains a classifier once, on all of DATA, and writes it in LIBSVM's format
for models, which svm-predict and other programs read. It is for --loss hinge,
with a bias term as LIBSVM has it unless --no-bias is given, and for --loss hard,
without.

With --loss perceptron it runs the perceptron instead: pass after pass over the
examples in their order, each one with y f <= 0 at its turn is added to the weights.
It has no bias term (--constant adds one), and ends with a pass without a mistake.

The file holds the features as they were trained on, so that --no-standardize is
required for dense DATA: scale these before, and new inputs alike. Kernels are rbf
with one length scale, linear, poly and precomputed, without a jitter.`,
		Example: `  bootbench train crabs --loss hinge --C 10 --no-standardize --model crabs.model`,
		Args:    oneData,
	}
	f := cmd.Flags()
	m.only = lossWords("train")
	m.register(f)
	f.StringVar(&path, "model", "", "write the model to `FILE`; required")
	f.BoolVar(&noBias, "no-bias", false, "no bias term with the hinge loss; default: it has one")
	f.Float64Var(&tol, "tol", svm.DefaultTolerance, "largest violation of the Kuhn-Tucker conditions at convergence, in units of y f, `TOL` between 0 and 1")
	perceptron.register(f)
	registerOut(cmd, "")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case path == "":
			return usage.Errorf("--model is required: the file to write")
		case path == "-":
			return usage.Errorf("--model -: a model file is no answer for standard output")
		case files.Same(path, args[0]) || files.Same(path, a.outputs.json):
			return usage.Errorf("--model: %s is DATA, or the file of --json", path)
		}
		if err := files.CheckWritable("model", path); err != nil {
			return err
		}
		if !(tol > 0 && tol < 1) {
			return usage.Errorf("--tol is %v, must be between 0 and 1", tol)
		}
		rule, err := perceptron.asked(&m, f)
		if err != nil {
			return err
		}
		j, err := a.job(&m, args[0])
		if err != nil {
			return err
		}
		cost, bias, err := margin(j.Loss, !noBias)
		if err != nil {
			return err
		}
		file, err := emptyModelFile(j)
		if err != nil {
			return err
		}
		file.Label = [2]int{1, -1}
		if labels := j.Set.Labels; labels != nil {
			if negative, positive, ok := labels.Numbers(); ok && whole(positive) && whole(negative) {
				file.Label = [2]int{int(positive), int(negative)}
			}
		}
		if rule {
			return a.trainPerceptron(j, file, &perceptron, path)
		}
		return a.train(j, file, svm.Settings{Tolerance: tol}, cost, bias, path)
	}
	return cmd
}

// margin is the cost of margin violation under a loss, +Inf for a hard margin,
// and whether its predictor has a bias term where that is wanted.
func margin(l loss.Loss, wanted bool) (cost float64, bias bool, err error) {
	switch l := l.(type) {
	case loss.Hinge:
		return l.C, wanted, nil
	case loss.HardMargin:
		return math.Inf(1), false, nil
	}
	return 0, false, usage.Errorf("train is for --loss hinge, hard and perceptron, not for %s", l.Name())
}

// whole reports whether a label is one that model files can hold.
func whole(label float64) bool { return label == math.Trunc(label) && math.Abs(label) <= math.MaxInt32 }

// emptyModelFile is a model file with the kernel of a model.
func emptyModelFile(j *job) (*svm.ModelFile, error) {
	k := j.report.Kernel // with its defaults
	file := &svm.ModelFile{Gamma: k.Gamma}
	switch {
	case j.Standardize:
		return nil, usage.Errorf("--no-standardize is required: a model file has no place for the scales of features")
	case k.Jitter != 0:
		return nil, usage.Errorf("--jitter is %v: a model file has no place for it", k.Jitter)
	case len(k.LengthScale) > 1:
		return nil, usage.Errorf("--length-scale: a model file has no place for one of each feature")
	case len(k.LengthScale) == 1:
		file.Gamma = 1 / (2 * k.LengthScale[0] * k.LengthScale[0])
	}
	switch j.Kernel.Kind {
	case kernel.RBF:
		file.Kernel = svm.FileRBF
	case kernel.Linear:
		file.Kernel = svm.FileLinear
	case kernel.Poly:
		file.Kernel, file.Degree, file.Coef0 = svm.FilePoly, k.Degree, k.Coef0
	case kernel.Precomputed:
		file.Kernel = svm.FilePrecomputed
	default:
		return nil, usage.Errorf("--kernel %s: a model file has rbf, linear, poly or precomputed", k.Kind)
	}
	return file, nil
}

// train trains a support vector classifier, writes its file and prints.
func (a *app) train(j *job, file *svm.ModelFile, settings svm.Settings, cost float64, bias bool, path string) error {
	a.console.Progress("training", 0, 1)
	began := time.Now()
	problem := svm.Problem{Y: j.Set.Y, Site: j.Site, C: slices.Repeat([]float64{cost}, j.Set.N()), Bias: bias}
	result, err := svm.Train(j.Gram, problem, settings)
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	var infeasible *svm.InfeasibleError
	if errors.As(err, &infeasible) {
		return usage.Wrap(err)
	}
	if err == nil && result.Status == train.Diverged {
		err = result.Status.Err()
	}
	if err != nil {
		return err
	}
	j.times.Fit = time.Since(began).Seconds()
	t := &report.Training{Bias: bias, Bounded: result.Bounded, Violation: result.Violation, Status: result.Status.String()}
	if err := result.Status.Err(); err != nil {
		a.status = exitNotConverged
		t.Warnings = append(t.Warnings, err.Error())
	}
	return a.writeModel(j, file, result, t, path)
}

// writeModel writes the file of a classifier, completes its report and prints.
func (a *app) writeModel(j *job, file *svm.ModelFile, result *svm.Result, t *report.Training, path string) error {
	if err := fillModelFile(file, j, result); err != nil {
		return err
	}
	if err := files.Replace(path, file.Write); err != nil {
		return err
	}
	subject := j.report
	subject.Labels, subject.Model = nil, nil // Training has others of these names
	t.Command, t.Subject, t.Model, t.Labels, t.SupportVectors = "train", subject, path, file.Label, len(file.Coef)
	t.Warnings = append(append([]string{}, j.Warnings()...), t.Warnings...)
	for i, y := range j.Set.Y {
		t.Apparent += loss.ZeroOne{}.Value(result.F[j.Site[i]], y) / float64(len(j.Set.Y))
	}
	t.Cost = a.cost(j.times)
	return a.deliver(answer{document: t, warnings: t.Warnings, page: report.Page{Answers: []report.Document{t}}})
}

// fillModelFile writes the classifier into the file: a site is a support vector
// under the number of its first example. With the kernel A k + B the weights take
// up A, and the bias B times their sum.
func fillModelFile(file *svm.ModelFile, j *job, r *svm.Result) error {
	weight, bias := make([]float64, j.Set.N()), r.Bias
	for site, beta := range r.Beta {
		weight[j.First[site]] = j.report.Kernel.Amplitude * beta
		bias += j.report.Kernel.Constant * beta
	}
	rows := j.Set.Sparse
	switch {
	case file.Kernel == svm.FilePrecomputed:
		rows = &dataset.CSR{}
	case rows == nil:
		rows = dataset.NewCSR(j.Set.X)
	}
	label := file.Label
	if err := file.SetPredictor(weight, bias, rows.Start, rows.Index, rows.Value); err != nil {
		return err
	}
	file.Label = label
	return nil
}
