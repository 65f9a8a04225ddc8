package blas

import "gonum.org/v1/gonum/blas/blas64"

// Small inverts B = I + diag(root) K diag(root) of a small order, at which a general BLAS reaches a third of
// its rate because it packs small blocks: with kernels on B, its factor B = U'U and M = U'^-1 in panels of
// columns.
type Small struct {
	Pivots []float64 // U_ii, which are 1/M_ii
	Above  []float64 // sum_{k<i} U_ki^2
	Below  []float64 // sum_{k>i} M_ki^2

	work   []float64
	single bool // single precision
}

// smallOrder is the largest order of a Small, which uses one thread: at 600 it takes half the time of the
// recursions in two. From 800 on its matrices exceed the second-level cache.
const smallOrder = 640

// SmallWork is the number of float64 in a Small of order n, 0 without kernels.
func SmallWork(n int) int {
	if n > smallOrder || !hasSmall() {
		return 0
	}
	return smallWork(n) + 3*n
}

// NewSmall uses memory of SmallWork(n) numbers.
func NewSmall(n int, memory []float64) *Small {
	work := len(memory) - 3*n // it goes first, where the memory is aligned
	sums := memory[work:]
	return &Small{Pivots: sums[:n], Above: sums[n : 2*n], Below: sums[2*n:], work: memory[:work]}
}

// Usable reports whether the bound backend has the kernels. A nil Small is not usable.
func (s *Small) Usable() bool { return s != nil && hasSmall() }

// Invert reads the upper triangle k. It returns 0, or the order of the first leading minor of B that is not
// positive definite.
func (s *Small) Invert(k blas64.Symmetric, root []float64, single bool) (minor int) {
	s.single = single
	return s.invert(k, root)
}
