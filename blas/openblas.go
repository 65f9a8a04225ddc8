//go:build openblas

package blas

/*
#cgo pkg-config: openblas
#include <stdint.h>

// Fortran symbols of OpenBLAS's own LAPACK: column-major, no copies.
// Trailing lengths of the character arguments follow gfortran's convention.
void dpotrf_(const char *uplo, const int32_t *n, double *a, const int32_t *lda, int32_t *info, size_t);
void dtrtri_(const char *uplo, const char *diag, const int32_t *n, double *a, const int32_t *lda,
	int32_t *info, size_t, size_t);
void dlauum_(const char *uplo, const int32_t *n, double *a, const int32_t *lda, int32_t *info, size_t);
void spotrf_(const char *uplo, const int32_t *n, float *a, const int32_t *lda, int32_t *info, size_t);
void strtri_(const char *uplo, const char *diag, const int32_t *n, float *a, const int32_t *lda,
	int32_t *info, size_t, size_t);
void dsyev_(const char *job, const char *uplo, const int32_t *n, double *a, const int32_t *lda, double *w,
            double *work, const int32_t *lwork, int32_t *info, size_t, size_t);
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);
char *openblas_get_config(void);
char *openblas_get_corename(void);

static int32_t bb_potrf(char uplo, int32_t n, double *a, int32_t lda) {
	int32_t info;
	dpotrf_(&uplo, &n, a, &lda, &info, 1);
	return info;
}

static int32_t bb_trtri(char uplo, int32_t n, double *a, int32_t lda) {
	int32_t info;
	char diag = 'N';
	dtrtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);
	return info;
}

static void bb_lauum(char uplo, int32_t n, double *a, int32_t lda) {
	int32_t info;
	dlauum_(&uplo, &n, a, &lda, &info, 1);
}

static int32_t bb_potrf32(char uplo, int32_t n, float *a, int32_t lda) {
	int32_t info;
	spotrf_(&uplo, &n, a, &lda, &info, 1);
	return info;
}

static int32_t bb_trtri32(char uplo, int32_t n, float *a, int32_t lda) {
	int32_t info;
	char diag = 'N';
	strtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);
	return info;
}

static int32_t bb_eigenvalues(char uplo, int32_t n, double *a, int32_t lda, double *w, double *work,
	int32_t lwork) {
	int32_t info;
	char job = 'N';
	dsyev_(&job, &uplo, &n, a, &lda, w, work, &lwork, &info, 1, 1);
	return info;
}
*/
import "C"

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"
)

// backends lists what this binary can bind, the default first.
func backends() []Backend {
	open := openBLAS{doubles: new(leafSquares[float64]), singles: new(leafSquares[float32])}
	return []Backend{open, pureGo{}}
}

// openBLAS is the system's OpenBLAS: BLAS through gonum/netlib, LAPACK through
// its Fortran symbols. A row-major triangle is the other triangle of the same
// memory read by columns, so nothing is copied.
type openBLAS struct {
	netlib.Implementation
	doubles *leafSquares[float64]
	singles *leafSquares[float32]
}

func (openBLAS) Name() string { return OpenBLAS }

// plainLauum is the order from which OpenBLAS's own dlauum is the faster: by 4% at 1000,
// 13% at 2000, 8% at 4000 (BENCHMARKS, kernels).
const plainLauum = 1000

// columnMajor names, by columns, the triangle that uplo names by rows.
func columnMajor(uplo blas.Uplo) C.char {
	if uplo == blas.Upper {
		return 'L'
	}
	return 'U'
}

// checkTriangle panics on a triangle that the slice does not hold or whose
// numbers OpenBLAS's 32-bit integers cannot carry.
func checkTriangle[T float32 | float64](n int, a []T, lda int) {
	if n < 0 || lda < max(1, n) || n > math.MaxInt32 || lda > math.MaxInt32 {
		panic(fmt.Sprintf("blas: bad order %d or stride %d", n, lda))
	}
	if n > 0 && len(a) < (n-1)*lda+n {
		panic(fmt.Sprintf("blas: %d numbers do not hold a triangle of order %d and stride %d", len(a), n, lda))
	}
}

func (b openBLAS) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	checkTriangle(n, a, lda)
	if n <= smallLeaf {
		return dpotrf(uplo, n, a, lda)
	}
	leaf := b.doubles.borrow()
	defer b.doubles.giveBack(leaf)
	return recursion[float64, double]{double{b, leaf}, potrfLeaf(n)}.potrf(n, n, lowerTriangle(uplo, a, lda))
}

func (b openBLAS) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	checkTriangle(n, a, lda)
	if zero := firstZero(n, a, lda); zero != 0 {
		return zero
	}
	recursion[float64, double]{double{b, nil}, smallLeaf}.trtri(n, lowerTriangle(uplo, a, lda))
	return 0
}

