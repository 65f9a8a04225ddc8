package blas

import "gonum.org/v1/gonum/blas/blas64"

// Thin is a matrix R of N rows, sites, and few columns, in products that cost N rank^2 flops: kernels that
// copy a block of sites to where it stays in the cache, scale it on the way, and compute the lower half of
// what is symmetric.
type Thin struct {
	Panels []blas64.General // of R', some rows each, as many in all but the last, with one stride
	Single bool             // products are in single precision; sums over blocks are in double
}

// Rank is the number of columns.
func (m Thin) Rank() int {
	rank := 0
	for _, p := range m.Panels {
		rank += p.Rows
	}
	return rank
}

// thinKernels is a backend that has them on this processor.
type thinKernels interface {
	// thinWork is the number of float64 that the kernels work in, 0 where there are none.
	thinWork(rank int) int
	thinGram(m Thin, sum blas64.General, root []float64, first, last int, work []float64)
	thinForms(m Thin, lower blas64.General, norms bool, dst []float64, kept blas64.General, first, last int,
		work []float64)
}

// ThinWork is the number of float64 that the products of a Thin work in, 0 where there are no kernels.
func ThinWork(rank int) int {
	if kernels, ok := bound.(thinKernels); ok && rank > 0 {
		return kernels.thinWork(rank)
	}
	return 0
}

// AddGram adds R' diag(root o |root|) R over sites first to last-1 to the lower triangle of sum.
func (m Thin) AddGram(sum blas64.General, root []float64, first, last int, work []float64) {
	if first < last {
		bound.(thinKernels).thinGram(m, sum, root, first, last, work)
	}
}

// Forms writes x_i'L x_i to dst_i, for rows x_i of R of sites first to last-1 and a lower triangle L.
func (m Thin) Forms(dst []float64, lower blas64.General, first, last int, work []float64) {
	m.forms(lower, false, dst, blas64.General{}, first, last, work)
}

// Norms writes |L x_i|^2 to dst_i, and L R' to kept unless that is empty.
func (m Thin) Norms(dst []float64, lower, kept blas64.General, first, last int, work []float64) {
	m.forms(lower, true, dst, kept, first, last, work)
}

func (m Thin) forms(lower blas64.General, norms bool, dst []float64, kept blas64.General, first, last int,
	work []float64) {
	if first < last {
		bound.(thinKernels).thinForms(m, lower, norms, dst, kept, first, last, work)
	}
}
