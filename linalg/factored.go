package linalg

import (
	"math"
	"sort"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Factored is an Exact for nearly singular K and large d. There the rounding of
// B = I + d^1/2 K d^1/2, some 1e-16 sum d K, is large beside the smallest
// eigenvalues of B, which are near 1. So where that sum is large, K is replaced
// by R R', R its pivoted Cholesky factor of N rows and as many columns r as K has
// rank within rounding, and
//
//	G = R (I + R' d R)^-1 R' = Z Z',   Z = R L^-T,   L L' = I + R' d R,
//
// has no difference in it (THEORY 4): chi_i = |row i of Z|^2. That costs about
// 6 N r^2 + N^2 r flops, and is done from Distrust on: until then, and for a K of
// full rank and no small pivot, it is an Exact.
type Factored struct {
	*CholeskyEngine
	room   int64
	wary   bool // Distrust was called
	asked  bool // whether K was factorised already
	direct bool // G stands by R
	r      int
	factor []float64 // R, N x r
	z      []float64 // Z, N x r
	scaled []float64 // d^1/2 Z, workspace
	root   []float64 // L^-T, r x r
	inner  []float64 // r x r, workspace
}

// Limits of the factor.
const (
	trustedSum   = 1e6         // sum of d K up to which B is factorised
	pivotFloor   = 8 * 0x1p-52 // share of the largest K_ii that counts as rounding
	regular      = 1e-6        // smallest pivot from which on a K of full rank is regular
	smallFactor  = 600         // N up to which any rank will do; beyond it must be N/2 at most
	nearlyPinned = 0.9         // d chi from where b is computed by a sum
	firstLook    = 32          // columns after which it is guessed whether the rank is low
)

// NewFactored returns an engine around e whose factor may take room bytes; 0: what
// the system has left when it is asked for, below 0: none. A factor that does not fit
// is not made.
func NewFactored(e *CholeskyEngine, room int64) *Factored {
	return &Factored{CholeskyEngine: e, room: room}
}

// Distrust makes later refreshes go by the factor where d is large, and reports
// whether one at d would.
func (f *Factored) Distrust(d []float64) bool {
	f.wary = true
	f.k.Diag(f.kdiag)
	sum := 0.0
	for i, v := range d {
		sum += v * f.kdiag[i]
	}
	return sum > trustedSum && f.factorise()
}

// Rank is the numerical rank of K where it was needed and is low, else N.
func (f *Factored) Rank() int {
	if f.factor == nil {
		return f.N()
	}
	return f.r
}

// Bytes is the memory that the engine holds, K included.
func (f *Factored) Bytes() int64 {
	return f.CholeskyEngine.Bytes() + 8*int64(3*len(f.factor)+2*len(f.inner))
}

// Factorize moves G to d.
func (f *Factored) Factorize(d []float64) error {
	if err := checkSites(d, f.N()); err != nil {
		return err
	}
	f.k.Diag(f.kdiag)
	sum := 0.0
	for i, v := range d {
		sum += v * f.kdiag[i]
	}
	f.direct = false
	if !f.wary || !(sum > trustedSum) || !f.factorise() {
		return f.CholeskyEngine.Factorize(d)
	}
	f.direct, f.expanded = true, false
	copy(f.d, d)
	for i, v := range d {
		f.CholeskyEngine.root[i] = math.Max(math.Sqrt(v), smallestRoot)
		f.inverse[i] = 1 / f.CholeskyEngine.root[i]
	}
	copy(f.z, f.factor)
	for i := range f.root {
		f.root[i] = 0
	}
	for j := range f.r {
		f.root[j*f.r+j] = 1
	}
	for range 2 {
		if err := f.orthonormalise(); err != nil {
			return err
		}
	}
	f.diagonalsOfZ()
	return nil
}

// SingleError is that of Exact with the d that FactorizeSingle takes, infinite
// where K's factor is in use.
func (f *Factored) SingleError(d []float64) float64 {
	if f.wary || len(d) != f.N() {
		return math.Inf(1)
	}
	return f.CholeskyEngine.SingleError(f.raised(d))
}

// FactorizeSingle moves G to d in float32, as Exact does, and widens all of it to
// float64: every product may be asked for, and errs as G does, by about
// SingleRounding. A d_i K_ii below 1e-8 counts as 1e-8, at which Sites then stands.
func (f *Factored) FactorizeSingle(d []float64) error {
	if err := checkSites(d, f.N()); err != nil {
		return err
	}
	if f.wary {
		return ErrSingle
	}
	f.direct = false
	if err := f.CholeskyEngine.FactorizeSingle(f.raised(d)); err != nil {
		return err
	}
	f.widen()
	return nil
}

// raised is d, nowhere below what float32 can carry.
func (f *Factored) raised(d []float64) []float64 {
	f.k.Diag(f.kdiag)
	raised := make([]float64, len(d))
	for i, v := range d {
		raised[i] = v
		if f.kdiag[i] > 0 {
			raised[i] = math.Max(v, leastShare/f.kdiag[i]*(1+1e-9))
		}
	}
	return raised
}

// widen turns the float32 triangle into one of float64 in its place, each row from
// its end.
func (f *Factored) widen() {
	wide, narrow := double(f.k), single(f.k)
	for i := range wide.n {
		row, from := wide.row(i), narrow.row(i)
		for j := i; j >= 0; j-- {
			row[j] = float64(from[j])
		}
	}
	f.single = false
}

// factorise computes R once, and reports whether it is of use.
func (f *Factored) factorise() bool {
	if f.asked {
		return f.factor != nil
	}
	f.asked = true
	n := f.N()
	limit := n
	if n > smallFactor {
		limit = n / 2
	}
	if limit = min(limit, f.rankThatFits()); limit == 0 {
		return false
	}
	columns, smallest := pivotedCholesky(f.k, limit)
	if columns == nil || len(columns) == n && smallest > regular {
		return false
	}
	r := len(columns)
	f.r = r
	f.factor, f.z, f.scaled = make([]float64, n*r), make([]float64, n*r), make([]float64, n*r)
	f.root, f.inner = make([]float64, r*r), make([]float64, r*r)
	for j, column := range columns {
		for i, v := range column {
			f.factor[i*r+j] = v
		}
	}
	return true
}

// rankThatFits is the largest rank for whose factor there is room.
func (f *Factored) rankThatFits() int {
	room, n := f.room, int64(f.N())
	if room == 0 {
		var known bool
		if room, known = AvailableMemory(); !known {
			return f.N()
		}
	}
	return sort.Search(f.N(), func(rank int) bool {
		r := int64(rank) + 1
		return 8*(4*n*r+2*r*r) > room // R by columns while it is made, three matrices like it, two of its rank
	})
}

// pivotedCholesky returns the columns of R, K = R R' within rounding, and the
// smallest pivot as a share of the first; or nil where that takes more than limit
// columns, or looks as if it did.
func pivotedCholesky(k *Sym, limit int) (columns [][]float64, smallest float64) {
	n := k.N()
	left := make([]float64, n) // diag(K - R R'), -1 where it was the pivot
	k.Diag(left)
	top := left[largestOf(left)]
	for look := firstLook; ; {
		pivot := largestOf(left)
		if !(left[pivot] > pivotFloor*top) {
			return columns, smallest
		}
		if len(columns) == limit {
			return nil, 0
		}
		if len(columns) == look {
			// Eigenvalues of smooth kernels fall geometrically or faster.
			if n > smallFactor && math.Log(left[pivot]/top)*float64(limit) > 0.5*math.Log(pivotFloor)*float64(look) {
				return nil, 0
			}
			look *= 2
		}
		smallest = left[pivot] / top
		columns = append(columns, eliminate(k, left, columns, pivot))
	}
}

// eliminate is the next column of R, and takes it off what is left.
func eliminate(k *Sym, left []float64, columns [][]float64, pivot int) []float64 {
	column := make([]float64, len(left))
	for i := range column {
		column[i] = k.At(i, pivot)
	}
	for _, c := range columns {
		blas64.Axpy(-c[pivot], vector(c), vector(column))
	}
	root := math.Sqrt(left[pivot])
	for i, v := range left {
		if v < 0 {
			column[i] = 0
			continue
		}
		column[i] /= root
		left[i] = math.Max(0, v-column[i]*column[i])
	}
	column[pivot], left[pivot] = root, -1
	return column
}

// orthonormalise makes the columns of d^1/2 Z above L^-T orthonormal, by the
// Cholesky factor of their products. Once leaves an error of the condition of I +
// R' d R times rounding, twice removes most of that.
func (f *Factored) orthonormalise() error {
	n, r := f.N(), f.r
	overTriangle(n, blocks(n, tile), func(block int) {
		for i := block * tile; i < min(n, (block+1)*tile); i++ {
			for j, x := range f.z[i*r : (i+1)*r] {
				f.scaled[i*r+j] = f.CholeskyEngine.root[i] * x
			}
		}
	})
	inner := blas64.Symmetric{Uplo: gblas.Lower, N: r, Stride: r, Data: f.inner}
	blas64.Syrk(gblas.Trans, 1, f.general(n, f.scaled), 0, inner)
	blas64.Syrk(gblas.Trans, 1, f.general(r, f.root), 1, inner)
	if minor := blas.Bound().Potrf(gblas.Lower, r, f.inner, r); minor != 0 {
		return &PivotError{Minor: minor, N: r}
	}
	l := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: r, Stride: r, Data: f.inner}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, f.general(n, f.z))
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, f.general(r, f.root))
	return nil
}

