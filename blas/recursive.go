package blas

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
)

// float is the type of a matrix's elements.
type float interface{ float32 | float64 }

// kernels are the base functions of the recursions of this file, in one precision: level 3 BLAS on blocks of
// any size, and the kernels of leaves. Arguments are as in gonum's blas.Float64 and in Backend.
type kernels[T float] struct {
	gemm func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
		ldc int)
	syrk func(uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	trmm triangular[T]

	// trsm, potrf, trtri and lauum are called with triangles of a leaf's order or less.
	trsm         triangular[T]
	potrf        func(uplo blas.Uplo, n int, a []T, lda int) (minor int)
	trtri, lauum func(uplo blas.Uplo, n int, a []T, lda int)
}

// triangular is the type of trmm and trsm.
type triangular[T float] = func(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T,
	a []T, lda int, b []T, ldb int)

// recursion halves triangles down to order leaf, so that nearly all of the work is in products of large
// blocks.
type recursion[T float] struct {
	kernels *kernels[T]
	leaf    int
}

// potrf, trtri and lauum are Backend's, with recursions that end in the given kernels.
func potrf[T float](k *kernels[T], leaf int, uplo blas.Uplo, n int, a []T, lda int) (minor int) {
	checkTriangle(n, a, lda)
	return recursion[T]{k, leaf}.potrf(n, n, lowerTriangle(uplo, a, lda))
}

func trtri[T float](k *kernels[T], leaf int, uplo blas.Uplo, n int, a []T, lda int) (zero int) {
	checkTriangle(n, a, lda)
	zero = firstOnDiagonal(n, a, lda, func(v float64) bool { return v == 0 })
	if zero == 0 {
		recursion[T]{k, leaf}.trtri(n, lowerTriangle(uplo, a, lda))
	}
	return zero
}

func lauum[T float](k *kernels[T], leaf int, uplo blas.Uplo, n int, a []T, lda int) {
	checkTriangle(n, a, lda)
	recursion[T]{k, leaf}.lauum(n, lowerTriangle(uplo, a, lda))
}

// checkTriangle panics if the slice is too short for the triangle, or its size overflows OpenBLAS's 32-bit
// integers.
func checkTriangle[T float](n int, a []T, lda int) {
	if n < 0 || lda < max(1, n) || n > math.MaxInt32 || lda > math.MaxInt32 {
		panic(fmt.Sprintf("blas: bad order %d or stride %d", n, lda))
	}
	if n > 0 && len(a) < (n-1)*lda+n {
		panic(fmt.Sprintf("blas: %d numbers do not hold a triangle of order %d and stride %d",
			len(a), n, lda))
	}
}

// firstOnDiagonal is the number of the first diagonal element that is bad, or 0.
func firstOnDiagonal[T float](n int, a []T, lda int, bad func(v float64) bool) int {
	for i := range n {
		if bad(float64(a[i*lda+i])) {
			return i + 1
		}
	}
	return 0
}

// half is the order of the first half of a matrix of order n > leaf: a multiple of leaf, for alignment.
func half(n, leaf int) int { return (n/2 + leaf - 1) / leaf * leaf }

// potrf factorises the first n columns of a lower triangle of order m >= n, down to its last row:
//
//	A11 = L11 L11',   L21 = A21 L11^-T,
//
// n1 columns and then, after A22 - L21 L21', the next n2.
func (r recursion[T]) potrf(m, n int, a block[T]) (minor int) {
	if n <= r.leaf {
		minor = r.kernels.potrf(a.uplo(), n, a.data, a.stride)
		if minor == 0 && m > n {
			r.divide(m-n, n, a.at(n, 0), a)
		}
		return minor
	}
	n1 := half(n, r.leaf)
	if minor = r.potrf(m, n1, a); minor != 0 {
		return minor
	}
	n2 := n - n1
	l21, a22 := a.at(n1, 0), a.at(n1, n1)
	r.addSquare(n2, n1, -1, l21, blas.NoTrans, a22)
	if m > n {
		r.subtractProduct(m-n, n2, n1, a.at(n, 0), l21, a.at(n, n1))
	}
	if minor = r.potrf(m-n1, n2, a22); minor != 0 {
		minor += n1
	}
	return minor
}

