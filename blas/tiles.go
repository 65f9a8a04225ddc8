package blas

import (
	"sync"

	"gonum.org/v1/gonum/blas"
)

// tiles is gonum's BLAS and LAPACK with the work on triangles shared out among
// goroutines, as gonum itself does only for products, which it cuts into tiles.
// Halving leaves products, and triangles of one tile.
type tiles struct{ pureGo }

// tile is the edge of gonum's blocks; it computes a product of fewer than four
// blocks on one goroutine.
const tile = 64

func (p tiles) gemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	p.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p tiles) syrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if n <= tile {
		p.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
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
				p.gemm(t, other, n1, n2, k, alpha, a, lda, second, lda, beta, c[n1:], ldc)
			} else {
				p.gemm(t, other, n2, n1, k, alpha, second, lda, a, lda, beta, c[n1*ldc:], ldc)
			}
		},
		func() { p.syrk(uplo, t, n1, k, alpha, a, lda, beta, c, ldc) },
		func() { p.syrk(uplo, t, n2, k, alpha, second, lda, beta, c[n1*ldc+n1:], ldc) },
	)
}

func (p tiles) trmm(s blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	order := n
	if s == blas.Left {
		order = m
	}
	if order <= tile {
		strips(s, m, n, b, ldb, func(m, n int, b []float64) {
			p.Dtrmm(s, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
		})
		return
	}
	n1 := half(order, tile)
	n2, off, a22 := order-n1, a[n1:], a[n1*lda+n1:]
	if uplo == blas.Lower {
		off = a[n1*lda:]
	}
	// The half of B that the off-diagonal block adds to goes first: it still
	// needs the other half as it was.
	intoSecond := (s == blas.Left) == ((uplo == blas.Lower) == (t == blas.NoTrans))
	if s == blas.Left {
		b2 := b[n1*ldb:]
		if intoSecond {
			p.trmm(s, uplo, t, n2, n, alpha, a22, lda, b2, ldb)
			p.gemm(t, blas.NoTrans, n2, n, n1, alpha, off, lda, b, ldb, 1, b2, ldb)
			p.trmm(s, uplo, t, n1, n, alpha, a, lda, b, ldb)
		} else {
			p.trmm(s, uplo, t, n1, n, alpha, a, lda, b, ldb)
			p.gemm(t, blas.NoTrans, n1, n, n2, alpha, off, lda, b2, ldb, 1, b, ldb)
			p.trmm(s, uplo, t, n2, n, alpha, a22, lda, b2, ldb)
		}
		return
	}
	b2 := b[n1:]
	if intoSecond {
		p.trmm(s, uplo, t, m, n2, alpha, a22, lda, b2, ldb)
		p.gemm(blas.NoTrans, t, m, n2, n1, alpha, b, ldb, off, lda, 1, b2, ldb)
		p.trmm(s, uplo, t, m, n1, alpha, a, lda, b, ldb)
	} else {
		p.trmm(s, uplo, t, m, n1, alpha, a, lda, b, ldb)
		p.gemm(blas.NoTrans, t, m, n1, n2, alpha, b2, ldb, off, lda, 1, b, ldb)
		p.trmm(s, uplo, t, m, n2, alpha, a22, lda, b2, ldb)
	}
}

func (p tiles) trsm(s blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	strips(s, m, n, b, ldb, func(m, n int, b []float64) {
		p.Dtrsm(s, uplo, t, blas.NonUnit, m, n, alpha, a, lda, b, ldb)
	})
}

func (tiles) potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	if (factorisations{}).Dpotrf(uplo, n, a, lda) {
		return 0
	}
	return firstBad(n, a, lda)
}

func (tiles) trtri(uplo blas.Uplo, n int, a []float64, lda int) {
	(factorisations{}).Dtrtri(uplo, blas.NonUnit, n, a, lda)
}

func (tiles) lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	(factorisations{}).Dlauum(uplo, n, a, lda)
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

// together runs the tasks side by side.
func together(tasks ...func()) {
	var wait sync.WaitGroup
	for _, task := range tasks {
		wait.Add(1)
		go func() {
			defer wait.Done()
			task()
		}()
	}
	wait.Wait()
}