func (f *Factored) general(rows int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: f.r, Stride: f.r, Data: data}
}

// diagonalsOfZ reads chi and b off Z. Where d chi is near 1, b follows from
//
//	b_i (1 - b_i) = sum_{j != i} d_i d_j G_ij^2 + d_i |L^-T z_i|^2,
//
// which is B^-1 = B^-1 B B^-1 on the diagonal.
func (f *Factored) diagonalsOfZ() {
	n, r := f.N(), f.r
	f.FormG()
	s := f.k.Scratch()
	overTriangle(n, blocks(n, tile), func(block int) {
		for i := block * tile; i < min(n, (block+1)*tile); i++ {
			z := f.z[i*r : (i+1)*r]
			f.chi[i] = blas64.Dot(vector(z), vector(z))
			f.b[i] = 1 - f.d[i]*f.chi[i]
			if f.d[i]*f.chi[i] < nearlyPinned {
				continue
			}
			sum := 0.0
			for j := range n {
				g := f.CholeskyEngine.root[j] * s.Data[max(i, j)*s.Stride+min(i, j)]
				sum += g * g
			}
			for a := range r {
				v := blas64.Dot(vector(f.root[a*r:(a+1)*r]), vector(z))
				sum += v * v
			}
			sum *= f.d[i]
			f.b[i] = 2 * sum / (1 + math.Sqrt(math.Max(0, 1-4*sum)))
		}
	})
}

// FormG makes all of G available.
func (f *Factored) FormG() {
	if !f.direct {
		f.CholeskyEngine.FormG()
		return
	}
	if f.expanded {
		return
	}
	s := f.k.Scratch()
	blas64.Syrk(gblas.NoTrans, 1, f.general(s.N, f.z), 0, s)
	for i := range s.N {
		s.Data[i*s.Stride+i] = 0
	}
	f.expanded = true
}

// RankUpdate refuses where G stands by R.
func (f *Factored) RankUpdate(sites []int, delta []float64) error {
	if f.direct {
		return ErrUpdate
	}
	return f.CholeskyEngine.RankUpdate(sites, delta)
}
