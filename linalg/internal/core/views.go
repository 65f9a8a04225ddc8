package core

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Rows is rows first to last-1 of a.
func Rows(a blas64.General, first, last int) blas64.General {
	return blas64.General{Rows: last - first, Cols: a.Cols, Stride: a.Stride, Data: a.Data[first*a.Stride:]}
}

// Cols is columns first to last-1 of a, which may have no rows.
func Cols(a blas64.General, first, last int) blas64.General {
	data := a.Data[min(first, len(a.Data)):]
	return blas64.General{Rows: a.Rows, Cols: last - first, Stride: a.Stride, Data: data}
}

// Row is row i of a.
func Row(a blas64.General, i int) []float64 {
	return a.Data[i*a.Stride : i*a.Stride+a.Cols : i*a.Stride+a.Cols]
}

// Vector is x as BLAS takes it.
func Vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// AddProduct adds alpha a op(b) to c.
func AddProduct(c blas64.General, alpha float64, a blas64.General, t gblas.Transpose, b blas64.General) {
	switch {
	case c.Rows == 0 || c.Cols == 0 || a.Cols == 0:
	case c.Rows == 1:
		opposite := gblas.Trans
		if t == gblas.Trans {
			opposite = gblas.NoTrans
		}
		blas64.Gemv(opposite, alpha, b, Vector(Row(a, 0)), 1, Vector(Row(c, 0)))
	default:
		blas64.Gemm(gblas.NoTrans, t, alpha, a, b, 1, c)
	}
}
