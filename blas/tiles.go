package blas

import (
	"cmp"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Halving reduces work on triangles to products, which gonum divides into tiles among goroutines, and
// triangles of one tile.

// tile is the edge of gonum's blocks; it computes a product of fewer than four blocks on one goroutine.
const tile = 64

// tileKernels are the kernels of pureGo.
var tileKernels = kernels[float64]{
	gemm: pureGo{}.Dgemm,
	syrk: pureGo{}.Dsyrk,
	trmm: pureGo{}.Dtrmm,
	trsm: func(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
		a []float64, lda int, b []float64, ldb int) {
		strips(s, m, n, b, ldb, func(m, n int, b []float64) {
			pureGo{}.Dtrsm(s, uplo, t, d, m, n, alpha, a, lda, b, ldb)
		})
	},
	potrf: func(uplo blas.Uplo, n int, a []float64, lda int) int {
		if lapackGo.Dpotrf(uplo, n, a, lda) {
			return 0
		}
		// Dpotrf leaves the pivot that stopped it in its place.
		return cmp.Or(firstOnDiagonal(n, a, lda, func(v float64) bool { return !(v > 0) }), n)
	},
	trtri: func(uplo blas.Uplo, n int, a []float64, lda int) {
		lapackGo.Dtrtri(uplo, blas.NonUnit, n, a, lda)
	},
	lauum: func(uplo blas.Uplo, n int, a []float64, lda int) { lapackGo.Dlauum(uplo, n, a, lda) },
}

// Syrk is blas64.Syrk. On gonum's BLAS it runs in parallel.
func Syrk(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	k := a.Cols
	if t != blas.NoTrans {
		k = a.Rows
	}
	implementation().Dsyrk(c.Uplo, t, c.N, k, alpha, a.Data, a.Stride, beta, c.Data, c.Stride)
}

// Trmm is blas64.Trmm. On gonum's BLAS it runs in parallel.
func Trmm(s blas.Side, t blas.Transpose, alpha float64, a blas64.Triangular, b blas64.General) {
	implementation().Dtrmm(s, a.Uplo, t, a.Diag, b.Rows, b.Cols, alpha, a.Data, a.Stride, b.Data, b.Stride)
}

// implementation is the BLAS that blas64 uses, or pureGo in the place of gonum's.
func implementation() blas.Float64 {
	if used := blas64.Implementation(); used != blas.Float64(gonum.Implementation{}) {
		return used
	}
	return pureGo{}
}

// Dsyrk is BLAS's dsyrk.
func (p pureGo) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if n <= tile || k == 0 {
		p.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	n1 := half(n, tile)
	n2, start := n-n1, n1*lda
	if t == blas.Trans {
		start = n1
	}
	second, other := a[start:], otherwise(t)
	together(
		func() {
			if uplo == blas.Upper {
				p.Dgemm(t, other, n1, n2, k, alpha, a, lda, second, lda, beta, c[n1:], ldc)
			} else {
				p.Dgemm(t, other, n2, n1, k, alpha, second, lda, a, lda, beta, c[n1*ldc:], ldc)
			}
		},
		func() { p.Dsyrk(uplo, t, n1, k, alpha, a, lda, beta, c, ldc) },
		func() { p.Dsyrk(uplo, t, n2, k, alpha, second, lda, beta, c[n1*ldc+n1:], ldc) },
	)
}

// Dtrmm is BLAS's dtrmm.
func (p pureGo) Dtrmm(s blas.Side, uplo blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	order, down := n, 1 // from one half of B to the other
	if s == blas.Left {
		order, down = m, ldb
	}
	if order <= tile {
		strips(s, m, n, b, ldb, func(m, n int, b []float64) {
			p.Implementation.Dtrmm(s, uplo, t, d, m, n, alpha, a, lda, b, ldb)
		})
		return
	}
	type part struct {
		order int
		a, b  []float64
	}
	n1 := half(order, tile)
	off := a[n1:]
	if uplo == blas.Lower {
		off = a[n1*lda:]
	}
	// First the half of B to which the off-diagonal block adds: it needs the original other half.
	into, from := part{n1, a, b}, part{order - n1, a[n1*lda+n1:], b[n1*down:]}
	if (s == blas.Left) == ((uplo == blas.Lower) == (t == blas.NoTrans)) {
		into, from = from, into
	}
	if s == blas.Left {
		p.Dtrmm(s, uplo, t, d, into.order, n, alpha, into.a, lda, into.b, ldb)
		p.Dgemm(t, blas.NoTrans, into.order, n, from.order, alpha, off, lda, from.b, ldb, 1, into.b, ldb)
		p.Dtrmm(s, uplo, t, d, from.order, n, alpha, from.a, lda, from.b, ldb)
	} else {
		p.Dtrmm(s, uplo, t, d, m, into.order, alpha, into.a, lda, into.b, ldb)
		p.Dgemm(blas.NoTrans, t, m, into.order, from.order, alpha, from.b, ldb, off, lda, 1, into.b, ldb)
		p.Dtrmm(s, uplo, t, d, m, from.order, alpha, from.a, lda, from.b, ldb)
	}
}

// strips runs f on the parts of an m x n matrix that a triangle on side s
// multiplies one by one: strips of columns from the left, of rows from the right.
func strips(s blas.Side, m, n int, b []float64, ldb int, f func(m, n int, b []float64)) {
	var tasks []func()
	if s == blas.Left {
		for j := 0; j < n; j += tile {
			tasks = append(tasks, func() { f(m, min(tile, n-j), b[j:]) })
		}
	} else {
		for i := 0; i < m; i += tile {
			tasks = append(tasks, func() { f(min(tile, m-i), n, b[i*ldb:]) })
		}
	}
	together(tasks...)
}

func together(tasks ...func()) {
	var crew Crew
	for _, task := range tasks {
		crew.Go(task, nil)
	}
	crew.Wait()
}
