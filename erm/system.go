package erm

import (
	"bootbench/blas"
	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
)

// system is K between the active sites, both triangles, and the factor of the
// Newton system.
type system struct {
	n    int
	k    []float64 // n x n, row-major
	diag []float64

	members []int // of the factor
	stride  int
	factor  []float64
}

// gather copies K between the listed sites, in tiles, because columns of the
// stored triangle are far apart.
func (s *system) gather(kernel *linalg.Sym, site []int, most int) {
	s.n = len(site)
	if need := s.n * s.n; cap(s.k) < need {
		roomy := min(s.n+s.n/16+8, max(s.n, most))
		s.k = make([]float64, roomy*roomy)
	}
	s.k = s.k[:s.n*s.n]
	s.diag = grow(s.diag, s.n)
	raw := kernel.Raw()
	for p, i := range site {
		from, to := raw.Data[i*raw.Stride:i*raw.Stride+raw.N], s.row(p)
		for q := p; q < s.n; q++ {
			to[q] = from[site[q]]
		}
		s.diag[p] = to[p]
	}
	for p0 := 0; p0 < s.n; p0 += tile {
		for q0 := 0; q0 <= p0; q0 += tile {
			for p := p0; p < min(p0+tile, s.n); p++ {
				for q := q0; q < min(q0+tile, p); q++ {
					s.k[p*s.n+q] = s.k[q*s.n+p]
				}
			}
		}
	}
}

// tile is the side of the blocks that are transposed at a time.
const tile = 32

// row is row i of K between the active sites.
func (s *system) row(i int) []float64 { return s.k[i*s.n : (i+1)*s.n] }

// factorise forms K + diag(e) over the members and its Cholesky factor. It
// reports false where that is not positive definite.
func (s *system) factorise(e func(i int) float64) bool {
	m := len(s.members)
	s.stride = 8 * ((m+7)/8 | 1)
	s.factor = grow(s.factor, m*s.stride)
	for p, i := range s.members {
		row, to := s.row(i), s.factor[p*s.stride:]
		for q, j := range s.members[:p+1] {
			to[q] = row[j]
		}
		to[p] += e(i)
	}
	if m == 0 {
		return true
	}
	return blas.Bound().Potrf(gonum.Lower, m, s.factor, s.stride) == 0
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

// addProduct is dst += K x, four rows at a time. Zeros of x cost nothing.
func (s *system) addProduct(dst, x []float64) {
	var batch [4]int
	m := 0
	for i, v := range x {
		if v == 0 {
			continue
		}
		batch[m] = i
		if m++; m == len(batch) {
			a, b, c, d := batch[0], batch[1], batch[2], batch[3]
			addFour(dst, s.row(a), s.row(b), s.row(c), s.row(d), x[a], x[b], x[c], x[d])
			m = 0
		}
	}
	for _, i := range batch[:m] {
		addOne(dst, s.row(i), x[i])
	}
}

func addFour(dst, r0, r1, r2, r3 []float64, x0, x1, x2, x3 float64) {
	n := len(dst)
	r0, r1, r2, r3 = r0[:n], r1[:n], r2[:n], r3[:n]
	for j := range dst {
		dst[j] += (x0*r0[j] + x1*r1[j]) + (x2*r2[j] + x3*r3[j])
	}
}

func addOne(dst, row []float64, x float64) {
	row = row[:len(dst)]
	for j := range dst {
		dst[j] += x * row[j]
	}
}
