package linalg

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Exact is the engine that factorises B = I + d^1/2 K d^1/2 = L L' (M03-63 in
// a form that survives a singular K). Everything happens in the scratch
// triangle of K's own array: B, then L, then L^-1, then G without its diagonal,
// which is chi.
type Exact struct {
	k        *Sym
	kdiag    []float64 // K_ii
	d        []float64 // site parameters at which G stands
	root     []float64 // d^1/2, kept away from zero
	inverse  []float64 // 1/root
	chi, b   []float64 // diag(G), 1 - d chi
	expanded bool      // scratch holds G with a zero diagonal; otherwise L^-1
	update   lowRank   // workspace of Update
	lanes    [lanes][]float64
	scaled   []float64 // workspace of Respond and Estimate
}

// tile is the edge of the blocks in which triangles are walked: two tiles of
// float64 fit the first-level cache.
const tile = 32

// strip is the number of columns that one task sums over.
const strip = 128

// lanes is the number of partial sums of SquareMulVec, fixed so that the
// result does not depend on the number of goroutines.
const lanes = 8

// smallestRoot keeps d^1/2 off zero, so that G = -(B^-1)_ij/(r_i r_j) holds for
// sites with d = 0 too. Off-diagonal elements of L and L^-1 scale with r, so
// no digit is lost; its square is far below rounding, and the squares of those
// elements are still far above the smallest number.
const smallestRoot = 1e-70

// NewExact returns an engine on k. It takes over k's scratch triangle: nobody
// else may use that while the engine is in use.
func NewExact(k *Sym) *Exact {
	n := k.N()
	e := &Exact{k: k}
	for _, v := range []*[]float64{&e.kdiag, &e.d, &e.root, &e.inverse, &e.chi, &e.b, &e.scaled} {
		*v = make([]float64, n)
	}
	for i := range e.lanes {
		e.lanes[i] = make([]float64, n)
	}
	return e
}

// ExactBytes is the memory that NewExact takes beside K, updates apart.
func ExactBytes(n int) int64 { return 8 * int64(7+lanes) * int64(n) }

// N is the order of K.
func (e *Exact) N() int { return e.k.N() }

// Diag is diag(G) and 1 - d diag(G).
func (e *Exact) Diag() (chi, b []float64) { return e.chi, e.b }

// Sites is the d at which G stands.
func (e *Exact) Sites() []float64 { return e.d }

// Bytes is the memory that the engine holds, K included.
func (e *Exact) Bytes() int64 {
	return SymBytes(e.N()) + ExactBytes(e.N()) + 8*int64(cap(e.update.u)+cap(e.update.s))
}

// Refresh moves G to d: B, its Cholesky factor, the factor's inverse, and from
// their row and column norms chi and b.
func (e *Exact) Refresh(d []float64) error {
	if err := checkSites(d, e.N()); err != nil {
		return err
	}
	e.expanded = false
	e.k.Diag(e.kdiag)
	copy(e.d, d)
	for i, v := range d {
		e.root[i] = math.Max(math.Sqrt(v), smallestRoot)
		e.inverse[i] = 1 / e.root[i]
	}
	e.formB()
	s := e.k.Scratch()
	if minor := blas.Bound().Potrf(s.Uplo, s.N, s.Data, s.Stride); minor != 0 {
		return &PivotError{Minor: minor, N: s.N}
	}
	e.conditionalVariances()
	if zero := blas.Bound().Trtri(s.Uplo, s.N, s.Data, s.Stride); zero != 0 {
		return &PivotError{Minor: zero, N: s.N}
	}
	e.diagonals()
	return nil
}

func checkSites(d []float64, n int) error {
	if len(d) != n {
		return fmt.Errorf("%d site parameters for %d sites", len(d), n)
	}
	for i, v := range d {
		if !(v >= 0) || math.IsInf(v, 1) {
			return &SiteError{Site: i, Value: v}
		}
	}
	return nil
}

// formB writes the lower triangle of B = I + d^1/2 K d^1/2 into the scratch
// triangle, tile by tile, because K is read by rows and B written by columns.
func (e *Exact) formB() {
	s := e.k.Scratch()
	n := s.N
	overTriangle(n, blocks(n, tile), func(block int) {
		first, last := block*tile, min(n, (block+1)*tile)
		for j0 := 0; j0 < last; j0 += tile {
			for j := j0; j < min(j0+tile, last); j++ {
				row := e.k.Row(j)
				for i := max(first, j); i < last; i++ {
					s.Data[i*s.Stride+j] = e.root[i] * e.root[j] * row[i-j]
				}
			}
		}
		for i := first; i < last; i++ {
			s.Data[i*s.Stride+i]++
		}
	})
}

