// Package blas binds a dense linear algebra backend, and describes it.
//
// Two backends exist. "gonum" is pure Go and always available. "openblas" is the system's OpenBLAS through
// gonum/netlib and cgo, in binaries built with tag openblas, where it is the default.
//
// BLAS is called through gonum's blas64 and blas32, which use the bound backend; the few LAPACK kernels on
// the hot path are methods of Bound. As there, slices that do not fit panic. Without the tag, importing this
// package binds nothing: blas64 keeps the BLAS that the caller has bound, until the caller calls Bind.
package blas

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/cpuid/v2"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// OpenBLAS is the name of that backend, whose dsyrk is as fast as its dgemm.
const OpenBLAS = "openblas"

// Backend is a BLAS with the LAPACK kernels of the hot path. All matrices are row-major with row stride lda
// >= max(1, n); only the triangle named by uplo is read or written. A backend is safe for concurrent use,
// except SetThreads.
type Backend interface {
	blas.Float64
	blas.Float32

	// Name is OpenBLAS or "gonum".
	Name() string

	// Potrf overwrites a triangle of the symmetric matrix A of order n with its Cholesky factor: A = L L'
	// (blas.Lower) or A = U' U (blas.Upper). It returns 0, or the order k >= 1 of the first leading minor
	// that is not positive definite; the triangle is then partly overwritten.
	Potrf(uplo blas.Uplo, n int, a []float64, lda int) (minor int)

	// Trtri overwrites a non-unit triangular matrix with its inverse. It returns 0, or the number k >= 1 of
	// the first zero diagonal element; the matrix is then untouched.
	Trtri(uplo blas.Uplo, n int, a []float64, lda int) (zero int)

	// Lauum overwrites a triangular matrix with the same triangle of L' L (blas.Lower) or U U' (blas.Upper).
	// Potrf, Trtri and Lauum in turn invert a positive definite matrix.
	Lauum(uplo blas.Uplo, n int, a []float64, lda int)

	// Eigenvalues writes the eigenvalues of a symmetric matrix into w (length n), ascending, and destroys the
	// triangle. ok is false if the iteration did not converge.
	Eigenvalues(uplo blas.Uplo, n int, a []float64, lda int, w []float64) (ok bool)

	// Threads is the number of threads that one call may use.
	Threads() int

	// SetThreads bounds the threads of later calls to n >= 1. It has no effect on the gonum backend, whose
	// goroutines share GOMAXPROCS.
	SetThreads(n int)

	describe(*Info)
}

// Single is a backend that has the kernels of the hot path in single precision too. gonum's LAPACK has none.
type Single interface {
	Backend

	// Potrf32, Trtri32 and Lauum32 are Potrf, Trtri and Lauum on float32.
	Potrf32(uplo blas.Uplo, n int, a []float32, lda int) (minor int)
	Trtri32(uplo blas.Uplo, n int, a []float32, lda int) (zero int)
	Lauum32(uplo blas.Uplo, n int, a []float32, lda int)
}

// bound is the backend in use: set at start-up, read-only after.
var bound = backends()[0]

func bind(b Backend) {
	bound = b
	blas64.Use(b)
	blas32.Use(b)
}

func Bound() Backend { return bound }

// Bind makes the named backend the one in use, for blas64 too. It must not run concurrently with linear
// algebra. It refuses a backend that this binary lacks.
func Bind(name string) error {
	for _, b := range backends() {
		if b.Name() == name {
			bind(b)
			return nil
		}
	}
	hint := ""
	if name == OpenBLAS {
		hint = "; build with -tags openblas"
	}
	return fmt.Errorf("no BLAS backend %q in this binary (it has %s)%s",
		name, strings.Join(Names(), ", "), hint)
}

// Names lists the backends of this binary, sorted.
func Names() []string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name())
	}
	sort.Strings(names)
	return names
}

// SingleThreaded runs f while the bound backend uses one thread per call, for parallel work, and restores the
// thread count. Of several concurrent calls the last to end restores it.
func SingleThreaded(f func()) {
	alone.add(1)
	defer alone.add(-1)
	f()
}

