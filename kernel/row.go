package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// Training is what prepared training inputs offer, dense (Inputs) or sparse
// (SparseInputs): the whole kernel matrix, or its rows one at a time for those
// who never hold it.
type Training interface {
	// M and D are the numbers of inputs and of features.
	M() int
	D() int
	// Gram is the M x M kernel matrix with the jitter on its diagonal.
	Gram() (*linalg.Sym, error)
	// Row writes row i (from 0) of that matrix into dst, and GramDiagonal its
	// diagonal; dst has length M. A covariance that is not finite is an error.
	Row(dst []float64, i int) error
	GramDiagonal(dst []float64) error
}

// Row writes row i of Gram into dst (length M), up to rounding, without the rest.
func (in *Inputs) Row(dst []float64, i int) error {
	if err := checkRow(dst, i, in.M()); err != nil {
		return err
	}
	x := blas64.Vector{N: in.D(), Inc: 1, Data: row(in.train.scaled, i)}
	blas64.Gemv(blas.NoTrans, 1, in.train.scaled, x, 0, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
	if j := in.covariances(dst, &in.train, i, 0); j >= 0 {
		return fmt.Errorf("kernel %v of rows %d and %d is not finite", in.spec.Kind, i+1, j+1)
	}
	dst[i] += in.spec.Jitter
	return nil
}

// GramDiagonal writes the diagonal of Gram into dst (length M), up to rounding.
func (in *Inputs) GramDiagonal(dst []float64) error {
	if err := in.Diag(in.train.raw, dst); err != nil {
		return err
	}
	for i := range dst {
		dst[i] += in.spec.Jitter
	}
	return nil
}

func checkRow(dst []float64, i, m int) error {
	if i < 0 || i >= m || len(dst) != m {
		return fmt.Errorf("row %d of a kernel matrix of order %d into %d numbers", i+1, m, len(dst))
	}
	return nil
}
