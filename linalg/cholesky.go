package linalg

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// CholeskyEngine factorises B = I + d^1/2 K d^1/2 = L L' (M03-63 in a form that allows a singular K;
// Rasmussen and Williams 2006, section 3.4.3). The scratch triangle of K's array holds B, then L, then L^-1,
// then G without its diagonal, which is chi. For small orders it only holds G (blas.Small).
type CholeskyEngine struct {
	k        *Sym
	kdiag    []float64 // K_ii
	sites    core.Sites
	defined  bool      // G is
	form     func()    // writes G below the diagonal of the triangle; nil: done
	claim    int64     // of the scratch triangle, see Sym.Claim
	update   []float64 // workspace of RankUpdate
	lanes    [core.Lanes][]float64
	small    *blas.Small // nil: none for this order
	singular nearlySingular
}

// tile is the edge of the blocks of a triangle: two tiles of float64 fit the first-level cache.
const tile = 32

// strip is the number of columns that one task sums over.
const strip = 128

// NewCholeskyEngine returns an engine on k. It takes over k's scratch triangle, which nothing else may use
// meanwhile.
func NewCholeskyEngine(k *Sym) *CholeskyEngine {
	n := k.N()
	e := &CholeskyEngine{k: k, sites: core.NewSites(n), kdiag: make([]float64, n)}
	for i := range e.lanes {
		e.lanes[i] = make([]float64, n)
	}
	if work := blas.SmallWork(n); work > 0 {
		e.small = blas.NewSmall(n, make([]float64, work))
	}
	return e
}

func (e *CholeskyEngine) Diag() (chi, b []float64) { return e.sites.Chi, e.sites.B }
func (e *CholeskyEngine) Precisions() []float64    { return e.sites.D }

// Valid reports whether the scratch triangle still holds G, or its factor.
func (e *CholeskyEngine) Valid() bool { return e.defined && e.claim == e.k.claims.Load() }

// Factorize computes B, its Cholesky factor, the factor's inverse, and from their row and column norms chi
// and b.
func (e *CholeskyEngine) Factorize(d []float64) error {
	if err := e.begin(d); err != nil {
		return err
	}
	e.singular.inUse = e.singular.needed(e.k, e.kdiag, d)
	var err error
	switch bound := blas.Bound(); {
	case e.singular.inUse:
		err = e.factorizeLowRank(d)
	case e.small.Usable():
		err = e.factorizeSmall(false)
	default:
		err = factorize(e, double(e.k), 0, bound.Potrf, bound.Trtri, bound.Lauum)
	}
	e.defined = err == nil
	return err
}

// begin checks and stores d.
func (e *CholeskyEngine) begin(d []float64) error {
	if err := core.Check(d, e.k.N()); err != nil {
		return err
	}
	e.defined, e.form, e.singular.inUse, e.claim = false, nil, false, e.k.Claim()
	e.k.Diag(e.kdiag)
	e.sites.MoveTo(d)
	return nil
}

// number is the element type of a triangle.
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

// eachRow calls f for the rows of a triangle of order n, in parallel over tiles of rows.
func eachRow(n int, f func(i int)) {
	core.OverTriangle(n, core.Blocks(n, tile), func(block int) {
		for i := block * tile; i < min(n, (block+1)*tile); i++ {
			f(i)
		}
	})
}

// factorize computes L^-1 in the triangle, chi and b. least is added to every element of B.
func factorize[T number](e *CholeskyEngine, t triangle[T], least float64,
	potrf, trtri func(gblas.Uplo, int, []T, int) int, lauum func(gblas.Uplo, int, []T, int)) error {
	formB(e, t, least)
	if minor := potrf(gblas.Lower, t.n, t.data, t.stride); minor != 0 {
		return &PivotError{Minor: minor, N: t.n}
	}
	conditionalVariances(e, t)
	if zero := trtri(gblas.Lower, t.n, t.data, t.stride); zero != 0 {
		return &PivotError{Minor: zero, N: t.n}
	}
	diagonals(e, t)
	e.form = func() { invert(e, t, lauum) }
	return nil
}

