package scalapack

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/internal/core"
)

// engine is linalg.CholeskyEngine on a matrix distributed over ranks. The lower triangle holds B, then L,
// then L^-1, then G without its diagonal. Vectors come from rank 0, and sums over the parts go there.
// Exported methods are for rank 0 and order the servants to do their part; the others run on all ranks.
type engine struct {
	k        *BlockCyclic
	sites    core.Sites
	expanded bool      // the triangle holds G with a zero diagonal; otherwise L^-1
	sums     []float64 // workspace, two vectors
	lanes    [core.Lanes][]float64
}

// newEngine returns an engine on k, whose triangle it takes over.
func newEngine(k *BlockCyclic) *engine {
	e := &engine{k: k, sites: core.NewSites(k.n), sums: make([]float64, 2*k.n)}
	for i := range e.lanes {
		e.lanes[i] = make([]float64, len(k.rows))
	}
	return e
}

func (e *engine) Diag() (chi, b []float64) { return e.sites.Chi, e.sites.B }
func (e *engine) Precisions() []float64    { return e.sites.D }

// Valid reports whether the engine is the newest one on the newest matrix, whose part the servants hold.
func (e *engine) Valid() bool { return e.k.engine == e && e.k.servants.current == e.k }

// Factorize computes G at d, and makes e the newest engine.
func (e *engine) Factorize(d []float64) error {
	if err := core.Check(d, e.k.n); err != nil {
		return err
	}
	e.k.engine = e
	return e.k.together(order{Op: opFactorize, Numbers: d}, nil)
}

func (e *engine) factorize(d []float64) error {
	k, g := e.k, e.k.grid
	e.expanded = false
	e.sites.MoveTo(d)
	if k.n == 0 {
		return nil
	}
	if err := k.fill(e.sites.Root); err != nil {
		return err
	}
	if minor := g.Potrf(k.n, k.block, k.part, k.stride); minor != 0 {
		return &linalg.PivotError{Minor: minor, N: k.n}
	}
	if minor := e.conditionalVariances(); minor != 0 {
		return &linalg.PivotError{Minor: minor, N: k.n}
	}
	if zero := g.Trtri(k.n, k.block, k.part, k.stride); zero != 0 {
		return &linalg.PivotError{Minor: zero, N: k.n}
	}
	e.diagonals()
	return nil
}

// conditionalVariances does what linalg.CholeskyEngine's does; chi and b are valid on rank 0 only. It returns
// the number of a pivot that is not finite, or 0.
func (e *engine) conditionalVariances() (minor int) {
	k := e.k
	sums, pivots := e.sums[:k.n], e.sums[k.n:]
	clear(e.sums)
	for c, below := range k.below {
		for p, l := range k.column(c)[below:] {
			sums[k.rows[below+p]] += l * l
		}
	}
	e.eachDiagonal(func(j int, pivot float64) { pivots[j] = pivot })
	k.grid.Reduce(e.sums)
	bad := 0
	if k.grid.Rank() == 0 {
		for i := k.n - 1; i >= 0; i-- {
			pivot := pivots[i]
			if !(pivot > 0) || math.IsInf(pivot, 1) {
				bad = i + 1
			}
			e.sites.ConditionalVariance(i, k.diag[i], sums[i], pivot)
		}
	}
	return int(k.grid.Most(int64(bad)))
}

func (e *engine) eachDiagonal(f func(j int, v float64)) {
	for c, j := range e.k.cols {
		if at, own := e.k.diagonal(c); own {
			f(j, e.k.column(c)[at])
		}
	}
}

// diagonals reads chi and b off the columns of L^-1, see linalg.CholeskyEngine.
func (e *engine) diagonals() {
	k := e.k
	below, own := e.sums[:k.n], e.sums[k.n:]
	clear(e.sums)
	core.Parallel(len(k.cols), func(c int) {
		sum := 0.0
		for _, m := range k.column(c)[k.below[c]:] {
			sum += m * m
		}
		below[k.cols[c]] = sum
	})
	e.eachDiagonal(func(j int, m float64) { own[j] = m })
	k.grid.Reduce(e.sums)
	if k.grid.Rank() == 0 {
		for i, sum := range below {
			e.sites.Diagonal(i, k.diag[i], sum, own[i])
		}
	}
}

// FormG turns L^-1 into G without its diagonal.
func (e *engine) FormG() {
	if !e.expanded {
		e.k.together(order{Op: opForm}, nil)
	}
}

func (e *engine) formG() {
	e.expanded = true
	k := e.k
	if k.n == 0 {
		return
	}
	k.grid.Lauum(k.n, k.block, k.part, k.stride)
	core.Parallel(len(k.cols), func(c int) {
		column, scale := k.column(c), -e.sites.Inverse[k.cols[c]]
		if at, own := k.diagonal(c); own {
			column[at] = 0
		}
		for p := k.below[c]; p < len(column); p++ {
			column[p] *= scale * e.sites.Inverse[k.rows[p]]
		}
	})
}

