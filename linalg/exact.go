package linalg

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// CholeskyEngine is the engine that factorises B = I + d^1/2 K d^1/2 = L L' (M03-63 in
// a form that survives a singular K). Everything happens in the scratch
// triangle of K's own array: B, then L, then L^-1, then G without its diagonal,
// which is chi.
type CholeskyEngine struct {
	k        *Sym
	kdiag    []float64 // K_ii
	d        []float64 // site parameters at which G stands
	root     []float64 // d^1/2, kept away from zero
	inverse  []float64 // 1/root
	chi, b   []float64 // diag(G), 1 - d chi
	expanded bool      // scratch holds G with a zero diagonal; otherwise L^-1
	single   bool      // and holds it in float32
	followed bool      // G comes from Follow: products with it are refined
	hold     []float64 // sum_{j != i} G_ij^2 d_j, see Estimate
	held     bool      // hold is that of G
	update   lowRank   // workspace of Update
	lanes    [lanes][]float64
	scaled   []float64 // workspace of diagonals
	copied   []float32 // workspace of Follow
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

// NewCholeskyEngine returns an engine on k. It takes over k's scratch triangle: nobody
// else may use that while the engine is in use.
func NewCholeskyEngine(k *Sym) *CholeskyEngine {
	n := k.N()
	e := &CholeskyEngine{k: k}
	for _, v := range []*[]float64{&e.kdiag, &e.d, &e.root, &e.inverse, &e.chi, &e.b, &e.hold, &e.scaled} {
		*v = make([]float64, n)
	}
	for i := range e.lanes {
		e.lanes[i] = make([]float64, n)
	}
	return e
}

// EngineBytes is the memory that NewExact takes beside K.
func EngineBytes(n int) int64 { return 8 * int64(8+lanes) * int64(n) }

// MovingBytes is the memory that Follow, where the backend has single precision, and
// updates of up to N/16 sites take on top.
func MovingBytes(n int) int64 {
	sites := int64(n)
	bytes := sites * sites / 2
	if _, ok := blas.Bound().(blas.Single); ok && n <= followOrder {
		bytes += 2*sites*sites + 2*4*sites*int64(min(n, followWidth))
	}
	return bytes
}

// N is the order of K.
func (e *CholeskyEngine) N() int { return e.k.N() }

// Diag is diag(G) and 1 - d diag(G).
func (e *CholeskyEngine) Diag() (chi, b []float64) { return e.chi, e.b }

// Precisions is the d at which G stands.
func (e *CholeskyEngine) Precisions() []float64 { return e.d }

// Bytes is the memory that the engine holds, K included. Of the copy for Follow
// only the lower triangle is ever touched.
func (e *CholeskyEngine) Bytes() int64 {
	vectors := 8 * int64(8+lanes) * int64(e.N())
	return SymBytes(e.N()) + vectors + 8*int64(cap(e.update.u)+cap(e.update.s)) + 2*int64(cap(e.copied))
}

// Factorize moves G to d: B, its Cholesky factor, the factor's inverse, and from
// their row and column norms chi and b.
func (e *CholeskyEngine) Factorize(d []float64) error {
	if err := e.begin(d); err != nil {
		return err
	}
	bound := blas.Bound()
	return refresh(e, double(e.k), 0, bound.Potrf, bound.Trtri)
}

// begin takes over d.
func (e *CholeskyEngine) begin(d []float64) error {
	if err := checkSites(d, e.N()); err != nil {
		return err
	}
	e.expanded, e.single, e.held, e.followed = false, false, false, false
	e.k.Diag(e.kdiag)
	copy(e.d, d)
	for i, v := range d {
		e.root[i] = math.Max(math.Sqrt(v), smallestRoot)
		e.inverse[i] = 1 / e.root[i]
	}
	return nil
}

// number is the type that a triangle is kept in.
type number interface{ float32 | float64 }

// triangle is the scratch triangle as numbers of one type, lower, row-major.
type triangle[T number] struct {
	n, stride int
	data      []T
}

func double(k *Sym) triangle[float64] {
	s := k.Scratch()
	return triangle[float64]{s.N, s.Stride, s.Data}
}

// row is row i up to its diagonal.
func (t triangle[T]) row(i int) []T { return t.data[i*t.stride : i*t.stride+i+1] }

// refresh leaves L^-1 in the triangle, and chi and b in the engine. least is
// added to every element of B.
func refresh[T number](e *CholeskyEngine, t triangle[T], least float64, potrf, trtri func(gblas.Uplo, int, []T, int) int) error {
	formB(e, t, least)
	if minor := potrf(gblas.Lower, t.n, t.data, t.stride); minor != 0 {
		return &PivotError{Minor: minor, N: t.n}
	}
	conditionalVariances(e, t)
	if zero := trtri(gblas.Lower, t.n, t.data, t.stride); zero != 0 {
		return &PivotError{Minor: zero, N: t.n}
	}
	diagonals(e, t)
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

// formB writes the lower triangle of B = I + d^1/2 K d^1/2, tile by tile,
// because K is read by rows and B written by columns: four at a time, but for
// those that meet the diagonal.
func formB[T number](e *CholeskyEngine, t triangle[T], least float64) {
	overTriangle(t.n, blocks(t.n, tile), func(block int) {
		first, last := block*tile, min(t.n, (block+1)*tile)
		j := 0
		for ; j+4 <= first; j += 4 {
			fourColumns(e, t, least, first, last, j)
		}
		for ; j < last; j++ {
			row := e.k.Row(j)
			for i := max(first, j); i < last; i++ {
				t.data[i*t.stride+j] = T(e.root[i]*e.root[j]*row[i-j] + least)
			}
		}
		for i := first; i < last; i++ {
			t.data[i*t.stride+i]++
		}
	})
}

// fourColumns writes rows first to last-1 of columns j to j+3 of B, all of them
// below the diagonal.
func fourColumns[T number](e *CholeskyEngine, t triangle[T], least float64, first, last, j int) {
	var rows [4][]float64
	for c := range rows {
		rows[c] = e.k.Row(j + c)[first-j-c : last-j-c]
	}
	r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
	d := e.root[j : j+4]
	for i, root := range e.root[first:last] {
		to := t.data[(first+i)*t.stride+j:][:4]
		to[0] = T(root*d[0]*r0[i] + least)
		to[1] = T(root*d[1]*r1[i] + least)
		to[2] = T(root*d[2]*r2[i] + least)
		to[3] = T(root*d[3]*r3[i] + least)
	}
}

// conditionalVariances leaves in chi, while the triangle holds L, the variance
// v_i = K_ii - sum_{k<i} L_ik^2/d_i of site i given those before it, divided by
// L_ii^2.
func conditionalVariances[T number](e *CholeskyEngine, t triangle[T]) {
	overTriangle(t.n, blocks(t.n, tile), func(block int) {
		for i := block * tile; i < min(t.n, (block+1)*tile); i++ {
			sum := 0.0
			row := t.row(i)
			for _, l := range row[:i] {
				sum += float64(l) * float64(l)
			}
			pivot := float64(row[i])
			e.chi[i] = (e.kdiag[i] - sum/(e.root[i]*e.root[i])) / (pivot * pivot)
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
func diagonals[T number](e *CholeskyEngine, t triangle[T]) {
	overTriangle(t.n, blocks(t.n, strip), func(block int) {
		first, last := block*strip, min(t.n, (block+1)*strip)
		below := e.scaled[first:last] // sum_{k>i} (L^-1)_ki^2
		clear(below)
		for i := first + 1; i < t.n; i++ {
			width := min(i, last) - first
			row := t.data[i*t.stride+first : i*t.stride+first+width]
			for j, m := range row {
				below[j] += float64(m) * float64(m)
			}
		}
		for j := range below {
			i := first + j
			m := float64(t.data[i*t.stride+i])
			e.b[i] = m*m + below[j]
			if e.d[i]*e.kdiag[i] >= 1 {
				e.chi[i] = (1 - e.b[i]) / e.d[i]
			} else {
				e.chi[i] -= below[j] / (e.root[i] * e.root[i])
			}
		}
	})
}

// FormG turns L^-1 into G without its diagonal.
func (e *CholeskyEngine) FormG() {
	if e.expanded {
		return
	}
	expand(e, double(e.k), blas.Bound().Lauum)
}

// expand is B^-1 = L^-T L^-1, then
//
//	G_ij = -(B^-1)_ij/(d_i d_j)^1/2 for i != j.
func expand[T number](e *CholeskyEngine, t triangle[T], lauum func(gblas.Uplo, int, []T, int)) {
	lauum(gblas.Lower, t.n, t.data, t.stride)
	overTriangle(t.n, blocks(t.n, tile), func(block int) {
		for i := block * tile; i < min(t.n, (block+1)*tile); i++ {
			row := t.row(i)
			for j := range row[:i] {
				row[j] = T(-e.inverse[i] * e.inverse[j] * float64(row[j]))
			}
			row[i] = 0
		}
	})
	e.expanded = true
}

// mustBeExpanded panics when a product with G is asked for before Expand: a
// fault of the caller's code, never of the data.
func (e *CholeskyEngine) mustBeExpanded() {
	if !e.expanded || e.single {
		panic("linalg: G is not expanded")
	}
}

// MulVecOffDiag is dst = (G - diag(G)) x.
func (e *CholeskyEngine) MulVecOffDiag(dst, x []float64) {
	e.mustBeExpanded()
	if e.N() == 0 {
		return
	}
	blas64.Symv(1, e.k.Scratch(), vector(x), 0, vector(dst))
	if e.followed {
		e.refine(dst, x)
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Row copies row i of G into dst.
func (e *CholeskyEngine) Row(dst []float64, i int) {
	e.mustBeExpanded()
	s := e.k.Scratch()
	copy(dst[:i], s.Data[i*s.Stride:i*s.Stride+i])
	dst[i] = e.chi[i]
	for j := i + 1; j < s.N; j++ {
		dst[j] = s.Data[j*s.Stride+i]
	}
}

// SolveRows overwrites kernel rows k with
//
//	k'(I + diag(d)K)^-1 = k - G(d o k) = b o k - (G - diag(G))(d o k).
func (e *CholeskyEngine) SolveRows(rows []float64) {
	e.mustBeExpanded()
	n := e.N()
	if n == 0 || len(rows) == 0 {
		return
	}
	if !e.followed {
		e.respond(rows)
		return
	}
	kernel := append([]float64(nil), rows...)
	e.respond(rows)
	for range refinements {
		rest := append([]float64(nil), kernel...) // k - t - K(d o t)
		weighted := make([]float64, len(rows))
		for i, t := range rows {
			rest[i] -= t
			weighted[i] = e.d[i%n] * t
		}
		symm(-1, e.k.Raw(), weighted, rest)
		e.respond(rest)
		for i, t := range rest {
			rows[i] += t
		}
	}
}

// respond is Respond as far as G is right.
func (e *CholeskyEngine) respond(rows []float64) {
	n := e.N()
	weighted := make([]float64, len(rows))
	for i, k := range rows {
		weighted[i] = e.d[i%n] * k
		rows[i] = e.b[i%n] * k
	}
	symm(-1, e.k.Scratch(), weighted, rows)
}

// symm adds alpha x A to y for rows x and y.
func symm(alpha float64, a blas64.Symmetric, x, y []float64) {
	general := func(data []float64) blas64.General {
		return blas64.General{Rows: len(data) / a.N, Cols: a.N, Stride: a.N, Data: data}
	}
	blas64.Symm(gblas.Right, alpha, a, general(x), 1, general(y))
}
