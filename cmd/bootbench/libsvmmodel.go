package main

import (
	"math"
	"path/filepath"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/svm"
	"bootbench/kernel"
)

// Formats of model files.
const (
	jsonFormat   = "json"
	libsvmFormat = "libsvm"
)

// fileFormat is the format of the model file: what is asked for by flag or name. rule says
// that a perceptron is trained.
func (t *trainFlags) fileFormat(j *job, rule bool) (string, error) {
	_, err := emptyModelFile(j)
	switch extension := filepath.Ext(t.path); {
	case t.format == libsvmFormat, t.format == "" && extension == ".libsvm":
		return libsvmFormat, err
	case t.format == "" && extension == ".model" && err == nil && (rule || margin(j.Loss)):
		return libsvmFormat, nil
	}
	return jsonFormat, nil
}

// emptyModelFile is a model file of LIBSVM with the kernel of a model.
func emptyModelFile(j *job) (*svm.ModelFile, error) {
	const place = "a model file of LIBSVM has no place for"
	k := j.report.Kernel // with its defaults
	file := &svm.ModelFile{Gamma: k.Gamma, Regression: j.Set.Task == dataset.Regression}
	switch {
	case j.Standardize:
		return nil, usage.Errorf("--no-standardize is required: %s the scales of features (--format json has one)",
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
			"--kernel %s: a model file of LIBSVM has rbf, linear, poly or precomputed (--format json has all)", k.Kind)
	}
	return file, nil
}

// whole reports whether a label is one that model files of LIBSVM can hold.
func whole(label float64) bool { return label == math.Trunc(label) && math.Abs(label) <= math.MaxInt32 }

// libsvmFile is the file of LIBSVM of a predictor. With the kernel A k + B the weights take
// up A, and the bias B times their sum.
func libsvmFile(j *job, p *model.Predictor) (*svm.ModelFile, error) {
	file, err := emptyModelFile(j)
	if err != nil {
		return nil, err
	}
	rows := p.Support.Sparse
	if d := p.Encoding.Features; rows == nil {
		rows = dataset.NewCSR(dataset.Matrix{Rows: len(p.Support.Dense) / d, Cols: d, Stride: d,
			Data: p.Support.Dense})
	}
	weight, bias := make([]float64, len(p.Weight)), p.Bias+p.TargetMean
	for i, w := range p.Weight {
		weight[i] = p.Kernel.Amplitude * w
		bias += p.Kernel.Constant * w
	}
	if file.Kernel == svm.FilePrecomputed {
		spread := make([]float64, j.Set.N()) // by number of the example
		for i, example := range p.Support.Examples {
			spread[example] = weight[i]
		}
		weight, rows = spread, &dataset.CSR{}
	}
	if err := file.SetPredictor(weight, bias, rows.Start, rows.Index, rows.Value); err != nil {
		return nil, err
	}
	if labels := j.Set.Labels; labels != nil && !file.Regression {
		if negative, positive, ok := labels.Numbers(); ok && whole(positive) && whole(negative) {
			file.Label = [2]int{int(positive), int(negative)}
		}
	}
	return file, nil
}
