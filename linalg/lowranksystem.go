package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// LowRankSystem solves (K~ + diag(e)) w = b on the sites of a LowRankPlusDiag with finite e: the Newton
// system of a trainer. By Woodbury, with v = 1/(delta + e),
//
//	w = v o (b - R M^-1 R'(v o b)),   M = I + R' diag(v) R,
//
// in r^2 flops per site of the system, then 8 N r per right-hand side. delta + e is at least leastShift K_ii,
// and every solution is refined once, since b - R(..) cancels for small e.
type LowRankSystem struct {
	k       *LowRankPlusDiag
	least   []float64 // smallest delta + e
	v, root []float64 // 1/(delta + e), 0 where e is infinite; its root
	lower   blas64.General
	room    lanes
	rest    []float64 // over the sites, like product
	product []float64
}

// leastShift times K_ii is the smallest element of delta + e.
const leastShift = 1e-10

// System prepares to solve with k, which it does not change.
func (k *LowRankPlusDiag) System() *LowRankSystem {
	v := func() []float64 { return make([]float64, k.n) }
	s := &LowRankSystem{k: k, least: v(), v: v(), root: v(), rest: v(), product: v(),
		lower: newGeneral(k.rank, k.rank), room: newLanes(k.n, k.rank)}
	floats.ScaleTo(s.least, leastShift, Diagonal(k))
	return s
}

// Factorize computes M and its factor for an e >= 0 over the sites, +Inf at those that
// are not part of the system.
func (s *LowRankSystem) Factorize(e []float64) error {
	for i, shift := range e {
		s.v[i] = 1 / math.Max(s.k.residual[i]+shift, s.least[i])
		s.root[i] = math.Sqrt(s.v[i])
	}
	return s.k.weightedGram(s.lower, s.room, s.root)
}

// Solve overwrites b, over the sites, with the solution, 0 at sites that are not part of the system.
func (s *LowRankSystem) Solve(b []float64) {
	copy(s.rest, b)
	s.solveOnce(b)
	s.k.vectors(rowOf(s.product), s.k.coordinates(rowOf(b)))
	for i, v := range s.v {
		if v > 0 {
			s.rest[i] -= s.product[i] + b[i]/v
		}
	}
	s.solveOnce(s.rest)
	floats.Add(b, s.rest)
}

// solveOnce is Solve without the correction.
func (s *LowRankSystem) solveOnce(b []float64) {
	floats.MulTo(s.product, s.v, b)
	t := s.k.coordinates(rowOf(s.product))
	solveBoth(s.lower, t)
	s.k.addProduct(rowOf(b), -1, t)
	floats.Mul(b, s.v)
}
