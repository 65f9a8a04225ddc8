package core

import "gonum.org/v1/gonum/blas/blas64"

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
