//go:build openblas

package blas

/*
#cgo pkg-config: openblas
#include <stdint.h>
#include <stdlib.h>

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

// The choice of kernels, of builds for several processors; null in others.
void gotoblas_dynamic_init(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));

// bb_choose makes OpenBLAS choose its kernels again, by the setting that it documents for users.
static void bb_choose(const char *core) {
	if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
	setenv("OPENBLAS_CORETYPE", core, 1);
	gotoblas_dynamic_quit();
	gotoblas_dynamic_init();
	unsetenv("OPENBLAS_CORETYPE");
}

static int32_t bb_potrf(int single, char uplo, int32_t n, void *a, int32_t lda) {
	int32_t info;
	if (single) spotrf_(&uplo, &n, a, &lda, &info, 1);
	else dpotrf_(&uplo, &n, a, &lda, &info, 1);
	return info;
}

static void bb_trtri(int single, char uplo, int32_t n, void *a, int32_t lda) {
	int32_t info;
	char diag = 'N';
	if (single) strtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);
	else dtrtri_(&uplo, &diag, &n, a, &lda, &info, 1, 1);
}

static void bb_lauum(char uplo, int32_t n, double *a, int32_t lda) {
	int32_t info;
	dlauum_(&uplo, &n, a, &lda, &info, 1);
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
	"os"
	"strings"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/netlib/blas/netlib"
)

// backends lists the backends of this binary, the default first.
func backends() []Backend { return []Backend{openBLAS{}, pureGo{}} }

func init() {
	chooseKernels()
	bind(bound)
}

// unknownTo are the kernels that OpenBLAS took because it does not know the processor, "" if it does.
var unknownTo string

// chooseKernels replaces kernels for older processors, which OpenBLAS takes for those that it does not know,
// unless the user has set them. They make a whole command two to three times slower (BENCHMARKS, kernels).
func chooseKernels() {
	_, set := os.LookupEnv("OPENBLAS_CORETYPE")
	took := C.GoString(C.openblas_get_corename())
	core := betterCore(took, cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3), cpuid.CPU.Supports(cpuid.AVX512F,
		cpuid.AVX512CD, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL))
	if set || core == "" {
		return
	}
	name := C.CString(core)
	defer C.free(unsafe.Pointer(name))
	if C.bb_choose(name); C.GoString(C.openblas_get_corename()) != took {
		unknownTo = took
	}
}

// openBLAS is the system's OpenBLAS: BLAS through gonum/netlib, LAPACK through its Fortran symbols. A
// row-major triangle is the other triangle of the same memory read by columns, so nothing is copied.
type openBLAS struct{ netlib.Implementation }

var _ Single = openBLAS{}

func (openBLAS) Name() string { return OpenBLAS }

func (openBLAS) Potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return potrf(doubles, potrfLeaf(n), uplo, n, a, lda)
}

func (openBLAS) Trtri(uplo blas.Uplo, n int, a []float64, lda int) int {
	return trtri(doubles, smallLeaf, uplo, n, a, lda)
}

// plainLauum is the order from which OpenBLAS's dlauum is faster: by 4% at 1000, 13% at 2000, 8% at 4000
// (BENCHMARKS, kernels).
const plainLauum = 1000

func (openBLAS) Lauum(uplo blas.Uplo, n int, a []float64, lda int) {
	if n < plainLauum {
		lauum(doubles, smallLeaf, uplo, n, a, lda)
		return
	}
	checkTriangle(n, a, lda)
	C.bb_lauum(columnMajor(uplo), C.int32_t(n), numbers(a), C.int32_t(lda))
}

func (openBLAS) Potrf32(uplo blas.Uplo, n int, a []float32, lda int) int {
	return potrf(singles, potrfLeaf(n), uplo, n, a, lda)
}

func (openBLAS) Trtri32(uplo blas.Uplo, n int, a []float32, lda int) int {
	return trtri(singles, smallLeaf, uplo, n, a, lda)
}

func (openBLAS) Lauum32(uplo blas.Uplo, n int, a []float32, lda int) {
	lauum(singles, smallLeaf, uplo, n, a, lda)
}

// columnMajor names, by columns, the triangle that uplo names by rows.
func columnMajor(uplo blas.Uplo) C.char {
	if uplo == blas.Upper {
		return 'L'
	}
	return 'U'
}

// plainPotrf and plainTrtri are OpenBLAS's own, in which the recursions end.
func plainPotrf[T float](uplo blas.Uplo, n int, a []T, lda int) (minor int) {
	minor = int(C.bb_potrf(isSingle[T](), columnMajor(uplo), C.int32_t(n),
		unsafe.Pointer(unsafe.SliceData(a)), C.int32_t(lda)))
	if minor == 0 { // also where a pivot was NaN
		minor = firstOnDiagonal(n, a, lda, func(v float64) bool { return v-v != 0 })
	}
	return minor
}

func plainTrtri[T float](uplo blas.Uplo, n int, a []T, lda int) {
	C.bb_trtri(isSingle[T](), columnMajor(uplo), C.int32_t(n), unsafe.Pointer(unsafe.SliceData(a)),
		C.int32_t(lda))
}

func isSingle[T float]() C.int { return flag(unsafe.Sizeof(*new(T)) == 4) }

func numbers(x []float64) *C.double { return (*C.double)(unsafe.SliceData(x)) }

func flag(yes bool) C.int {
	if yes {
		return 1
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
	info := C.bb_eigenvalues(columnMajor(uplo), C.int32_t(n), numbers(a), C.int32_t(lda),
		numbers(w), numbers(work), C.int32_t(len(work)))
	return info == 0
}

func (openBLAS) Threads() int { return int(C.openblas_get_num_threads()) }

func (openBLAS) SetThreads(n int) { C.openblas_set_num_threads(C.int(max(1, n))) }

func (b openBLAS) describe(info *Info) {
	info.Backend = OpenBLAS
	info.Core = C.GoString(C.openblas_get_corename())
	info.Config = strings.TrimSpace(C.GoString(C.openblas_get_config()))
	info.Threads = b.Threads()
	if unknownTo != "" {
		info.Warnings = append(info.Warnings, fmt.Sprintf("OpenBLAS does not know this processor, and its "+
			"%s kernels are replaced; a later version may have faster ones", unknownTo))
	}
}
