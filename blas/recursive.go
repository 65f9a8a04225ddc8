package blas

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// The factorisations of the pure Go backend. Each halves its matrix until a
// block of leaf rows is left, so that nearly all of the work is in Dgemm, the
// one kernel that gonum blocks and runs in parallel. gonum's own Dpotrf,
// Dtrtri and Dlauum are the plain versions that tests hold these against.

// leaf is the order below which plain loops take over.
const leaf = 64

// newSquare is the scratch block, leaf x leaf, that potrf and lauum hand down.
func newSquare() []float64 { return make([]float64, leaf*leaf) }

// view is a triangular matrix in row-major storage. at(i, j) is the block
// that starts at element (i, j) of the lower triangle; for uplo == Upper the
// same code works on the transposed matrix, whose element (i, j) is stored at
// (j, i).
type view struct {
	uplo blas.Uplo
	a    []float64
	lda  int
}

func (v view) at(i, j int) view {
	if v.uplo == blas.Upper {
		i, j = j, i
	}
	return view{v.uplo, v.a[i*v.lda+j:], v.lda}
}

// index is the place of element (i, j).
func (v view) index(i, j int) int {
	if v.uplo == blas.Upper {
		i, j = j, i
	}
	return i*v.lda + j
}

// gemm is C += alpha op(A) op(B) in the view's sense: C is m x n, op(A) m x k.
func gemm(tA, tB bool, m, n, k int, alpha float64, a, b, c view) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if c.uplo == blas.Upper { // C' += alpha op(B)' op(A)', and all are stored transposed
		kernels.Dgemm(trans(tB), trans(tA), n, m, k, alpha, b.a, b.lda, a.a, a.lda, 1, c.a, c.lda)
		return
	}
	kernels.Dgemm(trans(tA), trans(tB), m, n, k, alpha, a.a, a.lda, b.a, b.lda, 1, c.a, c.lda)
}

func trans(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// half splits n so that the leading part is a multiple of the leaf.
func half(n int) int {
	return (n/2 + leaf - 1) / leaf * leaf
}

// potrf: A = L L'. Returns the first bad minor or 0.
func potrf(a view, n int, square []float64) int {
	if n <= leaf {
		return potrfLeaf(a, n)
	}
	n1 := half(n)
	a21, a22 := a.at(n1, 0), a.at(n1, n1)
	if minor := potrf(a, n1, square); minor != 0 {
		return minor
	}
	trsmRightTrans(a, n1, a21, n-n1)
	syrk(false, n-n1, n1, -1, a21, a22, square)
	if minor := potrf(a22, n-n1, square); minor != 0 {
		return n1 + minor
	}
	return 0
}

func potrfLeaf(a view, n int) int {
	for j := 0; j < n; j++ {
		pivot := a.a[a.index(j, j)] - a.rowDot(a, j, j, j)
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return j + 1
		}
		diagonal := math.Sqrt(pivot)
		a.a[a.index(j, j)] = diagonal
		for i := j + 1; i < n; i++ {
			p := a.index(i, j)
			a.a[p] = (a.a[p] - a.rowDot(a, i, j, j)) / diagonal
		}
	}
	return 0
}

// rowDot is the product of the first n elements of v's row i and w's row j.
func (v view) rowDot(w view, i, j, n int) float64 {
	if n == 0 {
		return 0
	}
	incV, incW := v.step(), w.step()
	return kernels.Ddot(n, v.a[v.index(i, 0):], incV, w.a[w.index(j, 0):], incW)
}

// step is the distance in storage between neighbours in a row.
func (v view) step() int {
	if v.uplo == blas.Upper {
		return v.lda
	}
	return 1
}

// kernels is gonum's BLAS: its dot, axpy and gemm are vectorised.
var kernels gonum.Implementation

// trsmRightTrans: B := B L^-T for B of m rows and L of order n.
func trsmRightTrans(l view, n int, b view, m int) {
	if n <= leaf {
		trsmRightTransLeaf(l, n, b, m)
		return
	}
	n1 := half(n)
	b2 := b.at(0, n1)
	trsmRightTrans(l, n1, b, m)
	gemm(false, true, m, n-n1, n1, -1, b, l.at(n1, 0), b2)
	trsmRightTrans(l.at(n1, n1), n-n1, b2, m)
}

// trsmRightTransLeaf runs along the contiguous direction of B: by rows, or for
// a transposed B by whole columns.
func trsmRightTransLeaf(l view, n int, b view, m int) {
	if b.uplo == blas.Upper {
		for j := 0; j < n; j++ {
			column := b.a[b.index(0, j):]
			for k := 0; k < j; k++ {
				kernels.Daxpy(m, -l.a[l.index(j, k)], b.a[b.index(0, k):], 1, column, 1)
			}
			kernels.Dscal(m, 1/l.a[l.index(j, j)], column, 1)
		}
		return
	}
	for i := 0; i < m; i++ {
		for j := 0; j < n; j++ {
			p := b.index(i, j)
			b.a[p] = (b.a[p] - b.rowDot(l, i, j, j)) / l.a[l.index(j, j)]
		}
	}
}

// syrk: C += alpha A A' (or alpha A' A), lower triangle of order n, inner size k.
func syrk(tA bool, n, k int, alpha float64, a, c view, square []float64) {
	if n <= leaf {
		syrkLeaf(tA, n, k, alpha, a, c, square)
		return
	}
	n1 := half(n)
	var a2 view
	if tA {
		a2 = a.at(0, n1)
	} else {
		a2 = a.at(n1, 0)
	}
	syrk(tA, n1, k, alpha, a, c, square)
	gemm(tA, !tA, n-n1, n1, k, alpha, a2, a, c.at(n1, 0))
	syrk(tA, n-n1, k, alpha, a2, c.at(n1, n1), square)
}