// formB writes the lower triangle of B = I + d^1/2 K d^1/2 by tiles, since K is read by rows and B written by
// columns: four at a time, except at the diagonal.
func formB[T number](e *CholeskyEngine, t triangle[T], least float64) {
	root, height := e.sites.Root, formHeight(t.n)
	core.OverTriangle(t.n, core.Blocks(t.n, height), func(block int) {
		first, last := block*height, min(t.n, (block+1)*height)
		j := 0
		for ; j+4 <= first; j += 4 {
			formFourColumns(e, t, least, first, last, j)
		}
		for ; j < last; j++ {
			row := e.k.Row(j)
			for i := max(first, j); i < last; i++ {
				t.data[i*t.stride+j] = T(root[i]*root[j]*row[i-j] + least)
			}
		}
		for i := first; i < last; i++ {
			t.data[i*t.stride+i]++
		}
	})
}

// formHeight is the number of rows of B of order n that are formed at a time, a multiple of 4: many, for long
// contiguous reads of K (n = 4000, two threads: 32 take 37 ms, 128 27, 256 25), but with enough tasks for all
// threads.
func formHeight(n int) int { return max(tile, min(256, n/64*4)) }

// formFourColumns writes rows first to last-1 of columns j to j+3 of B, all of them below the diagonal.
func formFourColumns[T number](e *CholeskyEngine, t triangle[T], least float64, first, last, j int) {
	var rows [4][]float64
	for c := range rows {
		rows[c] = e.k.Row(j + c)[first-j-c : last-j-c]
	}
	r0, r1, r2, r3 := rows[0], rows[1], rows[2], rows[3]
	d := e.sites.Root[j : j+4]
	for i, root := range e.sites.Root[first:last] {
		to := t.data[(first+i)*t.stride+j:][:4]
		to[0] = T(root*d[0]*r0[i] + least)
		to[1] = T(root*d[1]*r1[i] + least)
		to[2] = T(root*d[2]*r2[i] + least)
		to[3] = T(root*d[3]*r3[i] + least)
	}
}

// factorizeSmall is factorize in the memory of blas.Small.
func (e *CholeskyEngine) factorizeSmall(single bool) error {
	if minor := e.small.Invert(e.k.Raw(), e.sites.Root, single); minor != 0 {
		return &PivotError{Minor: minor, N: e.k.N()}
	}
	for i, pivot := range e.small.Pivots {
		e.sites.ConditionalVariance(i, e.kdiag[i], e.small.Above[i], pivot)
		e.sites.Diagonal(i, e.kdiag[i], e.small.Below[i], 1/pivot)
	}
	e.form = func() { e.small.OffDiagonal(e.sites.Inverse, e.k.Scratch()) }
	return nil
}

// conditionalVariances computes them into chi, while the triangle holds L.
func conditionalVariances[T number](e *CholeskyEngine, t triangle[T]) {
	eachRow(t.n, func(i int) {
		sum := 0.0
		row := t.row(i)
		for _, l := range row[:i] {
			sum += float64(l) * float64(l)
		}
		e.sites.ConditionalVariance(i, e.kdiag[i], sum, float64(row[i]))
	})
}

// diagonals reads chi and b off the columns of L^-1.
func diagonals[T number](e *CholeskyEngine, t triangle[T]) {
	core.OverTriangle(t.n, core.Blocks(t.n, strip), func(block int) {
		first, last := block*strip, min(t.n, (block+1)*strip)
		var strips [strip]float64
		below := strips[:last-first] // sum_{k>i} (L^-1)_ki^2
		for i := first + 1; i < t.n; i++ {
			width := min(i, last) - first
			row := t.data[i*t.stride+first : i*t.stride+first+width]
			for j, m := range row {
				below[j] += float64(m) * float64(m)
			}
		}
		for j := range below {
			i := first + j
			e.sites.Diagonal(i, e.kdiag[i], below[j], float64(t.data[i*t.stride+i]))
		}
	})
}

// FormG writes G without its diagonal into the triangle, from L^-1 or from the low-rank factor.
func (e *CholeskyEngine) FormG() {
	if e.defined && e.form != nil {
		e.form()
		e.form = nil
		e.clearDiagonal()
	}
}

