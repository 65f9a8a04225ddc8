package blas

import "gonum.org/v1/gonum/blas/blas64"

// Small inverts B = I + diag(root) K diag(root) of an order at which a general BLAS, which
// packs its operands and is called for small blocks, reaches a third of its rate: with
// kernels that keep B, its factor B = U'U and M = U'^-1 in panels of columns.
type Small struct {
	Pivots []float64 // U_ii, which are 1/M_ii
	Above  []float64 // sum_{k<i} U_ki^2
	Below  []float64 // sum_{k>i} M_ki^2

	work   []float64
	single bool // work is in single precision
}

// smallOrder is the largest order of a Small, which works in one thread: at 600 it takes half the
// time of the recursions in two. From 800 on its matrices leave the second-level cache.
const smallOrder = 640

// SmallWork is the number of float64 that a Small of order n keeps, 0 where it has no kernels.
func SmallWork(n int) int {
	if n > smallOrder || !hasSmall() {
		return 0
	}
	return smallWork(n) + 3*n
}

// NewSmall works in memory of SmallWork(n) numbers.
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