func (e *engine) mustBeExpanded() {
	if !e.expanded {
		panic("linalg/scalapack: a product with G before FormG")
	}
}

// stripColumns is the number of a part's columns that stay in the cache for two products.
const stripColumns = 32

// gather copies the listed sites' elements of the rows of x.
func gather(x blas64.General, sites []int) blas64.General {
	some := blas64.General(linalg.NewMatrix(x.Rows, len(sites)))
	for r := range x.Rows {
		row, to := core.Row(x, r), core.Row(some, r)
		for p, i := range sites {
			to[p] = row[i]
		}
	}
	return some
}

// scatter adds some to the listed sites' elements of the rows of x.
func scatter(x, some blas64.General, sites []int) {
	for r := range x.Rows {
		row, from := core.Row(x, r), core.Row(some, r)
		for p, i := range sites {
			row[i] += from[p]
		}
	}
}

// rowsOf are vectors over the sites, one after the other.
func (k *BlockCyclic) rowsOf(x []float64) blas64.General {
	return blas64.General{Rows: len(x) / max(1, k.n), Cols: k.n, Stride: k.n, Data: x}
}

// product computes x (G - diag(G)) for the rows of x into rank 0's dst. Strips of columns of the part, below
// the diagonal, serve their columns and their rows.
func (e *engine) product(dst, x []float64) {
	k := e.k
	clear(dst)
	xr, xc := gather(k.rowsOf(x), k.rows), gather(k.rowsOf(x), k.cols)
	yr, yc := gather(k.rowsOf(dst), k.rows), gather(k.rowsOf(dst), k.cols)
	for c0 := 0; c0 < len(k.cols) && k.below[c0] < len(k.rows); c0 += stripColumns {
		c1, r0 := min(c0+stripColumns, len(k.cols)), k.below[c0]
		a := blas64.General{Rows: c1 - c0, Cols: len(k.rows) - r0, Stride: k.stride,
			Data: k.part[c0*k.stride+r0:]}
		core.AddProduct(core.Cols(yr, r0, yr.Cols), 1, core.Cols(xc, c0, c1), gblas.NoTrans, a)
		core.AddProduct(core.Cols(yc, c0, c1), 1, core.Cols(xr, r0, xr.Cols), gblas.Trans, a)
	}
	scatter(k.rowsOf(dst), yr, k.rows)
	scatter(k.rowsOf(dst), yc, k.cols)
	k.grid.Reduce(dst)
}

// MulOffDiag is dst = x (G - diag(G)).
func (e *engine) MulOffDiag(dst, x blas64.General) {
	e.mustBeExpanded()
	if x.Rows == 0 {
		return
	}
	numbers, product := make([]float64, x.Rows*e.k.n), make([]float64, x.Rows*e.k.n)
	for r := range x.Rows {
		copy(core.Row(e.k.rowsOf(numbers), r), core.Row(x, r))
	}
	e.k.together(order{Op: opProduct, Numbers: numbers}, product)
	for r := range x.Rows {
		copy(core.Row(dst, r), core.Row(e.k.rowsOf(product), r))
	}
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *engine) MulVecSquaredOffDiag(dst, x []float64) {
	e.mustBeExpanded()
	e.k.together(order{Op: opSquares, Numbers: x}, dst)
}

func (e *engine) squares(dst, x []float64) {
	k := e.k
	xr, yc := gather(k.rowsOf(x), k.rows).Data, make([]float64, len(k.cols))
	core.OverTriangle(len(k.rows), core.Lanes, func(lane int) {
		sum := e.lanes[lane]
		clear(sum)
		for c := lane; c < len(k.cols); c += core.Lanes {
			from := k.below[c]
			yc[c] = core.SquareRow(k.column(c)[from:], xr[from:], sum[from:], x[k.cols[c]])
		}
	})
	clear(dst)
	for _, sum := range e.lanes {
		for p, i := range k.rows {
			dst[i] += sum[p]
		}
	}
	for p, i := range k.cols {
		dst[i] += yc[p]
	}
	k.grid.Reduce(dst)
}

// Rows computes rows of G as products with rows of I.
func (e *engine) Rows(dst blas64.General, first int) {
	unit := blas64.General(linalg.NewMatrix(dst.Rows, dst.Cols))
	for r := range dst.Rows {
		core.Row(unit, r)[first+r] = 1
	}
	e.MulOffDiag(dst, unit)
	for r := range dst.Rows {
		core.Row(dst, r)[first+r] = e.sites.Chi[first+r]
	}
}