func (e *CholeskyEngine) clearDiagonal() {
	s := e.k.Scratch()
	for i := range s.N {
		s.Data[i*s.Stride+i] = 0
	}
}

// invert computes B^-1 = L^-T L^-1, then
//
//	G_ij = -(B^-1)_ij/(d_i d_j)^1/2 for i != j.
func invert[T number](e *CholeskyEngine, t triangle[T], lauum func(gblas.Uplo, int, []T, int)) {
	inverse := e.sites.Inverse
	lauum(gblas.Lower, t.n, t.data, t.stride)
	eachRow(t.n, func(i int) {
		row := t.row(i)
		for j := range row[:i] {
			row[j] = T(-inverse[i] * inverse[j] * float64(row[j]))
		}
	})
}

// mustHoldG panics if FormG was not called, a bug of the caller.
func (e *CholeskyEngine) mustHoldG() {
	if !e.defined || e.form != nil {
		panic("linalg: a product with G before FormG")
	}
}

// MulOffDiag is dst = x (G - diag(G)), by the triangle without its diagonal.
func (e *CholeskyEngine) MulOffDiag(dst, x blas64.General) {
	e.mustHoldG()
	switch {
	case x.Rows == 0 || x.Cols == 0:
	case x.Rows == 1:
		blas64.Symv(1, e.k.Scratch(), core.Vector(core.Row(x, 0)), 0, core.Vector(core.Row(dst, 0)))
	default:
		blas64.Symm(gblas.Right, 1, e.k.Scratch(), x, 0, dst)
	}
}

// Rows copies rows of G, some at a time: elements right of the diagonal are read from columns.
func (e *CholeskyEngine) Rows(dst blas64.General, first int) {
	e.mustHoldG()
	t := double(e.k)
	core.OverTriangle(dst.Rows, core.Blocks(dst.Rows, tile), func(block int) {
		from, last := first+block*tile, first+min(dst.Rows, (block+1)*tile)
		part := core.Rows(dst, from-first, last-first)
		for i := from; i < last; i++ {
			to := core.Row(part, i-from)
			copy(to, t.row(i)[:i])
			to[i] = e.sites.Chi[i]
		}
		for j := from + 1; j < t.n; j++ {
			column := part.Data[j:]
			for r, v := range t.data[j*t.stride+from : j*t.stride+min(j, last)] {
				column[r*part.Stride] = v
			}
		}
	})
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G. G o G is never stored: every element of
// the triangle is squared once for its row and its column.
func (e *CholeskyEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.mustHoldG()
	if e.small.Usable() {
		e.small.MulSquared(e.k.Scratch(), x, dst)
		return
	}
	t := double(e.k)
	count := core.Blocks(t.n, tile)
	core.OverTriangle(t.n, core.Lanes, func(lane int) {
		sum := e.lanes[lane]
		clear(sum)
		for block := lane; block < count; block += core.Lanes {
			i, last := block*tile, min(t.n, (block+1)*tile)
			for ; i+1 < last; i += 2 {
				squareRows(t.row(i)[:i], t.row(i + 1)[:i+1], x, sum)
			}
			if i < last {
				sum[i] += core.SquareRow(t.row(i)[:i], x[:i], sum[:i], x[i])
			}
		}
	})
	for i := range dst {
		dst[i] = 0
		for _, sum := range e.lanes {
			dst[i] += sum[i]
		}
	}
}

// squareRows is core.SquareRow for rows i = len(first) and i+1 in one pass; it adds the sums to y.
func squareRows(first, second, x, y []float64) {
	i := len(first)
	xi, xk := x[i], x[i+1]
	corner := second[i] * second[i]
	second = second[:len(first)]
	head, sums := x[:len(first)], y[:len(first)]
	var one, two float64
	for j, v := range first {
		g, h := v*v, second[j]*second[j]
		one += g * head[j]
		two += h * head[j]
		sums[j] += g*xi + h*xk
	}
	y[i] += one + corner*xk
	y[i+1] += two + corner*xi
}
