package core

import (
	"fmt"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Rows is rows first to last-1 of a.
func Rows(a blas64.General, first, last int) blas64.General {
	return blas64.General{Rows: last - first, Cols: a.Cols, Stride: a.Stride, Data: a.Data[first*a.Stride:]}
}

// Cols is columns first to last-1 of a.
func Cols(a blas64.General, first, last int) blas64.General {
	return blas64.General{Rows: a.Rows, Cols: last - first, Stride: a.Stride, Data: a.Data[first:]}
}

// Vector is x as BLAS takes it.
func Vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Eigenvalues are those of the symmetric matrix whose lower triangle a holds, ascending; a is lost.
func Eigenvalues(a blas64.General) ([]float64, error) {
	values := make([]float64, a.Rows)
	if !blas.Bound().Eigenvalues(gblas.Lower, a.Rows, a.Data, a.Stride, values) {
		return values, fmt.Errorf("the eigenvalues of a matrix of order %d did not converge", a.Rows)
	}
	return values, nil
}
