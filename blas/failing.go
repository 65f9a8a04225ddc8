package blas

import (
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
)

// failing is a backend whose factorisations fail where it is told.
type failing struct {
	Backend
	fails func() bool
}

// BindFailing makes factorisations of the bound backend fail, with their first pivot,
// where fails says so, until restore is called. It is for tests of what callers make of
// that, and may run beside linear algebra no more than Bind may.
func BindFailing(fails func() bool) (restore func()) {
	before := bound
	bind(failing{before, fails})
	if single, ok := before.(Single); ok {
		bind(failingSingle{failing{before, fails}, single})
	}
	return func() { bind(before) }
}

// FailAt fails call number n, from 1, of all calls counted together, and says by made how
// many there were.
func FailAt(n int64) (fails func() bool, made func() int64) {
	var calls atomic.Int64
	return func() bool { return calls.Add(1) == n }, calls.Load
}

func (f failing) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	if f.fails() && n > 0 {
		return 1
	}
	return f.Backend.Potrf(uplo, n, a, lda)
}

func (f failing) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	if f.fails() && n > 0 {
		return 1
	}
	return f.Backend.Trtri(uplo, n, a, lda)
}

func (f failing) Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) bool {
	return !(f.fails() && n > 0) && f.Backend.Eigenvalues(uplo, n, a, lda, w)
}

// failingSingle fails in single precision, too.
type failingSingle struct {
	failing
	single Single
}

func (f failingSingle) Potrf32(uplo blas.Uplo, n int, a []float32, lda int) int {
	if f.fails() && n > 0 {
		return 1
	}
	return f.single.Potrf32(uplo, n, a, lda)
}

func (f failingSingle) Trtri32(uplo blas.Uplo, n int, a []float32, lda int) int {
	if f.fails() && n > 0 {
		return 1
	}
	return f.single.Trtri32(uplo, n, a, lda)
}

func (f failingSingle) Lauum32(uplo blas.Uplo, n int, a []float32, lda int) {
	f.single.Lauum32(uplo, n, a, lda)
}
