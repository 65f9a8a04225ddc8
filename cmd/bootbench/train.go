package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/svm"
)

// perceptronLoss is a further value of train's --loss: a learning rule that minimises no loss.
const perceptronLoss = "perceptron"

// runTrain reads DATA, trains, and writes the model file.
func runTrain(a *app, o *options, data []string) error {
	rule := o.loss == perceptronLoss
	if o.model == "" {
		return usage.Errorf("--model is required: the file to write")
	}
	if rule && o.Given("tol", "bias", "no-bias") {
		return usage.Errorf("--loss perceptron has neither --tol nor a bias (--constant adds one)")
	}
	p, err := a.read(o, data[0], standard.DefaultSample)
	if err != nil {
		return err
	}
	p.spec.Bias = p.spec.Bias && !rule
	j, err := a.build(a.ctx, p)
	if err != nil {
		return err
	}
	several := len(j.Functions) > 1
	var file *svm.ModelFile
	switch {
	case several:
	case o.Given("tol") && !loss.TraitsOf(j.Loss).Margin:
		return usage.Errorf("--tol is for --loss hinge and hard, not for %s", j.Loss.Name())
	default:
		if file, err = o.libsvmModel(j, rule); err != nil {
			return err
		}
	}
	a.console.Progress("training", 0, 1)
	began := time.Now()
	r := &report.Training{Command: "train", Subject: j.Subject, Model: o.model, ModelFile: o.model,
		Bias:   j.Bias,
		Format: jsonFormat}
	var trained *model.Predictor
	switch {
	case several:
		trained, err = j.Train(a.ctx)
	case rule:
		r.Subject.Loss = perceptronLoss
		trained, err = trainPerceptron(a.ctx, j, r)
	default:
		trained, err = trainOnce(a, o, j, r)
	}
	if err != nil {
		return err
	}
	r.Time = j.Times
	r.Time.Fit = time.Since(began).Seconds()
	if !several && file == nil && !rule {
		note, err := j.AddLeftOut(a.ctx, 0, trained)
		if err != nil {
			return err
		}
		if note != "" {
			r.Warnings = append(r.Warnings, note)
		}
	}
	r.Warnings = append(append([]string{}, j.Warnings()...), r.Warnings...)
	return a.writeTrained(p.spec.Set, trained, r, file)
}

// trainOnce trains a model.
func trainOnce(a *app, o *options, j *answer.Study, r *report.Training) (*model.Predictor, error) {
	var settings model.FitSettings
	if loss.TraitsOf(j.Loss).Margin {
		settings.Tolerance = o.asked.Solve.Tolerance
	}
	fit, err := j.Model.Fit(a.ctx, settings)
	switch {
	case a.ctx.Err() != nil:
		return nil, a.ctx.Err()
	case err != nil:
		return nil, err
	case fit.Status == train.Diverged:
		return nil, fit.Status.Err()
	}
	if s := fit.SVM; s != nil {
		r.Bounded, r.Violation = &s.Bounded, report.NumberOf(s.Violation)
	}
	if err := fit.Status.Err(); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
		a.status = exitNotConverged
	}
	return j.Predictor(&fit.Result)
}

// passes is the largest number of the perceptron's passes over DATA; it ends with a pass without a mistake.
const passes = 100

// trainPerceptron runs the perceptron.
func trainPerceptron(ctx context.Context, j *answer.Study, r *report.Training) (*model.Predictor, error) {
	k, err := j.Dense()
	if err != nil {
		return nil, err
	}
	rows, err := svm.NewRows(k)
	if err != nil {
		return nil, err
	}
	learned := svm.TrainPerceptron(ctx, rows, j.Site, j.Model.Y, passes)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if learned.Mistakes[0] > 0 &&
		!slices.ContainsFunc(learned.Weight, func(b float64) bool { return b != 0 }) {
		return nil,
			usage.Errorf("--loss perceptron: the weights are all 0 after %d passes, which a model file "+
				"cannot hold", len(learned.Mistakes))
	}
	r.Perceptron = &report.Perceptron{Form: "dual", Mistakes: learned.Mistakes}
	if r.Status = "converged"; !learned.Converged() {
		r.Status = "pass limit"
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("the perceptron still makes mistakes in pass %d: the classes may "+
				"not be separable; take --loss hinge", len(learned.Mistakes)))
	}
	return j.Predictor(&learned.Result)
}

