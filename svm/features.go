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

// PrimalWeights are w = sum_s beta_s x_s, length D, with which a linear kernel
// K(x, x') = x'x has f(x) = w'x + bias. beta has length N.
func PrimalWeights(x Features, beta []float64) []float64 {
	w := make([]float64, x.D())
	for i, b := range beta {
		if b != 0 {
			x.AddTo(w, i, b)
		}
	}
	return w
}
