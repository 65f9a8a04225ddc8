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

// factorisations is gonum's LAPACK.
type factorisations = lapackgonum.Implementation

func (pureGo) Name() string { return "gonum" }

// halving is the recursion of the hot path on tiles.
func (p pureGo) halving() recursion[float64, tiles] {
	return recursion[float64, tiles]{tiles{p}, tile}
}

func (p pureGo) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return p.halving().potrf(n, n, lowerTriangle(uplo, a, lda))
}

// firstBad is the number of the first diagonal element that is not positive.
// Dpotrf leaves the pivot that stopped it in its place.
func firstBad(n int, a []float64, lda int) int {
	for i := 0; i < n; i++ {
		if !(a[i*lda+i] > 0) {
			return i + 1
		}
	}
	return n
}

func (p pureGo) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	if zero := firstZero(n, a, lda); zero != 0 {
		return zero
	}
	p.halving().trtri(n, lowerTriangle(uplo, a, lda))
	return 0
}

// firstZero is the number of the first zero diagonal element, or 0.
func firstZero[T float](n int, a []T, lda int) int {
	for i := 0; i < n; i++ {
		if a[i*lda+i] == 0 {
			return i + 1
		}
	}
	return 0
}

func (p pureGo) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	p.halving().lauum(n, lowerTriangle(uplo, a, lda))
}

func (pureGo) Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) bool {
	if n == 0 {
		return true
	}
	var impl factorisations
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
