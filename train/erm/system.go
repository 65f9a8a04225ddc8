package erm

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train/internal/workspace"
)

// system is K between the active sites, in the form in which K is held. Vectors run over these sites.
type system interface {
	// gather takes K between the listed sites. most bounds their number in later calls.
	gather(site []int, most int)
	// mulAdd adds K x to dst.
	mulAdd(dst, x []float64)
	// factorise prepares to solve (K + diag(e)) w = b on the sites of finite e >= 0; false: not definite.
	factorise(e []float64) bool
	// solve overwrites b with w, 0 where e is infinite.
	solve(b []float64)
	// sweep visits each site with its f_i of f = K a; visit returns the change of a_i.
	sweep(f, a []float64, visit func(i int, f float64) (step float64, err error)) error
	// spread writes K a at all sites of the kernel into dst; a is over all of them, 0 at inactive ones.
	spread(dst []float64, active []int, a []float64)
}

// dense is a kernel matrix stored as an array.
type dense struct {
	kernel *linalg.Sym
	n      int
	k      []float64 // between the active sites, n x n, row-major, both triangles
	stride int       // of k

	members      []int     // active sites in the factor
	factor       []float64 // lower triangle; gather makes room for all sites
	factorStride int
	small        []float64 // over the members
}

func (s *dense) gather(site []int, most int) {
	s.n = len(site)
	workspace.ResizeSquare(&s.factor, s.n, most)
	s.stride = workspace.ResizeSquare(&s.k, s.n, most)
	workspace.GatherUpper(s.k, s.stride, s.kernel, site)
	both := blas64.Symmetric{N: s.n, Stride: s.stride, Data: s.k}
	workspace.TransposeUpper(both, both)
}

// row is row i of K between the active sites.
func (s *dense) row(i int) []float64 { return s.k[i*s.stride : i*s.stride+s.n] }

func (s *dense) factorise(e []float64) bool {
	s.members = s.members[:0]
	for i, v := range e {
		if !math.IsInf(v, 1) {
			s.members = append(s.members, i)
		}
	}
	m := len(s.members)
	s.factorStride = workspace.ResizeSquare(&s.factor, m, m)
	s.small = workspace.Resize(s.small, m)
	for p, i := range s.members {
		row, to := s.row(i), s.factor[p*s.factorStride:]
		for q, j := range s.members[:p+1] {
			to[q] = row[j]
		}
		to[p] += e[i]
	}
	return m == 0 || blas.Bound().Potrf(gblas.Lower, m, s.factor, s.factorStride) == 0
}

func (s *dense) solve(b []float64) {
	for p, i := range s.members {
		s.small[p] = b[i]
	}
	clear(b)
	workspace.SolveFactored(gblas.Lower, s.factor, s.factorStride, s.small)
	for p, i := range s.members {
		b[i] = s.small[p]
	}
}

func (s *dense) mulAdd(dst, x []float64) {
	if s.n > 0 {
		blas.Bound().Dgemv(gblas.NoTrans, s.n, s.n, 1, s.k, s.stride, x, 1, 1, dst, 1)
	}
}

func (s *dense) sweep(f, _ []float64, visit func(i int, f float64) (float64, error)) error {
	for i := range f {
		step, err := visit(i, f[i])
		if err != nil {
			return err
		}
		if step != 0 {
			blas.Bound().Daxpy(s.n, step, s.row(i), 1, f, 1)
		}
	}
	return nil
}

func (s *dense) spread(dst []float64, active []int, a []float64) {
	workspace.MulInactive(dst, s.kernel, active, a)
}