// syrkLeaf forms the whole small square and keeps its lower triangle.
func syrkLeaf(tA bool, n, k int, alpha float64, a, c view, square []float64) {
	clear(square)
	s := view{c.uplo, square, leaf}
	gemm(tA, !tA, n, n, k, alpha, a, a, s)
	for i := 0; i < n; i++ {
		for j := 0; j <= i; j++ {
			c.a[c.index(i, j)] += square[s.index(i, j)]
		}
	}
}

// trtri: L := L^-1. Returns the first zero diagonal element or 0.
func trtri(l view, n int) int {
	if zero := firstZero(n, l.a, l.lda); zero != 0 {
		return zero
	}
	trtriNonzero(l, n)
	return 0
}

// firstZero is the number of the first zero diagonal element, or 0.
func firstZero(n int, a []float64, lda int) int {
	for i := 0; i < n; i++ {
		if a[i*lda+i] == 0 {
			return i + 1
		}
	}
	return 0
}

func trtriNonzero(l view, n int) {
	if n <= leaf {
		invertLeaf(l, n)
		return
	}
	n1 := half(n)
	l21, l22 := l.at(n1, 0), l.at(n1, n1)
	trtriNonzero(l, n1)
	trtriNonzero(l22, n-n1)
	trmmLeft(false, -1, l22, n-n1, l21, n1)
	trmmRight(l, n1, l21, n-n1)
}

func invertLeaf(l view, n int) {
	for j := 0; j < n; j++ {
		l.a[l.index(j, j)] = 1 / l.a[l.index(j, j)]
		for i := j + 1; i < n; i++ {
			s := 0.0
			for k := j; k < i; k++ {
				s -= l.a[l.index(i, k)] * l.a[l.index(k, j)]
			}
			l.a[l.index(i, j)] = s / l.a[l.index(i, i)]
		}
	}
}

// trmmLeft: B := alpha L B or alpha L' B, B of m columns, L of order n.
func trmmLeft(tL bool, alpha float64, l view, n int, b view, m int) {
	if n <= leaf {
		trmmLeftLeaf(tL, alpha, l, n, b, m)
		return
	}
	n1 := half(n)
	b2, l21, l22 := b.at(n1, 0), l.at(n1, 0), l.at(n1, n1)
	if tL {
		trmmLeft(true, alpha, l, n1, b, m)
		gemm(true, false, n1, m, n-n1, alpha, l21, b2, b)
		trmmLeft(true, alpha, l22, n-n1, b2, m)
		return
	}
	trmmLeft(false, alpha, l22, n-n1, b2, m)
	gemm(false, false, n-n1, m, n1, alpha, l21, b, b2)
	trmmLeft(false, alpha, l, n1, b, m)
}

// trmmLeftLeaf combines whole rows of B, from the end on which none is needed
// any more.
func trmmLeftLeaf(tL bool, alpha float64, l view, n int, b view, m int) {
	for step := 0; step < n; step++ {
		i := n - 1 - step
		if tL {
			i = step
		}
		row := b.a[b.index(i, 0):]
		kernels.Dscal(m, alpha*l.a[l.index(i, i)], row, b.step())
		for k := 0; k < n; k++ {
			switch {
			case tL && k > i:
				kernels.Daxpy(m, alpha*l.a[l.index(k, i)], b.a[b.index(k, 0):], b.step(), row, b.step())
			case !tL && k < i:
				kernels.Daxpy(m, alpha*l.a[l.index(i, k)], b.a[b.index(k, 0):], b.step(), row, b.step())
			}
		}
	}
}

// trmmRight: B := B L, B of m rows, L of order n.
func trmmRight(l view, n int, b view, m int) {
	if n <= leaf {
		trmmRightLeaf(l, n, b, m)
		return
	}
	n1 := half(n)
	b2 := b.at(0, n1)
	trmmRight(l, n1, b, m)
	gemm(false, false, m, n1, n-n1, 1, b2, l.at(n1, 0), b)
	trmmRight(l.at(n1, n1), n-n1, b2, m)
}

// trmmRightLeaf adds up rows of L for each row of B.
func trmmRightLeaf(l view, n int, b view, m int) {
	var sum [leaf]float64
	for i := 0; i < m; i++ {
		clear(sum[:n])
		for k := 0; k < n; k++ {
			kernels.Daxpy(k+1, b.a[b.index(i, k)], l.a[l.index(k, 0):], l.step(), sum[:], 1)
		}
		kernels.Dcopy(n, sum[:], 1, b.a[b.index(i, 0):], b.step())
	}
}

// lauum: the lower triangle of L' L over L.
func lauum(l view, n int, square []float64) {
	if n <= leaf {
		lauumLeaf(l, n)
		return
	}
	n1 := half(n)
	l21, l22 := l.at(n1, 0), l.at(n1, n1)
	lauum(l, n1, square)
	syrk(true, n1, n-n1, 1, l21, l, square)
	trmmLeft(true, 1, l22, n-n1, l21, n1)
	lauum(l22, n-n1, square)
}

func lauumLeaf(l view, n int) {
	for i := 0; i < n; i++ {
		for j := 0; j <= i; j++ {
			s := 0.0
			for k := i; k < n; k++ {
				s += l.a[l.index(k, i)] * l.a[l.index(k, j)]
			}
			l.a[l.index(i, j)] = s
		}
	}
}