func (b openBLAS) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	checkTriangle(n, a, lda)
	if n >= plainLauum {
		dlauum(uplo, n, a, lda)
		return
	}
	leaf := b.doubles.borrow()
	defer b.doubles.giveBack(leaf)
	recursion[float64, double]{double{b, leaf}, smallLeaf}.lauum(n, lowerTriangle(uplo, a, lda))
}

var _ Single = openBLAS{}

func (b openBLAS) Potrf32(uplo blas.Uplo, n int, a []float32, lda int) int {
	checkTriangle(n, a, lda)
	if n <= smallLeaf {
		return spotrf(uplo, n, a, lda)
	}
	leaf := b.singles.borrow()
	defer b.singles.giveBack(leaf)
	return recursion[float32, single]{single{b, leaf}, potrfLeaf(n)}.potrf(n, n, lowerTriangle(uplo, a, lda))
}

func (b openBLAS) Trtri32(uplo blas.Uplo, n int, a []float32, lda int) int {
	checkTriangle(n, a, lda)
	if zero := firstZero(n, a, lda); zero != 0 {
		return zero
	}
	recursion[float32, single]{single{b, nil}, smallLeaf}.trtri(n, lowerTriangle(uplo, a, lda))
	return 0
}

func (b openBLAS) Lauum32(uplo blas.Uplo, n int, a []float32, lda int) {
	checkTriangle(n, a, lda)
	leaf := b.singles.borrow()
	defer b.singles.giveBack(leaf)
	recursion[float32, single]{single{b, leaf}, smallLeaf}.lauum(n, lowerTriangle(uplo, a, lda))
}

// dpotrf, dtrtri and dlauum, and their likes in single precision, are OpenBLAS's
// own: what the recursions end in, and the plain way to do what they do.
func dpotrf(uplo blas.Uplo, n int, a []float64, lda int) (minor int) {
	if n == 0 {
		return 0
	}
	if minor := int(C.bb_potrf(columnMajor(uplo), C.int32_t(n), (*C.double)(&a[0]),
		C.int32_t(lda))); minor != 0 {
		return minor
	}
	return firstNaN(n, a, lda)
}

func dtrtri(uplo blas.Uplo, n int, a []float64, lda int) {
	if n > 0 {
		C.bb_trtri(columnMajor(uplo), C.int32_t(n), (*C.double)(&a[0]), C.int32_t(lda))
	}
}

func dlauum(uplo blas.Uplo, n int, a []float64, lda int) {
	if n > 0 {
		C.bb_lauum(columnMajor(uplo), C.int32_t(n), (*C.double)(&a[0]), C.int32_t(lda))
	}
}

func spotrf(uplo blas.Uplo, n int, a []float32, lda int) (minor int) {
	if n == 0 {
		return 0
	}
	if minor := int(C.bb_potrf32(columnMajor(uplo), C.int32_t(n), (*C.float)(&a[0]),
		C.int32_t(lda))); minor != 0 {
		return minor
	}
	return firstNaN(n, a, lda)
}

func strtri(uplo blas.Uplo, n int, a []float32, lda int) {
	if n > 0 {
		C.bb_trtri32(columnMajor(uplo), C.int32_t(n), (*C.float)(&a[0]), C.int32_t(lda))
	}
}

// firstNaN is the number of the first diagonal element that is not finite, or
// 0: OpenBLAS's dpotrf lets NaN pass.
func firstNaN[T float](n int, a []T, lda int) int {
	for i := 0; i < n; i++ {
		if d := float64(a[i*lda+i]); math.IsNaN(d) || math.IsInf(d, 0) {
			return i + 1
		}
	}
	return 0
}

func (openBLAS) Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) bool {
	checkTriangle(n, a, lda)
	if n == 0 {
		return true
	}
	if len(w) < n {
		panic(fmt.Sprintf("blas: %d places for %d eigenvalues", len(w), n))
	}
	work := make([]float64, 66*n) // blocks of 64, and two vectors
	info := C.bb_eigenvalues(columnMajor(uplo), C.int32_t(n), (*C.double)(&a[0]), C.int32_t(lda),
		(*C.double)(&w[0]), (*C.double)(&work[0]), C.int32_t(len(work)))
	return info == 0
}

func (openBLAS) Threads() int { return int(C.openblas_get_num_threads()) }

func (openBLAS) SetThreads(n int) { C.openblas_set_num_threads(C.int(max(1, n))) }

func (b openBLAS) describe(info *Info) {
	info.Backend = OpenBLAS
	info.Core = C.GoString(C.openblas_get_corename())
	info.Config = strings.TrimSpace(C.GoString(C.openblas_get_config()))
	info.Threads = b.Threads()
}
