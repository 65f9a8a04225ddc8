//go:build mpi && openblas

package scalapack

/*
#include <stddef.h>

void Cblacs_get(int, int, int *);
void Cblacs_gridinit(int *, char *, int, int);

// Fortran symbols. Trailing lengths of the character arguments follow gfortran's convention; the PBLAS
// (pdtrmm, pdsyrk) are written in C and have none.
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc,
	int *info, size_t);
void pdtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *ia, const int *ja,
	const int *desc, int *info, size_t, size_t);
void pdlauum_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc,
	size_t);
void pdtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
	const int *n, const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
	double *b, const int *ib, const int *jb, const int *descb);
void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
	const double *a, const int *ia, const int *ja, const int *desca, const double *beta, double *c,
	const int *ic, const int *jc, const int *descc);

// pilaenv_ takes the place of ScaLAPACK's own, which is meant to be replaced: the PBLAS cut their operands
// into pieces of so many columns, 32 by default, too few for dgemm.
int pilaenv_(const int *context, const char *precision, size_t length) { return 256; }

static int bb_pdpotrf(int n, double *a, const int *desc) {
	int info = 0, one = 1;
	pdpotrf_("L", &n, a, &one, &one, desc, &info, 1);
	return info;
}

static int bb_pdtrtri(int n, double *a, int at, const int *desc) {
	int info = 0;
	pdtrtri_("L", "N", &n, a, &at, &at, desc, &info, 1, 1);
	return info;
}

static void bb_pdlauum(int n, double *a, int at, const int *desc) {
	pdlauum_("L", &n, a, &at, &at, desc, 1);
}

// bb_pdtrmm multiplies the m x n matrix at (ib, jb) by the lower triangle at (at, at).
static void bb_pdtrmm(char side, char trans, int m, int n, double alpha, double *a, int at, int ib, int jb,
	const int *desc) {
	pdtrmm_(&side, "L", &trans, "N", &m, &n, &alpha, a, &at, &at, desc, a, &ib, &jb, desc);
}

// bb_pdsyrk adds A' A to the lower triangle at (at, at); A is k x n at (ia, ja).
static void bb_pdsyrk(int n, int k, double *a, int ia, int ja, int at, const int *desc) {
	double one = 1;
	pdsyrk_("L", "T", &n, &k, &one, a, &ia, &ja, desc, &one, a, &at, &at, desc);
}
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// mpiGrid is a Grid over MPI, which computes by ScaLAPACK.
type mpiGrid struct {
	*world
	rows, cols int
	context    C.int
}

// shape is as square as the number of ranks allows, columns the more.
func (w *world) shape() (rows, cols int) {
	for r := 1; r*r <= w.size; r++ {
		if w.size%r == 0 {
			rows, cols = r, w.size/r
		}
	}
	return rows, cols
}

// grid arranges all ranks in rows x cols.
func (w *world) grid(rows, cols int) *mpiGrid {
	g := &mpiGrid{world: w, rows: rows, cols: cols}
	w.do(func() {
		C.Cblacs_get(-1, 0, &g.context)
		order := C.char('R')
		C.Cblacs_gridinit(&g.context, &order, C.int(rows), C.int(cols))
	})
	return g
}

func (g *mpiGrid) Shape() (rows, cols int) { return g.rows, g.cols }

// descriptor is what ScaLAPACK must know of a matrix of order n.
func (g *mpiGrid) descriptor(n, block int, a []float64, stride int) *[9]C.int {
	if n < 1 || block < 1 || stride < 1 || n > math.MaxInt32-block || len(a) > math.MaxInt32 {
		panic(fmt.Sprintf("linalg/scalapack: order %d, blocks of %d, stride %d, %d numbers",
			n, block, stride, len(a)))
	}
	return &[9]C.int{1, g.context, C.int(n), C.int(n), C.int(block), C.int(block), 0, 0, C.int(stride)}
}

func first(a []float64) *C.double { return (*C.double)(unsafe.SliceData(a)) }

func (g *mpiGrid) Potrf(n, block int, a []float64, stride int) (minor int) {
	d := g.descriptor(n, block, a, stride)
	g.do(func() { minor = int(C.bb_pdpotrf(C.int(n), first(a), &d[0])) })
	return int(g.Most(int64(minor)))
}

func (g *mpiGrid) Trtri(n, block int, a []float64, stride int) (zero int) {
	d := g.descriptor(n, block, a, stride)
	g.do(func() { zero = g.trtri(0, n, block, a, d) })
	return int(g.Most(int64(zero)))
}

func (g *mpiGrid) Lauum(n, block int, a []float64, stride int) {
	d := g.descriptor(n, block, a, stride)
	g.do(func() { g.lauum(0, n, block, a, d) })
}

// leaf is the number of blocks up to which pdtrtri and pdlauum do the work. They walk along the diagonal
// block by block, with products one block wide; halving leaves products of large squares.
const leaf = 4

// half is the order of the first half of a matrix, whole blocks.
func half(n, block int) int { return (n/block + 1) / 2 * block }

// trtri inverts the lower triangle of order n at (at, at): with its halves inverted, L21 becomes
// -L22^-1 L21 L11^-1.
func (g *mpiGrid) trtri(at, n, block int, a []float64, d *[9]C.int) (zero int) {
	if n <= leaf*block {
		zero = int(C.bb_pdtrtri(C.int(n), first(a), C.int(at+1), &d[0]))
		if zero > 0 {
			zero += at
		}
		return zero
	}
	h := half(n, block)
	zero = g.trtri(at, h, block, a, d)
	if other := g.trtri(at+h, n-h, block, a, d); zero == 0 {
		zero = other
	}
	below := C.int(at + h + 1)
	C.bb_pdtrmm('R', 'N', C.int(n-h), C.int(h), -1, first(a), C.int(at+1), below, C.int(at+1), &d[0])
	C.bb_pdtrmm('L', 'N', C.int(n-h), C.int(h), 1, first(a), below, below, C.int(at+1), &d[0])
	return zero
}

// lauum makes L' L of the lower triangle of order n at (at, at):
//
//	L11' L11 + L21' L21   and, below it,   L22' L21,   L22' L22.
func (g *mpiGrid) lauum(at, n, block int, a []float64, d *[9]C.int) {
	if n <= leaf*block {
		C.bb_pdlauum(C.int(n), first(a), C.int(at+1), &d[0])
		return
	}
	h := half(n, block)
	below := C.int(at + h + 1)
	g.lauum(at, h, block, a, d)
	C.bb_pdsyrk(C.int(h), C.int(n-h), first(a), below, C.int(at+1), C.int(at+1), &d[0])
	C.bb_pdtrmm('L', 'T', C.int(n-h), C.int(h), 1, first(a), below, below, C.int(at+1), &d[0])
	g.lauum(at+h, n-h, block, a, d)
}
