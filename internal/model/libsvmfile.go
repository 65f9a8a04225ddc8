package model

import (
	"math"
	"strconv"

	"bootbench/linalg"
	"bootbench/train/svm"
)

// FillLIBSVM writes a predictor of data of n examples into a model file of LIBSVM that has its kernel. With
// the kernel A k + B the weights include A, and the bias B times their sum.
func (p *Predictor) FillLIBSVM(file *svm.ModelFile, n int) {
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
		byNumber := make([]float64, n) // of the example
		for i, example := range p.Support.Examples {
			byNumber[example] = file.Weight[i]
		}
		file.Weight = byNumber
	}
	if c := p.Encoding.Targets[0]; len(c.Levels) == 2 && !c.Texts && !file.Regression {
		negative, low := wholeLabel(c.Levels[0])
		positive, high := wholeLabel(c.Levels[1])
		if low && high {
			file.Label = [2]int{positive, negative}
		}
	}
}

// wholeLabel is the label of a class for a file, which holds whole numbers.
func wholeLabel(level string) (label int, ok bool) {
	v, err := strconv.ParseFloat(level, 64)
	return int(v), err == nil && v == math.Trunc(v) && math.Abs(v) <= math.MaxInt32
}
