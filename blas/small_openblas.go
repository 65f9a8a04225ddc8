//go:build openblas && amd64

package blas

/*
#cgo CFLAGS: -O3
#cgo LDFLAGS: -lm
char *openblas_get_corename(void);
typedef int inverter(int order, const double *k, int ldk, const double *root, void *work, double *pivots, double *above, double *below);
typedef void squarer(int order, const void *work, const double *scale, double *g, int ldg);
inverter bb_avx512_double_invert, bb_avx512_single_invert, bb_avx2_double_invert, bb_avx2_single_invert;
squarer bb_avx512_double_square, bb_avx512_single_square, bb_avx2_double_square, bb_avx2_single_square;

static inverter *const inverters[2][2] = {{bb_avx512_double_invert, bb_avx512_single_invert}, {bb_avx2_double_invert, bb_avx2_single_invert}};
static squarer *const squarers[2][2] = {{bb_avx512_double_square, bb_avx512_single_square}, {bb_avx2_double_square, bb_avx2_single_square}};

static int bb_small_invert(int set, int single, int order, const double *k, int ldk, const double *root, double *work, double *pivots, double *above, double *below) {
	return inverters[set][single](order, k, ldk, root, work, pivots, above, below);
}

static void bb_small_square(int set, int single, int order, const double *work, const double *scale, double *g, int ldg) {
	squarers[set][single](order, work, scale, g, ldg);
}
*/
import "C"

import (
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
)

// kernelSet is one of the two sets of small kernels that were compiled, or none.
type kernelSet struct {
	index C.int
	width int // float64 in a vector; 0: none
}

// smallSet is the set for the vectors that OpenBLAS's own kernels use: whoever pins those
// pins these.
var smallSet = sync.OnceValue(func() kernelSet {
	switch core := strings.ToLower(C.GoString(C.openblas_get_corename())); {
	case avx512Cores[core]:
		return kernelSet{0, 8}
	case core == "haswell" || core == "zen":
		return kernelSet{1, 4}
	}
	return kernelSet{}
})

// smallWork is room for panels in single precision, which take the more: n filled up to 8 and
// three vectors of rows each; panels for all columns, and two for a tile that begins in the last.
func (openBLAS) smallWork(n int) int {
	set := smallSet()
	if set.width == 0 {
		return 0
	}
	n = (n + 7) / 8 * 8
	double, single := set.width, 2*set.width
	return max((n/double+2)*double*(n+3*double), (n/single+3)*single*(n+3*single)/2)
}

func (openBLAS) smallInvert(k blas64.Symmetric, root []float64, s *Small) int {
	if k.N == 0 {
		return 0
	}
	return int(C.bb_small_invert(smallSet().index, s.precision(), C.int(k.N), (*C.double)(&k.Data[0]), C.int(k.Stride), (*C.double)(&root[0]),
		(*C.double)(&s.work[0]), (*C.double)(&s.Pivots[0]), (*C.double)(&s.Above[0]), (*C.double)(&s.Below[0])))
}

func (openBLAS) smallSquare(s *Small, scale []float64, g blas64.Symmetric) {
	if g.N == 0 {
		return
	}
	C.bb_small_square(smallSet().index, s.precision(), C.int(g.N), (*C.double)(&s.work[0]), (*C.double)(&scale[0]), (*C.double)(&g.Data[0]), C.int(g.Stride))
}

func (s *Small) precision() C.int {
	if s.single {
		return 1
	}
	return 0
}
