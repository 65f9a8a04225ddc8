package svm

import "gonum.org/v1/gonum/floats"

// Features are N inputs as vectors of D numbers, dense or sparse, for linear
// kernels.
type Features interface {
	N() int
	D() int
	// Dot is the product of input i with w, which has length D.
	Dot(i int, w []float64) float64
	// AddTo adds c times input i to w.
	AddTo(w []float64, i int, c float64)
}

// DenseFeatures are inputs stored row by row, N rows of Cols numbers that begin
// Stride apart.
type DenseFeatures struct {
	Rows, Cols, Stride int
	Data               []float64
}

// N is the number of inputs.
func (x DenseFeatures) N() int { return x.Rows }

// D is the number of features.
func (x DenseFeatures) D() int { return x.Cols }

func (x DenseFeatures) row(i int) []float64 { return x.Data[i*x.Stride : i*x.Stride+x.Cols] }

// Dot is the product of input i with w.
func (x DenseFeatures) Dot(i int, w []float64) float64 {
	return floats.Dot(x.row(i), w)
}

// AddTo adds c times input i to w.
func (x DenseFeatures) AddTo(w []float64, i int, c float64) { floats.AddScaled(w, c, x.row(i)) }

// SparseFeatures are N inputs of Cols features: input i has the entries Start[i] to
// Start[i+1]-1, Value in the feature Index.
type SparseFeatures struct {
	Cols  int
	Start []int // length N+1, from 0
	Index []int32
	Value []float64
}

// N is the number of inputs.
func (x SparseFeatures) N() int { return len(x.Start) - 1 }

// D is the number of features.
func (x SparseFeatures) D() int { return x.Cols }

// Dot is the product of input i with w.
func (x SparseFeatures) Dot(i int, w []float64) float64 {
	s := 0.0
	for e := x.Start[i]; e < x.Start[i+1]; e++ {
		s += x.Value[e] * w[x.Index[e]]
	}
	return s
}

// AddTo adds c times input i to w.
func (x SparseFeatures) AddTo(w []float64, i int, c float64) {
	for e := x.Start[i]; e < x.Start[i+1]; e++ {
		w[x.Index[e]] += c * x.Value[e]
	}
}
