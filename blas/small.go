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

// smallKernels is a backend that has the kernels on this processor.
type smallKernels interface {
	// smallWork is the number of float64 that the kernels work in, 0 where there are none.
	smallWork(n int) int
	// smallInvert factorises and inverts in work. It returns 0, or the order of the first
	// leading minor that is not positive definite.
	smallInvert(k blas64.Symmetric, root []float64, s *Small) (minor int)
	// smallSquare writes -scale_i scale_j (M'M)_ij, j < i, into the lower triangle g.
	smallSquare(s *Small, scale []float64, g blas64.Symmetric)
	smallCouple(g blas64.Symmetric, chi, u []float64, s *Small, h blas64.General)
	smallSquared(g blas64.Symmetric, x, y []float64)
	smallCoupled(g blas64.Symmetric, h blas64.General, d, u, f []float64, y *[4][]float64)
}

// SmallWork is the number of float64 that a Small of order n keeps, 0 where it has no kernels.
func SmallWork(n int) int {
	kernels, ok := bound.(smallKernels)
	if !ok || n > smallOrder {
		return 0
	}
	if work := kernels.smallWork(n); work > 0 {
		return work + 3*n
	}
	return 0
}

// NewSmall works in memory of SmallWork(n) numbers.
func NewSmall(n int, memory []float64) *Small {
	work := len(memory) - 3*n // it goes first, where the memory is aligned
	sums := memory[work:]
	return &Small{Pivots: sums[:n], Above: sums[n : 2*n], Below: sums[2*n:], work: memory[:work]}
}

// Usable reports whether the bound backend has the kernels. A nil Small is not usable.
func (s *Small) Usable() bool {
	_, ok := bound.(smallKernels)
	return s != nil && ok
}

// Invert reads the upper triangle k. It returns 0, or the order of the first leading minor of
// B that is not positive definite.
func (s *Small) Invert(k blas64.Symmetric, root []float64, single bool) (minor int) {
	s.single = single
	return bound.(smallKernels).smallInvert(k, root, s)
}

// OffDiagonal writes -scale_i scale_j (B^-1)_ij below the diagonal of the lower triangle g.
func (s *Small) OffDiagonal(scale []float64, g blas64.Symmetric) {
	bound.(smallKernels).smallSquare(s, scale, g)
}

// Couple writes G o C, C = G diag(u) G, below the diagonal of h, to the digits of single
// precision. G is given below its diagonal, chi. The inverse that s holds is lost.
func (s *Small) Couple(g blas64.Symmetric, chi, u []float64, h blas64.General) {
	bound.(smallKernels).smallCouple(g, chi, u, s, h)
}

// MulSquared is y = (G o G) x, without the diagonal of G.
func (s *Small) MulSquared(g blas64.Symmetric, x, y []float64) {
	bound.(smallKernels).smallSquared(g, x, y)
}

// MulCoupled is y = (G o G) d, (G o G) u, H d and G f in one pass, without the diagonals of G and H.
func (s *Small) MulCoupled(g blas64.Symmetric, h blas64.General, d, u, f []float64, y *[4][]float64) {
	bound.(smallKernels).smallCoupled(g, h, d, u, f, y)
}
