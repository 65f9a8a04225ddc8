package blas

import (
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// pureGo is gonum's BLAS, with factorisations that run at the rate of its
// Dgemm (see recursive.go).
type pureGo struct{ gonum.Implementation }

func (pureGo) Name() string { return "gonum" }

func (pureGo) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return potrf(view{uplo, a, lda}, n, newSquare())
}

func (pureGo) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	return trtri(view{uplo, a, lda}, n)
}

func (pureGo) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	lauum(view{uplo, a, lda}, n, newSquare())
}

func (pureGo) Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) bool {
	if n == 0 {
		return true
	}
	var impl lapackgonum.Implementation
	query := make([]float64, 1)
	impl.Dsyev(lapack.EVNone, uplo, n, a, lda, w, query, -1)
	work := make([]float64, int(query[0]))
	return impl.Dsyev(lapack.EVNone, uplo, n, a, lda, w, work, len(work))
}

func (pureGo) Threads() int { return runtime.GOMAXPROCS(0) }

func (pureGo) SetThreads(int) {}

func (pureGo) describe(info *Info) {
	info.Backend = "gonum"
	info.Core = "pure Go"
	info.Threads = runtime.GOMAXPROCS(0)
}
