package erm

import (
	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"

	gonum "gonum.org/v1/gonum/blas"
)

// system is K between the active sites, and the Cholesky factor of the Newton
// system over some of them.
type system struct {
	n    int
	k    []float64 // n x n, row-major, both triangles
	diag []float64

	members []int // active sites in the factor
	stride  int
	factor  []float64 // lower triangle
}

// gather copies K between the listed sites. most bounds their number in later
// calls.
func (s *system) gather(kernel *linalg.Sym, site []int, most int) {
	s.n = len(site)
	if need := s.n * s.n; cap(s.k) < need {
		roomy := min(s.n+s.n/16+8, max(s.n, most))
		s.k = make([]float64, roomy*roomy)
	}
	s.k = s.k[:s.n*s.n]
	train.GatherUpper(s.k, s.n, kernel, site)
	train.MirrorUpper(s.k, s.n, s.n)
	s.diag = train.Resize(s.diag, s.n)
	for p := range s.diag {
		s.diag[p] = s.k[p*s.n+p]
	}
}

// row is row i of K between the active sites.
func (s *system) row(i int) []float64 { return s.k[i*s.n : (i+1)*s.n] }

// factorise computes the Cholesky factor of K + diag(e) over the members. It
// reports false where that is not positive definite.
func (s *system) factorise(e func(i int) float64) bool {
	m := len(s.members)
	s.stride = 8 * ((m+7)/8 | 1)
	s.factor = train.Resize(s.factor, m*s.stride)
	for p, i := range s.members {
		row, to := s.row(i), s.factor[p*s.stride:]
		for q, j := range s.members[:p+1] {
			to[q] = row[j]
		}
		to[p] += e(i)
	}
	return m == 0 || blas.Bound().Potrf(gonum.Lower, m, s.factor, s.stride) == 0
}

// solve overwrites b, over the members, with the solution of the system.
func (s *system) solve(b []float64) {
	if len(b) == 0 {
		return
	}
	bound := blas.Bound()
	bound.Dtrsv(gonum.Lower, gonum.NoTrans, gonum.NonUnit, len(b), s.factor, s.stride, b, 1)
	bound.Dtrsv(gonum.Lower, gonum.Trans, gonum.NonUnit, len(b), s.factor, s.stride, b, 1)
}

// mulAdd adds K x to dst.
func (s *system) mulAdd(dst, x []float64) {
	if s.n > 0 {
		blas.Bound().Dgemv(gonum.NoTrans, s.n, s.n, 1, s.k, s.n, x, 1, 1, dst, 1)
	}
}