// conditionalVariances leaves in chi, while the scratch triangle holds L, the
// variance v_i = K_ii - sum_{k<i} L_ik^2/d_i of site i given those before it,
// divided by L_ii^2.
func (e *Exact) conditionalVariances() {
	s := e.k.Scratch()
	overTriangle(s.N, blocks(s.N, tile), func(block int) {
		for i := block * tile; i < min(s.N, (block+1)*tile); i++ {
			sum := 0.0
			row := s.Data[i*s.Stride : i*s.Stride+i+1]
			for _, l := range row[:i] {
				sum += l * l
			}
			e.chi[i] = (e.kdiag[i] - sum/(e.root[i]*e.root[i])) / (row[i] * row[i])
		}
	})
}

// diagonals reads chi and b off the columns of L^-1:
//
//	b_i = (B^-1)_ii = sum_k (L^-1)_ki^2,
//	chi_i = (1 - b_i)/d_i = v_i/L_ii^2 - sum_{k>i} (L^-1)_ki^2/d_i.
//
// The first form of chi loses 1/d_i against chi_i to rounding, the second
// K_ii: the smaller loss is taken.
func (e *Exact) diagonals() {
	s := e.k.Scratch()
	overTriangle(s.N, blocks(s.N, strip), func(block int) {
		first, last := block*strip, min(s.N, (block+1)*strip)
		below := e.scaled[first:last] // sum_{k>i} (L^-1)_ki^2
		for j := range below {
			below[j] = 0
		}
		for i := first + 1; i < s.N; i++ {
			width := min(i, last) - first
			row := s.Data[i*s.Stride+first : i*s.Stride+first+width]
			for j, m := range row {
				below[j] += m * m
			}
		}
		for j := range below {
			i := first + j
			m := s.Data[i*s.Stride+i]
			e.b[i] = m*m + below[j]
			if e.d[i]*e.kdiag[i] >= 1 {
				e.chi[i] = (1 - e.b[i]) / e.d[i]
			} else {
				e.chi[i] -= below[j] / (e.root[i] * e.root[i])
			}
		}
	})
}

// Expand turns L^-1 into G without its diagonal: B^-1 = L^-T L^-1, then
//
//	G_ij = -(B^-1)_ij/(d_i d_j)^1/2 for i != j.
func (e *Exact) Expand() {
	if e.expanded {
		return
	}
	s := e.k.Scratch()
	blas.Bound().Lauum(s.Uplo, s.N, s.Data, s.Stride)
	overTriangle(s.N, blocks(s.N, tile), func(block int) {
		for i := block * tile; i < min(s.N, (block+1)*tile); i++ {
			row := s.Data[i*s.Stride : i*s.Stride+i+1]
			for j := range row[:i] {
				row[j] *= -e.inverse[i] * e.inverse[j]
			}
			row[i] = 0
		}
	})
	e.expanded = true
}

// mustBeExpanded panics when a product with G is asked for before Expand: a
// fault of the caller's code, never of the data.
func (e *Exact) mustBeExpanded() {
	if !e.expanded {
		panic("linalg: G is not expanded")
	}
}

// OffMulVec is dst = (G - diag(G)) x.
func (e *Exact) OffMulVec(dst, x []float64) {
	e.mustBeExpanded()
	if e.N() == 0 {
		return
	}
	blas64.Symv(1, e.k.Scratch(), vector(x), 0, vector(dst))
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Row copies row i of G into dst.
func (e *Exact) Row(dst []float64, i int) {
	e.mustBeExpanded()
	s := e.k.Scratch()
	copy(dst[:i], s.Data[i*s.Stride:i*s.Stride+i])
	dst[i] = e.chi[i]
	for j := i + 1; j < s.N; j++ {
		dst[j] = s.Data[j*s.Stride+i]
	}
}

// Respond overwrites kernel rows k with
//
//	k'(I + diag(d)K)^-1 = k - G(d o k) = b o k - (G - diag(G))(d o k).
func (e *Exact) Respond(rows []float64) {
	e.mustBeExpanded()
	n := e.N()
	if n == 0 || len(rows) == 0 {
		return
	}
	p := len(rows) / n
	weighted := make([]float64, len(rows))
	for r := 0; r < p; r++ {
		for j, d := range e.d {
			weighted[r*n+j] = d * rows[r*n+j]
			rows[r*n+j] *= e.b[j]
		}
	}
	general := func(data []float64) blas64.General {
		return blas64.General{Rows: p, Cols: n, Stride: n, Data: data}
	}
	blas64.Symm(gblas.Right, -1, e.k.Scratch(), general(weighted), 1, general(rows))
}
