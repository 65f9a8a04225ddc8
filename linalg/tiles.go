package linalg

import (
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// Triangular work cut into products of rectangles: dgemm is the one kernel that
// every backend runs at full speed and on all threads (gonum's own dsyrk, dtrsm
// and dtrmm run at a tenth of it; OpenBLAS's dsyrk at three quarters and more). The rest of a triangle that a
// rectangle covers beyond it costs a share bandRows/(2 order) of the flops.

// bandRows is the height of the bands that a triangle is cut into.
const bandRows = 64

// eachBand calls f for the bands of a triangle of order n.
func eachBand(n int, f func(first, last int)) {
	for first := 0; first < n; first += bandRows {
		f(first, min(n, first+bandRows))
	}
}

// addGram adds alpha times the lower triangle of a a' to c: a is r x n, c is r x r. What
// lies right of the diagonal is changed too, in no useful way.
func addGram(c blas64.General, alpha float64, a blas64.General) {
	if a.Cols == 0 || c.Rows == 0 {
		return
	}
	if fastTriangles() {
		blas64.Syrk(gblas.NoTrans, alpha, a, 1, blas64.Symmetric{Uplo: gblas.Lower, N: c.Rows, Stride: c.Stride,
			Data: c.Data})
		return
	}
	eachBand(c.Rows, func(first, last int) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, alpha, core.Rows(a, first, last), core.Rows(a, 0, last), 1,
			core.Cols(core.Rows(c, first, last), 0, last))
	})
}

// fastTriangles reports whether dsyrk and dtrmm run at most of the rate of dgemm.
func fastTriangles() bool { return blas.Bound().Name() == blas.OpenBLAS }

// LowerGram writes the lower triangle of a a' into c, both of order n. What lies right
// of c's diagonal is changed too, in no useful way: a part of it, n/8 wide or
// bandRows. It costs n^3 flops and a share of that for this part. OpenBLAS's dsyrk, which gains
// little from a second thread, does without that share.
func LowerGram(c, a blas64.General) {
	if bound := blas.Bound(); bound.Name() == blas.OpenBLAS && bound.Threads() == 1 && c.Rows > 0 {
		blas64.Syrk(gblas.NoTrans, 1, a, 0, blas64.Symmetric{Uplo: gblas.Lower, N: c.Rows, Stride: c.Stride,
			Data: c.Data})
		return
	}
	height := max(bandRows, c.Rows/8)
	for first := 0; first < c.Rows; first += height {
		last := min(c.Rows, first+height)
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Rows(a, first, last), core.Rows(a, 0, last), 0,
			core.Cols(core.Rows(c, first, last), 0, last))
	}
}

// mulLower overwrites a (r x n) with the product of the lower triangle of c (r x r) and a.
func mulLower(c, a blas64.General) {
	if a.Cols == 0 || c.Rows == 0 {
		return
	}
	if fastTriangles() {
		blas64.Trmm(gblas.Left, gblas.NoTrans, 1, lowerOf(c), a)
		return
	}
	for last := c.Rows; last > 0; {
		first := (last - 1) / bandRows * bandRows
		band := core.Rows(a, first, last)
		blas64.Trmm(gblas.Left, gblas.NoTrans, 1, lowerOf(core.Cols(core.Rows(c, first, last), first, last)), band)
		if first > 0 {
			blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, core.Cols(core.Rows(c, first, last), 0, first),
				core.Rows(a, 0, first), 1, band)
		}
		last = first
	}
}

// grid is a matrix by its rows.
type grid blas64.General

func (g grid) row(q int) []float64 {
	return g.Data[q*g.Stride : q*g.Stride+g.Cols : q*g.Stride+g.Cols]
}

// pickTo writes the listed elements of a, which are numbered from base, each scaled by what scale
// has under that number, into dst.
func pickTo(dst, a []float64, list []int, base int, scale []float64) {
	for c, i := range list {
		dst[c] = a[i-base] * scale[i]
	}
}

// addProducts adds the inner products of the columns of a and b to sums: of four rows at a time, so that sums
// pass a quarter as often.
func addProducts(sums []float64, a, b grid) {
	q := 0
	for ; q+4 <= a.Rows; q += 4 {
		a0, a1, a2, a3 := a.row(q), a.row(q+1), a.row(q+2), a.row(q+3)
		b0, b1, b2, b3 := b.row(q), b.row(q+1), b.row(q+2), b.row(q+3)
		a1, a2, a3, b0, b1, b2, b3 = a1[:len(a0)], a2[:len(a0)], a3[:len(a0)], b0[:len(a0)], b1[:len(a0)],
			b2[:len(a0)], b3[:len(a0)]
		for i, v := range a0 {
			sums[i] += v*b0[i] + a1[i]*b1[i] + (a2[i]*b2[i] + a3[i]*b3[i])
		}
	}
	for ; q < a.Rows; q++ {
		other := b.row(q)
		for i, v := range a.row(q) {
			sums[i] += v * other[i]
		}
	}
}

// bySign lists the numbers from first to last-1, those whose x is not negative first, and counts
// these.
func bySign(list []int, x []float64, first, last int) (numbers []int, count int) {
	numbers = list[:last-first]
	at, back := 0, len(numbers)
	for i := first; i < last; i++ {
		if x[i] >= 0 {
			numbers[at] = i
			at++
		} else {
			back--
			numbers[back] = i
		}
	}
	slices.Reverse(numbers[at:])
	return numbers, at
}

// solveLower overwrites a (r x n) with L^-1 a, L the lower triangle of l.
func solveLower(l, a blas64.General) {
	eachBand(l.Rows, func(first, last int) {
		band := core.Rows(a, first, last)
		if first > 0 {
			blas64.Gemm(gblas.NoTrans, gblas.NoTrans, -1, core.Cols(core.Rows(l, first, last), 0, first),
				core.Rows(a, 0, first), 1, band)
		}
		corner := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: last - first, Stride: l.Stride,
			Data: l.Data[first*l.Stride+first:]}
		blas64.Trsm(gblas.Left, gblas.NoTrans, 1, corner, band)
	})
}

// newGeneral is a zero matrix whose rows are an odd number of cache lines apart, so that
// walking down a column never returns to the same cache set.
func newGeneral(rows, cols int) blas64.General {
	stride := 8 * ((cols+7)/8 | 1)
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, rows*stride)}
}

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