// writeTrained writes the file of a trained model, completes its report and prints.
func (a *app) writeTrained(set *dataset.Set, p *model.Predictor, r *report.Training,
	file *svm.ModelFile) error {
	p.Program = report.Version()
	r.Subject.Model = nil // Training has another field of this name
	r.Status, r.TestLoss = cmp.Or(r.Status, p.Training.Status), p.Training.TestLoss
	r.Apparent = report.Number(p.Training.Apparent)
	for _, one := range p.All() {
		one.Loss = r.Subject.Loss
		r.SupportVectors += len(one.Weight)
	}
	if len(set.Levels()) > 2 {
		in, err := answer.PredictBy(p, set, loss.ZeroOne{}, &answer.Question{})
		if err != nil {
			return err
		}
		r.Apparent = *in.TestError
	}
	write := p.Write
	if file != nil {
		fillLibsvm(file, set, p)
		if !file.Regression {
			r.Labels, r.Subject.Labels = file.Label[:], nil
		}
		r.Format, write = libsvmFormat, file.Write
	}
	a.mustFinish()
	if err := files.Replace(r.Model, write); err != nil {
		return err
	}
	return a.answer(r, nil)
}

// Formats of model files.
const (
	jsonFormat   = "json"
	libsvmFormat = "libsvm"
)

// libsvmModel is an empty model file of LIBSVM with the kernel of a model if the flag or the name requests
// one, else nil. rule: a perceptron is trained.
func (o *options) libsvmModel(j *answer.Study, rule bool) (*svm.ModelFile, error) {
	file, err := emptyModelFile(j)
	switch extension := filepath.Ext(o.model); {
	case o.format == libsvmFormat, o.format == "" && extension == ".libsvm":
		return file, err
	case o.format == "" && extension == ".model" && err == nil && (rule || loss.TraitsOf(j.Loss).Margin):
		return file, nil
	}
	return nil, nil
}

func emptyModelFile(j *answer.Study) (*svm.ModelFile, error) {
	const place = "a model file of LIBSVM has no place for"
	k := j.Subject.Kernel // with its defaults
	file := &svm.ModelFile{Gamma: k.Gamma, Regression: j.Set.AreNumbers(), Label: [2]int{1, -1}}
	switch {
	case j.Standardize:
		return nil,
			usage.Errorf("--no-standardize is required: %s the scales of features (--format json has one)",
				place)
	case k.Jitter != 0:
		return nil, usage.Errorf("--jitter is %v: %s it", k.Jitter, place)
	case len(k.LengthScale) > 1:
		return nil, usage.Errorf("--length-scale: %s one of each feature", place)
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
		return nil, usage.Errorf(
			"--kernel %s: a model file of LIBSVM has rbf, linear, poly or precomputed (--format json has "+
				"all)", k.Kind)
	}
	return file, nil
}

// fillLibsvm writes a predictor into a file of LIBSVM. With the kernel A k + B the weights include A, and the
// bias B times their sum.
func fillLibsvm(file *svm.ModelFile, set *dataset.Set, p *model.Predictor) {
	rows := p.Support.Sparse
	if d := p.Encoding.Features; rows == nil {
		rows = linalg.NewCSR(linalg.Matrix{Rows: len(p.Support.Dense) / d, Cols: d, Stride: d,
			Data: p.Support.Dense})
	}
	file.X, file.Weight, file.Bias = rows, make([]float64, len(p.Weight)), p.Bias+p.TargetMean
	for i, w := range p.Weight {
		file.Weight[i] = p.Kernel.Amplitude * w
		file.Bias += p.Kernel.Constant * w
	}
	if file.Kernel == svm.FilePrecomputed {
		byNumber := make([]float64, set.N()) // of the example
		for i, example := range p.Support.Examples {
			byNumber[example] = file.Weight[i]
		}
		file.Weight = byNumber
	}
	if c := set.Columns[0]; len(c.Levels) == 2 && !c.Texts && !file.Regression {
		whole := func(label float64) bool {
			return label == math.Trunc(label) &&
				math.Abs(label) <= math.MaxInt32
		}
		negative, low := strconv.ParseFloat(c.Levels[0], 64)
		positive, high := strconv.ParseFloat(c.Levels[1], 64)
		if low == nil && high == nil && whole(positive) && whole(negative) {
			file.Label = [2]int{int(positive), int(negative)}
		}
	}
}