// ThreadsForOrder runs f, which works on matrices of order n: SingleThreaded up to the order that has the
// kernels of Small, where one thread is as fast as two in a solve.
func ThreadsForOrder(n int, f func()) {
	if n > smallOrder {
		f()
		return
	}
	SingleThreaded(f)
}

// alone counts the calls in SingleThreaded, with the thread count before the first.
var alone users

type users struct {
	sync.Mutex
	count, before int
}

// add counts a call that begins, 1, or ends, -1.
func (u *users) add(change int) {
	u.Lock()
	defer u.Unlock()
	if u.count == 0 {
		u.before = bound.Threads()
		bound.SetThreads(1)
	}
	if u.count += change; u.count == 0 {
		bound.SetThreads(u.before)
	}
}

// Info describes backend and processor.
type Info struct {
	Backend string `json:"backend"`          // "openblas" or "gonum"
	Core    string `json:"core"`             // kernels that OpenBLAS chose, or "pure Go"
	Config  string `json:"config,omitempty"` // OpenBLAS's build configuration
	Threads int    `json:"threads"`          // threads that one BLAS call may use
	CPU     string `json:"cpu"`              // processor's brand name
	Cores   int    `json:"cores"`            // processors that this process may use
	SIMD    string `json:"simd"`             // widest vector unit of the processor
	// Warnings name reasons for a backend slower than the processor allows.
	Warnings []string `json:"warnings"`
}

// Describe reports the bound backend and the processor.
func Describe() Info {
	info := Info{CPU: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.NumCPU(), SIMD: simdLevel(),
		Warnings: []string{}}
	bound.describe(&info)
	if w := unusedAVX512(info, cpuid.CPU.Supports(cpuid.AVX512F), os.Getenv("OPENBLAS_CORETYPE")); w != "" {
		info.Warnings = append(info.Warnings, w)
	}
	return info
}

func simdLevel() string {
	switch c := cpuid.CPU; {
	case c.Supports(cpuid.AVX512F):
		return "AVX-512"
	case c.Supports(cpuid.AVX2, cpuid.FMA3):
		return "AVX2+FMA"
	case c.Supports(cpuid.AVX):
		return "AVX"
	case c.Supports(cpuid.SSE2):
		return "SSE2"
	case c.Supports(cpuid.ASIMD):
		return "NEON"
	}
	return "none"
}

// avx2Cores are OpenBLAS's kernel sets that use AVX2 and no more, avx512Cores those that use AVX-512.
var (
	avx2Cores   = map[string]bool{"haswell": true, "zen": true, "excavator": true}
	avx512Cores = map[string]bool{"skylakex": true, "cooperlake": true, "sapphirerapids": true}
)

// betterCore is the kernel set of OpenBLAS for a processor with AVX2 or AVX-512 for which OpenBLAS took one
// that uses neither, "" if none is better.
func betterCore(took string, hasAVX2, hasAVX512 bool) string {
	took = strings.ToLower(took)
	switch {
	case avx2Cores[took] || avx512Cores[took]:
		return ""
	case hasAVX512:
		return "SkylakeX"
	case hasAVX2:
		return "Haswell"
	}
	return ""
}

// unusedAVX512 is a warning if the processor has AVX-512 and OpenBLAS's chosen kernels do not use it. The
// user's setting is reported, never changed.
func unusedAVX512(info Info, hasAVX512 bool, coretype string) string {
	if info.Backend != "openblas" || !hasAVX512 || avx512Cores[strings.ToLower(info.Core)] {
		return ""
	}
	why := "OpenBLAS chose them by itself"
	if coretype != "" {
		why = fmt.Sprintf("OPENBLAS_CORETYPE=%s is set", coretype)
	}
	return fmt.Sprintf("this processor has AVX-512, the %s kernels of OpenBLAS do not use it (%s)", info.Core,
		why)
}