// trtri inverts a lower triangle of order n: with its halves inverted, L21 becomes -L22^-1 L21 L11^-1.
func (r recursion[T]) trtri(n int, l block[T]) {
	if n <= r.leaf {
		r.kernels.trtri(l.uplo(), n, l.data, l.stride)
		return
	}
	n1 := half(n, r.leaf)
	l21, l22 := l.at(n1, 0), l.at(n1, n1)
	r.trtri(n1, l)
	r.trtri(n-n1, l22)
	r.multiply(blas.Right, n-n1, n1, -1, l, blas.NoTrans, l21)
	r.multiply(blas.Left, n-n1, n1, 1, l22, blas.NoTrans, l21)
}

// lauum overwrites a lower triangle of order n with the one of L'L, whose blocks are
// L11'L11 + L21'L21, L22'L21 and L22'L22.
func (r recursion[T]) lauum(n int, l block[T]) {
	if n <= r.leaf {
		r.kernels.lauum(l.uplo(), n, l.data, l.stride)
		return
	}
	n1 := half(n, r.leaf)
	l21, l22 := l.at(n1, 0), l.at(n1, n1)
	r.lauum(n1, l)
	r.addSquare(n1, n-n1, 1, l21, blas.Trans, l)
	r.multiply(blas.Left, n-n1, n1, 1, l22, blas.Trans, l21)
	r.lauum(n-n1, l22)
}

// block is a block of a lower triangular matrix, stored as it is or, as an upper triangle, transposed.
// Operations on blocks are named for the lower form; on the upper form they act on the transposes, from the
// other side.
type block[T float] struct {
	data   []T
	stride int
	upper  bool
}

// at is the block that starts at row i and column j.
func (b block[T]) at(i, j int) block[T] {
	if b.upper {
		i, j = j, i
	}
	b.data = b.data[i*b.stride+j:]
	return b
}

// uplo is the stored triangle of a block on the diagonal.
func (b block[T]) uplo() blas.Uplo {
	if b.upper {
		return blas.Upper
	}
	return blas.Lower
}

func lowerTriangle[T float](uplo blas.Uplo, a []T, lda int) block[T] {
	return block[T]{a, lda, uplo == blas.Upper}
}

// addSquare adds alpha A A' (t = blas.NoTrans) or alpha A'A (blas.Trans) to a
// triangle of order n; k is the other dimension of A.
func (r recursion[T]) addSquare(n, k int, alpha T, a block[T], t blas.Transpose, c block[T]) {
	if a.upper {
		t = otherwise(t)
	}
	r.kernels.syrk(c.uplo(), t, n, k, alpha, a.data, a.stride, 1, c.data, c.stride)
}

func otherwise(t blas.Transpose) blas.Transpose {
	if t == blas.Trans {
		return blas.NoTrans
	}
	return blas.Trans
}

// subtractProduct is C -= A B', C being m x n and A and B having k columns.
func (r recursion[T]) subtractProduct(m, n, k int, a, b, c block[T]) {
	first, second := blas.NoTrans, blas.Trans
	if c.upper {
		first, second, m, n, a, b = second, first, n, m, b, a
	}
	r.kernels.gemm(first, second, m, n, k, -1, a.data, a.stride, b.data, b.stride, 1, c.data, c.stride)
}

// multiply is X = alpha op(L) X (blas.Left) or alpha X op(L) (blas.Right), X being m x n and op(L) as t says.
func (r recursion[T]) multiply(s blas.Side, m, n int, alpha T, l block[T], t blas.Transpose, x block[T]) {
	if x.upper {
		s, m, n = opposite(s), n, m
	}
	r.kernels.trmm(s, l.uplo(), t, blas.NonUnit, m, n, alpha, l.data, l.stride, x.data, x.stride)
}

// divide is X = X L^-T, X being m x n.
func (r recursion[T]) divide(m, n int, x, l block[T]) {
	s := blas.Right
	if x.upper {
		s, m, n = opposite(s), n, m
	}
	r.kernels.trsm(s, l.uplo(), blas.Trans, blas.NonUnit, m, n, 1, l.data, l.stride, x.data, x.stride)
}

func opposite(s blas.Side) blas.Side {
	if s == blas.Left {
		return blas.Right
	}
	return blas.Left
}
