//go:build openblas && amd64

package blas

/*
#cgo CFLAGS: -O3
#cgo LDFLAGS: -lm
char *openblas_get_corename(void);
typedef int inverter(int order, const double *k, int ldk, const double *root, void *work, double *pivots,
	double *above, double *below);
typedef void squarer(int order, const void *work, const double *scale, double *g, int ldg);
typedef void coupler(int order, const double *g, int ldg, const double *chi, const double *u, void *work,
	double *h, int ldh);
typedef void squared(int order, const double *g, int ldg, const double *x, double *y);
typedef void coupled(int order, const double *g, int ldg, const double *h, int ldh, const double *d,
	const double *u, const double *f, double *y0, double *y1, double *y2, double *y3);
inverter bb_avx512_double_invert, bb_avx512_single_invert, bb_avx2_double_invert, bb_avx2_single_invert;
squarer bb_avx512_double_square, bb_avx512_single_square, bb_avx2_double_square, bb_avx2_single_square;
coupler bb_avx512_single_couple, bb_avx2_single_couple;
squared bb_avx512_squared, bb_avx2_squared;
coupled bb_avx512_coupled, bb_avx2_coupled;

#define IN_SET(f) (set ? bb_avx2_##f : bb_avx512_##f)
#define IN_PRECISION(f) (single ? IN_SET(single_##f) : IN_SET(double_##f))

static int bb_small_invert(int set, int single, int order, const double *k, int ldk, const double *root,
	double *work, double *pivots, double *above, double *below) {
	return IN_PRECISION(invert)(order, k, ldk, root, work, pivots, above, below);
}

static void bb_small_square(int set, int single, int order, const double *work, const double *scale,
	double *g, int ldg) {
	IN_PRECISION(square)(order, work, scale, g, ldg);
}

static void bb_small_couple(int set, int order, const double *g, int ldg, const double *chi, const double *u,
	double *work, double *h, int ldh) {
	IN_SET(single_couple)(order, g, ldg, chi, u, work, h, ldh);
}

static void bb_small_squared(int set, int order, const double *g, int ldg, const double *x, double *y) {
	IN_SET(squared)(order, g, ldg, x, y);
}

static void bb_small_coupled(int set, int order, const double *g, int ldg, const double *h, int ldh,
	const double *d, const double *u, const double *f, double *y0, double *y1, double *y2, double *y3) {
	IN_SET(coupled)(order, g, ldg, h, ldh, d, u, f, y0, y1, y2, y3);
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

// smallSet is the set for the vector width of OpenBLAS's kernels.
var smallSet = sync.OnceValue(func() kernelSet {
	switch core := strings.ToLower(C.GoString(C.openblas_get_corename())); {
	case avx512Cores[core]:
		return kernelSet{0, 8}
	case core == "haswell" || core == "zen":
		return kernelSet{1, 4}
	}
	return kernelSet{}
})

func hasSmall() bool { return bound.Name() == OpenBLAS && smallSet().width > 0 }

// smallWork is the size of panels in single precision, which need more: rows are n rounded up to 8 plus three
// vectors; panels cover all columns, and two more for a tile that begins in the last.
func smallWork(n int) int {
	n = (n + 7) / 8 * 8
	double := smallSet().width
	single := 2 * double
	return max((n/double+2)*double*(n+3*double), (n/single+3)*single*(n+3*single)/2)
}

func (s *Small) invert(k blas64.Symmetric, root []float64) (minor int) {
	return int(C.bb_small_invert(smallSet().index, flag(s.single), C.int(k.N), numbers(k.Data),
		C.int(k.Stride), numbers(root), numbers(s.work), numbers(s.Pivots), numbers(s.Above),
		numbers(s.Below)))
}

// OffDiagonal writes -scale_i scale_j (B^-1)_ij below the diagonal of the lower triangle g.
func (s *Small) OffDiagonal(scale []float64, g blas64.Symmetric) {
	C.bb_small_square(smallSet().index, flag(s.single), C.int(g.N), numbers(s.work), numbers(scale),
		numbers(g.Data), C.int(g.Stride))
}

// Couple writes G o C, C = G diag(u) G, below the diagonal of h, accurate to single precision. G is given
// below its diagonal, chi. The inverse in s is overwritten.
func (s *Small) Couple(g blas64.Symmetric, chi, u []float64, h blas64.General) {
	C.bb_small_couple(smallSet().index, C.int(g.N), numbers(g.Data), C.int(g.Stride), numbers(chi),
		numbers(u), numbers(s.work), numbers(h.Data), C.int(h.Stride))
}

// MulSquared is y = (G o G) x, without the diagonal of G.
func (s *Small) MulSquared(g blas64.Symmetric, x, y []float64) {
	C.bb_small_squared(smallSet().index, C.int(g.N), numbers(g.Data), C.int(g.Stride), numbers(x), numbers(y))
}

// MulCoupled is y = (G o G) d, (G o G) u, H d and G f in one pass, without the diagonals of G and H.
func (s *Small) MulCoupled(g blas64.Symmetric, h blas64.General, d, u, f []float64, y *[4][]float64) {
	C.bb_small_coupled(smallSet().index, C.int(g.N), numbers(g.Data), C.int(g.Stride), numbers(h.Data),
		C.int(h.Stride), numbers(d), numbers(u), numbers(f), numbers(y[0]), numbers(y[1]), numbers(y[2]),
		numbers(y[3]))
}
