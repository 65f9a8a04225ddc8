package blas

import (
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// pureGo is gonum's BLAS and LAPACK. The latter calls back into whatever BLAS is
// bound, so pureGo is all pure Go only while it is bound itself.
type pureGo struct{ gonum.Implementation }

// lapackGo is gonum's LAPACK.
var lapackGo lapackgonum.Implementation

func (pureGo) Name() string { return "gonum" }

func (pureGo) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return potrf(&tileKernels, tile, uplo, n, a, lda)
}

func (pureGo) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	return trtri(&tileKernels, tile, uplo, n, a, lda)
}

func (pureGo) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	lauum(&tileKernels, tile, uplo, n, a, lda)
}

func (pureGo) Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) bool {
	if n == 0 {
		return true
	}
	query := make([]float64, 1)
	lapackGo.Dsyev(lapack.EVNone, uplo, n, a, lda, w, query, -1)
	work := make([]float64, int(query[0]))
	return lapackGo.Dsyev(lapack.EVNone, uplo, n, a, lda, w, work, len(work))
}

func (pureGo) Threads() int { return runtime.GOMAXPROCS(0) }

func (pureGo) SetThreads(int) {}

func (pureGo) describe(info *Info) {
	info.Backend = "gonum"
	info.Core = "pure Go"
	info.Threads = runtime.GOMAXPROCS(0)
}
