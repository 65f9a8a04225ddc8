package main

import (
	"path/filepath"
	"strings"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/train/svm"
)

// perceptronLoss is a further value of train's --loss: a learning rule that minimises no loss.
const perceptronLoss = "perceptron"

// mostHeadline is the number of rows above which train tells no error on new rows, which takes ten fits.
const mostHeadline = 5000

func runTrain(a *app, o *options, data []string) {
	rule, p := o.loss == perceptronLoss, a.read(o, data[0], standard.DefaultSample)
	p.spec.Bias = p.spec.Bias && !rule
	if rule && p.spec.Set.Sparse != nil && p.spec.Kernel.Kind == kernel.Linear && p.spec.Kernel.Jitter == 0 {
		p.spec.Storage = model.Primal
	}
	s := a.build(a.ctx, p)
	how := answer.Training{Perceptron: rule, Passes: o.passes, Uncorrected: o.noError}
	if o.Given("tol") {
		if how.Tolerance = o.asked.Solve.Tolerance; !loss.TraitsOf(s.Model.Loss).Margin {
			refuse("--tol is for --loss hinge and hard, not for %s", s.Model.Loss.Name())
		}
	}
	var file *svm.ModelFile
	if len(s.Model.Functions) == 1 {
		file = o.libsvmModel(s, rule)
	}
	if how.Bare = file != nil; how.Bare && o.measure.ByProbability() {
		refuse("--judge %v: a model file of LIBSVM has no place for a threshold (--format json has one)",
			o.measure)
	}
	a.console.Progress("training", 0, 1)
	trained, r, err := s.TrainBy(a.ctx, how)
	steps.Check(err)
	write := trained.Write
	if r.Format = jsonFormat; file != nil {
		trained.FillLIBSVM(file, p.spec.Set.N())
		if !file.Regression {
			r.Labels, r.Subject.Labels = file.Label[:], nil
		}
		r.Format, write = libsvmFormat, file.Write
	}
	trained.Program, r.ModelFile = report.Version(), o.model
	if !rule && !o.noError && s.Model.Set.N() <= mostHeadline {
		if r.Headline = steps.Must(s.Headline(a.ctx, o.asked.Seed, o.asked.Level)); r.Headline != nil {
			r.Add(r.Said...)
		}
	}
	a.mustFinish()
	steps.Check(files.Replace(o.model, write))
	a.deliver(r)
}

// Formats of model files.
const (
	jsonFormat   = "json"
	libsvmFormat = "libsvm"
)

// modelExtension ends the name of a model file, by which predict tells it from DATA.
const modelExtension = ".json"

// modelName is the name of the model file of DATA in the working folder: houses.csv.gz has houses.model.json.
// It is "" for DATA whose name could not be that of one file.
func modelName(data string) string {
	name := filepath.Base(data)
	if data == "-" || strings.ContainsAny(name, ":*?[") {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	return name + ".model" + modelExtension
}

// libsvmModel is an empty model file of LIBSVM with the kernel of a model if the flag or the name requests
// one, else nil. rule: a perceptron is trained.
func (o *options) libsvmModel(j *answer.Study, rule bool) (file *svm.ModelFile) {
	err := steps.Run(func() { file = emptyModelFile(j) })
	switch extension := filepath.Ext(o.model); {
	case o.format == libsvmFormat, o.format == "" && extension == ".libsvm":
		steps.Check(err)
		return file
	case o.format == "" && extension == ".model" && (rule || loss.TraitsOf(j.Model.Loss).Margin):
		return file // nil if it has no place for the model
	}
	return nil
}

func emptyModelFile(j *answer.Study) *svm.ModelFile {
	const place = "a model file of LIBSVM has no place for"
	k := j.Subject.Kernel // with its defaults
	file := &svm.ModelFile{Gamma: k.Gamma, Regression: j.Model.Set.AreNumbers(), Label: [2]int{1, -1}}
	switch {
	case j.Model.Standardize:
		refuse("--no-standardize is required: %s the scales of features (--format json has one)", place)
	case k.Jitter != 0:
		refuse("--jitter is %v: %s it", k.Jitter, place)
	case len(k.LengthScale) > 1:
		refuse("--length-scale: %s one of each feature", place)
	case len(k.LengthScale) == 1:
		file.Gamma = 1 / (2 * k.LengthScale[0] * k.LengthScale[0])
	}
	switch j.Model.Kernel.Kind {
	case kernel.RBF:
		file.Kernel = svm.FileRBF
	case kernel.Linear:
		file.Kernel = svm.FileLinear
	case kernel.Poly:
		file.Kernel, file.Degree, file.Coef0 = svm.FilePoly, k.Degree, k.Coef0
	case kernel.Precomputed:
		file.Kernel = svm.FilePrecomputed
	default:
		refuse("--kernel %s: a model file of LIBSVM has rbf, linear, poly or precomputed (--format json has "+
			"all)", k.Kind)
	}
	return file
}
