//go:build openblas

package blas

import (
	"sync"

	"gonum.org/v1/gonum/blas"
)

// double and single are OpenBLAS in the two precisions, at work on one matrix.
//
// OpenBLAS's products are fast, with triangles too. What is slow is trsm, where
// no kernel was written for the processor (SkylakeX), trtri and therefore potrf,
// and on small triangles lauum, which it shares out among threads whatever the
// order. So trsm here is a product with the inverse, and lauum a product of the
// triangle filled up with zeros.
type (
	double struct {
		openBLAS
		leaf *leafSquare[float64]
	}
	single struct {
		openBLAS
		leaf *leafSquare[float32]
	}
)

// smallLeaf is the order at which the recursions stop, largeLeaf that at which
// potrf does in matrices above leafOrder: its leaves divide all the rows below,
// for which threads want work.
const (
	smallLeaf = 32
	largeLeaf = 64
	leafOrder = 600
)

func potrfLeaf(n int) int {
	if n <= leafOrder {
		return smallLeaf
	}
	return largeLeaf
}

// leafSquare has room for a leaf of any of the recursions.
type leafSquare[T float] [largeLeaf * largeLeaf]T

// leafSquares lends them, so that a factorisation allocates nothing.
type leafSquares[T float] struct{ pool sync.Pool }

func (l *leafSquares[T]) borrow() *leafSquare[T] {
	if s, ok := l.pool.Get().(*leafSquare[T]); ok {
		return s
	}
	return new(leafSquare[T])
}

func (l *leafSquares[T]) giveBack(s *leafSquare[T]) { l.pool.Put(s) }

// Bounds on |L| |L^-1| (Frobenius) of a triangle whose inverse may stand in for
// substitution: at worst, rounding errors are that many times larger. Measured on
// smooth kernels, they stay within three times those of substitution.
const (
	conditionDouble = 1e4
	conditionSingle = 1e3
)

// timesInverse is trsm as a product with the inverse of A, formed in square. It
// leaves B as it is and returns false where that would cost too many digits.
func timesInverse[T float, K kernels[T]](k K, square []T, condition float64, s blas.Side, uplo blas.Uplo,
	t blas.Transpose, m, n int, alpha T, a []T, lda int, b []T, ldb int) bool {
	order := n
	if s == blas.Left {
		order = m
	}
	inverse := square[:order*order]
	fillTriangle(uplo, order, inverse, a, lda)
	size := sumOfSquares(inverse)
	recursion[T, K]{k, smallLeaf}.trtri(order, lowerTriangle(uplo, inverse, order))
	if !(size*sumOfSquares(inverse) <= condition*condition) {
		return false
	}
	k.trmm(s, uplo, t, m, n, alpha, inverse, order, b, ldb)
	return true
}

// fillTriangle makes a full matrix of a triangle, with zeros elsewhere.
func fillTriangle[T float](uplo blas.Uplo, n int, full, a []T, lda int) {
	for i := range n {
		first, last := 0, i+1
		if uplo == blas.Upper {
			first, last = i, n
		}
		row := full[i*n : (i+1)*n]
		clear(row[:first])
		copy(row[first:last], a[i*lda+first:])
		clear(row[last:])
	}
}

func sumOfSquares[T float](x []T) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// squareOfTriangle is lauum by syrk.
func squareOfTriangle[T float, K kernels[T]](k K, square []T, uplo blas.Uplo, n int, a []T, lda int) {
	if n == 0 {
		return
	}
	fillTriangle(uplo, n, square, a, lda)
	t := blas.Trans
	if uplo == blas.Upper {
		t = blas.NoTrans
	}
	k.syrk(uplo, t, n, n, 1, square, n, 0, a, lda)
}

func (d double) gemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	d.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (d double) syrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	d.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
}

func (d double) trmm(s blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	d.Dtrmm(s, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
}

func (d double) trsm(s blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	if !timesInverse(d, d.leaf[:], conditionDouble, s, uplo, t, m, n, alpha, a, lda, b, ldb) {
		d.Dtrsm(s, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
	}
}

func (d double) potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return dpotrf(uplo, n, a, lda)
}

func (d double) trtri(uplo blas.Uplo, n int, a []float64, lda int) { dtrtri(uplo, n, a, lda) }

func (d double) lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	squareOfTriangle(d, d.leaf[:], uplo, n, a, lda)
}

func (s single) gemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	s.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (s single) syrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	beta float32, c []float32, ldc int) {
	s.Ssyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
}

func (s single) trmm(side blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	s.Strmm(side, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
}

func (s single) trsm(side blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	if !timesInverse(s, s.leaf[:], conditionSingle, side, uplo, t, m, n, alpha, a, lda, b, ldb) {
		s.Strsm(side, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
	}
}

func (s single) potrf(uplo blas.Uplo, n int, a []float32, lda int) int {
	return spotrf(uplo, n, a, lda)
}

func (s single) trtri(uplo blas.Uplo, n int, a []float32, lda int) { strtri(uplo, n, a, lda) }

func (s single) lauum(uplo blas.Uplo, n int, a []float32, lda int) {
	squareOfTriangle(s, s.leaf[:], uplo, n, a, lda)
}
