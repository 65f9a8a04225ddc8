package linalg

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// Triangular work cut into products of rectangles: dgemm is the one kernel that
// every backend runs at full speed and on all threads (gonum's own dsyrk, dtrsm
// and dtrmm run at a tenth of it; OpenBLAS's dsyrk at three quarters and more). The rest of a triangle that a rectangle covers
// beyond it costs a share bandRows/(2 order) of the flops.

// bandRows is the height of the bands that a triangle is cut into.
const bandRows = 64

// eachBand calls f for the bands of a triangle of order n.
func eachBand(n int, f func(first, last int)) {
	for first := 0; first < n; first += bandRows {
		f(first, min(n, first+bandRows))
	}
}

// addGram adds the lower triangle of a b' to c: a and b are r x n, c is r x r. What
// lies right of the diagonal is changed too, in no useful way.
func addGram(c, a, b blas64.General) {
	if a.Cols == 0 || c.Rows == 0 {
		return
	}
	if &a.Data[0] == &b.Data[0] && blas.Bound().Name() == blas.OpenBLAS {
		blas64.Syrk(gblas.NoTrans, 1, a, 1, blas64.Symmetric{Uplo: gblas.Lower, N: c.Rows, Stride: c.Stride, Data: c.Data})
		return
	}
	eachBand(c.Rows, func(first, last int) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Rows(a, first, last), core.Rows(b, 0, last), 1, core.Cols(core.Rows(c, first, last), 0, last))
	})
}

// LowerGram writes the lower triangle of a a' into c, both of order n. What lies right
// of c's diagonal is changed too, in no useful way: a part of it, n/8 wide or
// bandRows. It costs n^3 flops and a share of that for this part. OpenBLAS's dsyrk, which gains
// little from a second thread, does without that share.
func LowerGram(c, a blas64.General) {
	if bound := blas.Bound(); bound.Name() == blas.OpenBLAS && bound.Threads() == 1 && c.Rows > 0 {
		blas64.Syrk(gblas.NoTrans, 1, a, 0, blas64.Symmetric{Uplo: gblas.Lower, N: c.Rows, Stride: c.Stride, Data: c.Data})
		return
	}
	height := max(bandRows, c.Rows/8)
	for first := 0; first < c.Rows; first += height {
		last := min(c.Rows, first+height)
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Rows(a, first, last), core.Rows(a, 0, last), 0, core.Cols(core.Rows(c, first, last), 0, last))
	}
}

// mulLower writes the product of the lower triangle of c (r x r) and a (r x n)
// into dst. The triangle must be all that c holds within its bands.
func mulLower(dst, c, a blas64.General) {
	eachBand(c.Rows, func(first, last int) {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, core.Cols(core.Rows(c, first, last), 0, last), core.Rows(a, 0, last), 0, core.Rows(dst, first, last))
	})
}

// solveLower overwrites a (r x n) with L^-1 a, L the lower triangle of l.
func solveLower(l, a blas64.General) {
	eachBand(l.Rows, func(first, last int) {
		band := core.Rows(a, first, last)
		if first > 0 {
			blas64.Gemm(gblas.NoTrans, gblas.NoTrans, -1, core.Cols(core.Rows(l, first, last), 0, first), core.Rows(a, 0, first), 1, band)
		}
		corner := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: last - first, Stride: l.Stride, Data: l.Data[first*l.Stride+first:]}
		blas64.Trsm(gblas.Left, gblas.NoTrans, 1, corner, band)
	})
}

// newGeneral is a zero matrix, see Plan.Matrix.
func newGeneral(rows, cols int) blas64.General { return new(core.Plan).Matrix(rows, cols) }

// lowerOf is the lower triangle of a square matrix.
func lowerOf(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// copyLower writes the lower triangle of a, and zeros above it, into dst.
func copyLower(dst, a blas64.General) {
	for i := range a.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+a.Cols]
		copy(row[:i+1], a.Data[i*a.Stride:])
		clear(row[i+1:])
	}
}
