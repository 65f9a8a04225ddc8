//go:build openblas

package blas

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"
)

// doubles and singles are OpenBLAS in the two precisions.
//
// OpenBLAS's products are fast, with triangles too. Slow are trsm without a kernel for the processor
// (SkylakeX), trtri and therefore potrf, and lauum on small triangles, which uses threads at every order. So
// trsm here is a product with the inverse, and lauum a product of the triangle padded with zeros.
//
// The inverse of a triangle replaces substitution up to a bound on |L| |L^-1| (Frobenius), the worst-case
// growth of rounding errors. Measured on smooth kernels, they are at most three times as large as by
// substitution.
var (
	open    = netlib.Implementation{}
	doubles = byProducts(kernels[float64]{gemm: open.Dgemm, syrk: open.Dsyrk, trmm: open.Dtrmm,
		trsm: open.Dtrsm}, 1e4)
	singles = byProducts(kernels[float32]{gemm: open.Sgemm, syrk: open.Ssyrk, trmm: open.Strmm,
		trsm: open.Strsm}, 1e3)
)

// smallLeaf is the order at which the recursions stop, largeLeaf the order for potrf in matrices above
// leafOrder: its leaves also divide all the rows below, which occupies threads.
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

// byProducts completes the kernels of BLAS by those on leaves.
func byProducts[T float](plain kernels[T], condition float64) *kernels[T] {
	k := plain
	k.potrf, k.trtri = plainPotrf[T], plainTrtri[T]
	// A pool of workspaces for leaves, so that a factorisation allocates nothing.
	type square [largeLeaf * largeLeaf]T
	squares := sync.Pool{New: func() any { return new(square) }}
	k.trsm = func(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T,
		a []T, lda int, b []T, ldb int) {
		lent := squares.Get().(*square)
		defer squares.Put(lent)
		order := n
		if s == blas.Left {
			order = m
		}
		inverse := lent[:order*order]
		fillTriangle(uplo, order, inverse, a, lda)
		size := sumOfSquares(inverse)
		recursion[T]{&k, smallLeaf}.trtri(order, lowerTriangle(uplo, inverse, order))
		if size*sumOfSquares(inverse) <= condition*condition {
			k.trmm(s, uplo, t, d, m, n, alpha, inverse, order, b, ldb)
		} else {
			plain.trsm(s, uplo, t, d, m, n, alpha, a, lda, b, ldb)
		}
	}
	k.lauum = func(uplo blas.Uplo, n int, a []T, lda int) {
		if n == 0 {
			return
		}
		lent := squares.Get().(*square)
		defer squares.Put(lent)
		fillTriangle(uplo, n, lent[:], a, lda)
		t := blas.Trans
		if uplo == blas.Upper {
			t = blas.NoTrans
		}
		k.syrk(uplo, t, n, n, 1, lent[:], n, 0, a, lda)
	}
	return &k
}

// fillTriangle copies a triangle into a full matrix, with zeros elsewhere.
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
