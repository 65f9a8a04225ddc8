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

// halving is the recursion of the hot path on tiles.
var halving = recursion[float64]{&tileKernels, tile}

func (pureGo) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return halving.potrf(n, n, lowerTriangle(uplo, a, lda))
}

func (pureGo) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	if zero := firstZero(n, a, lda); zero != 0 {
		return zero
	}
	halving.trtri(n, lowerTriangle(uplo, a, lda))
	return 0
}

// firstZero is the number of the first zero diagonal element, or 0.
func firstZero[T float](n int, a []T, lda int) int {
	return firstOnDiagonal(n, a, lda, func(v float64) bool { return v == 0 })
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

func (pureGo) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	halving.lauum(n, lowerTriangle(uplo, a, lda))
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
