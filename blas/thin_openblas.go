//go:build openblas && amd64

package blas

/*
#include "thin.h"
typedef void gram(const struct thin *m, long first, long last, const double *root, void *work, double *sum,
	long ldsum);
typedef void forms(const struct thin *m, long first, long last, const double *l, long ldl, int norms,
	void *work, double *dst, double *kept, long ldkept);
gram bb_avx512_double_gram, bb_avx512_single_gram, bb_avx2_double_gram, bb_avx2_single_gram;
forms bb_avx512_double_forms, bb_avx512_single_forms, bb_avx2_double_forms, bb_avx2_single_forms;

static gram *const grams[2][2] = {{bb_avx512_double_gram, bb_avx512_single_gram},
	{bb_avx2_double_gram, bb_avx2_single_gram}};
static forms *const all_forms[2][2] = {{bb_avx512_double_forms, bb_avx512_single_forms},
	{bb_avx2_double_forms, bb_avx2_single_forms}};

static void bb_thin_gram(int set, int single, int rank, int height, long stride, const double **parts,
	long first, long last,
                         const double *root, double *work, double *sum, long ldsum) {
	const struct thin m = {rank, height, stride, parts};
	grams[set][single](&m, first, last, root, work, sum, ldsum);
}

static void bb_thin_forms(int set, int single, int rank, int height, long stride, const double **parts,
	long first, long last,
                          const double *l, long ldl, int norms, double *work, double *dst, double *kept,
	long ldkept) {
	const struct thin m = {rank, height, stride, parts};
	all_forms[set][single](&m, first, last, l, ldl, norms, work, dst, kept, ldkept);
}
*/
import "C"

import (
	"runtime"

	"gonum.org/v1/gonum/blas/blas64"
)

// thinWork is room for a block of sites twice, or for one and a lower triangle, filled up to the longest
// vectors.
func (openBLAS) thinWork(rank int) int {
	if smallSet().width == 0 {
		return 0
	}
	filled, block := (rank+15)/16*16, C.THIN_SITES
	return filled*block + max(filled*block, filled*(filled+16)/2)
}

func (openBLAS) thinGram(m Thin, sum blas64.General, root []float64, first, last int, work []float64) {
	var pins runtime.Pinner
	defer pins.Unpin()
	C.bb_thin_gram(smallSet().index, flag(m.Single), C.int(m.Rank()), C.int(m.Panels[0].Rows),
		C.long(m.Panels[0].Stride), m.starts(&pins), C.long(first), C.long(last),
		numbers(root), numbers(work), numbers(sum.Data), C.long(sum.Stride))
}

func (openBLAS) thinForms(m Thin, lower blas64.General, norms bool, dst []float64, kept blas64.General, first,
	last int, work []float64) {
	var pins runtime.Pinner
	defer pins.Unpin()
	var keep *C.double
	if len(kept.Data) > 0 {
		keep = numbers(kept.Data)
	}
	C.bb_thin_forms(smallSet().index, flag(m.Single), C.int(m.Rank()), C.int(m.Panels[0].Rows),
		C.long(m.Panels[0].Stride), m.starts(&pins), C.long(first), C.long(last),
		numbers(lower.Data), C.long(lower.Stride), flag(norms), numbers(work), numbers(dst), keep,
		C.long(kept.Stride))
}

// starts is where the panels begin.
func (m Thin) starts(pins *runtime.Pinner) **C.double {
	starts := make([]*C.double, len(m.Panels))
	for i, p := range m.Panels {
		starts[i] = numbers(p.Data)
		pins.Pin(starts[i])
	}
	return &starts[0]
}

// flag is 1 for true.
func flag(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}
