package dist

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/internal/core"
)

// strip is the number of rows that one task sums over.
const strip = 128

// Engine is the engine of linalg.CholeskyEngine on a matrix that is spread over ranks. The lower triangle
// holds B, then L, then L^-1, then G without its diagonal. Vectors come from rank 0, and sums over the parts
// go there. Exported methods are rank 0's, and have the servants do their part; the others are for all ranks.
type Engine struct {
	k        *BlockCyclic
	sites    core.Sites
	expanded bool      // the triangle holds G with a zero diagonal; otherwise L^-1
	sums     []float64 // workspace, two vectors
	lanes    [core.Lanes][]float64
}

// newEngine returns an engine on k, whose triangle it takes over.
func newEngine(k *BlockCyclic) *Engine {
	e := &Engine{k: k, sites: core.NewSites(k.n), sums: make([]float64, 2*k.n)}
	for i := range e.lanes {
		e.lanes[i] = make([]float64, len(k.rows))
	}
	return e
}

// Diag is diag(G) and 1 - d diag(G).
func (e *Engine) Diag() (chi, b []float64) { return e.sites.Chi, e.sites.B }

// Precisions is the d of G.
func (e *Engine) Precisions() []float64 { return e.sites.D }

// Valid reports whether the engine is the newest one on the newest matrix, whose part the servants hold.
func (e *Engine) Valid() bool { return e.k.engine == e && e.k.servants.current == e.k }

// Factorize computes G at d.
func (e *Engine) Factorize(d []float64) (err error) {
	if err := core.Check(d, e.k.n); err != nil {
		return err
	}
	e.k.together(order{Op: opFactorize, Numbers: d}, func() { err = e.factorize(d) })
	return err
}

func (e *Engine) factorize(d []float64) error {
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

// conditionalVariances is that of linalg.CholeskyEngine; chi and b are right on rank 0 only. It returns
// the number of a pivot that is not finite, or 0.
func (e *Engine) conditionalVariances() (minor int) {
	k := e.k
	sums, pivots := e.sums[:k.n], e.sums[k.n:]
	clear(e.sums)
	core.Parallel(core.Blocks(len(k.rows), strip), func(task int) {
		first, last := task*strip, min(len(k.rows), (task+1)*strip)
		var squares [strip]float64
		for c := range k.cols {
			if k.below[c] >= last {
				break
			}
			from := max(first, k.below[c])
			for p, l := range k.column(c)[from:last] {
				squares[from-first+p] += l * l
			}
		}
		for p := first; p < last; p++ {
			sums[k.rows[p]] = squares[p-first]
		}
	})
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

// eachDiagonal calls f for the diagonal elements in the part.
func (e *Engine) eachDiagonal(f func(j int, v float64)) {
	for c, j := range e.k.cols {
		if at, own := e.k.diagonal(c); own {
			f(j, e.k.column(c)[at])
		}
	}
}

// diagonals reads chi and b off the columns of L^-1, see linalg.CholeskyEngine.
func (e *Engine) diagonals() {
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
func (e *Engine) FormG() {
	if e.expanded {
		return
	}
	e.k.together(order{Op: opForm}, e.formG)
}

func (e *Engine) formG() {
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

func (e *Engine) mustBeExpanded() {
	if !e.expanded {
		panic("linalg/dist: a product with G before FormG")
	}
}

// stripColumns is the number of a part's columns whose products with two vectors find them in the cache.
const stripColumns = 32

// eachStrip calls f for strips of columns of the part, from where they begin to
// reach below the diagonal: rows of the strip are columns of the part.
func (k *BlockCyclic) eachStrip(f func(c0, r0 int, strip blas64.General)) {
	for c0 := 0; c0 < len(k.cols); c0 += stripColumns {
		c1 := min(c0+stripColumns, len(k.cols))
		r0 := k.below[c0]
		if r0 == len(k.rows) {
			return
		}
		f(c0, r0, blas64.General{Rows: c1 - c0, Cols: len(k.rows) - r0, Stride: k.stride,
			Data: k.part[c0*k.stride+r0:]})
	}
}

// gatherSites are the elements of count vectors that belong to the listed sites.
func gatherSites(x []float64, n, count int, sites []int) []float64 {
	some := make([]float64, count*len(sites))
	for r := range count {
		for p, i := range sites {
			some[r*len(sites)+p] = x[r*n+i]
		}
	}
	return some
}

// scatterSites adds them to where gatherSites took them from.
func scatterSites(x []float64, n, count int, sites []int, some []float64) {
	for r := range count {
		for p, i := range sites {
			x[r*n+i] += some[r*len(sites)+p]
		}
	}
}

// multiply writes the part's share of (G - diag(G)) x for count vectors.
func (e *Engine) multiply(dst, x []float64, count int) {
	k := e.k
	clear(dst)
	if count == 0 {
		return
	}
	xr, xc := gatherSites(x, k.n, count, k.rows), gatherSites(x, k.n, count, k.cols)
	yr, yc := make([]float64, len(xr)), make([]float64, len(xc))
	general := func(data []float64, width int) blas64.General {
		return blas64.General{Rows: count, Cols: width, Stride: max(1, width), Data: data}
	}
	rowsX, rowsY := general(xr, len(k.rows)), general(yr, len(k.rows))
	colsX, colsY := general(xc, len(k.cols)), general(yc, len(k.cols))
	k.eachStrip(func(c0, r0 int, a blas64.General) {
		if count == 1 {
			blas64.Gemv(gblas.Trans, 1, a, core.Vector(xc[c0:c0+a.Rows]), 1, core.Vector(yr[r0:]))
			blas64.Gemv(gblas.NoTrans, 1, a, core.Vector(xr[r0:]), 1, core.Vector(yc[c0:c0+a.Rows]))
			return
		}
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, core.Cols(colsX, c0, c0+a.Rows), a, 1,
			core.Cols(rowsY, r0, rowsY.Cols))
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Cols(rowsX, r0, rowsX.Cols), a, 1,
			core.Cols(colsY, c0, c0+a.Rows))
	})
	scatterSites(dst, k.n, count, k.rows, yr)
	scatterSites(dst, k.n, count, k.cols, yc)
}

// MulOffDiag is dst = x (G - diag(G)).
func (e *Engine) MulOffDiag(dst, x blas64.General) {
	e.mustBeExpanded()
	n := e.k.n
	flat, product := make([]float64, x.Rows*n), make([]float64, x.Rows*n)
	for r := range x.Rows {
		copy(flat[r*n:(r+1)*n], x.Data[r*x.Stride:])
	}
	e.k.together(order{Op: opProduct, Ints: []int{x.Rows}, Numbers: flat},
		func() { e.product(product, flat, x.Rows) })
	for r := range x.Rows {
		copy(dst.Data[r*dst.Stride:], product[r*n:(r+1)*n])
	}
}

// product leaves (G - diag(G)) x for count vectors in rank 0's dst.
func (e *Engine) product(dst, x []float64, count int) {
	e.multiply(dst, x, count)
	e.k.grid.Reduce(dst)
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *Engine) MulVecSquaredOffDiag(dst, x []float64) {
	e.mustBeExpanded()
	e.k.together(order{Op: opSquares, Numbers: x}, func() { e.squares(dst, x) })
}

func (e *Engine) squares(dst, x []float64) {
	k := e.k
	xr, yc := gatherSites(x, k.n, 1, k.rows), make([]float64, len(k.cols))
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
		scatterSites(dst, k.n, 1, k.rows, sum)
	}
	scatterSites(dst, k.n, 1, k.cols, yc)
	k.grid.Reduce(dst)
}

// Rows writes rows of G into dst.
func (e *Engine) Rows(dst blas64.General, first int) {
	e.mustBeExpanded()
	for r := range dst.Rows {
		row, i := dst.Data[r*dst.Stride:r*dst.Stride+dst.Cols], first+r
		e.k.together(order{Op: opColumn, Ints: []int{i}}, func() { e.column(row, i) })
		row[i] = e.sites.Chi[i]
	}
}

// column leaves column i of G without its diagonal in rank 0's dst.
func (e *Engine) column(dst []float64, i int) {
	clear(dst)
	e.k.symmetricColumn(dst, i)
	e.k.grid.Reduce(dst)
}

// symmetricColumn writes the part's share of column (and row) site of the symmetric matrix
// without its diagonal into dst.
func (k *BlockCyclic) symmetricColumn(dst []float64, site int) {
	if c, own := slices.BinarySearch(k.cols, site); own {
		column := k.column(c)
		for p := k.below[c]; p < len(column); p++ {
			dst[k.rows[p]] = column[p]
		}
	}
	if p, own := slices.BinarySearch(k.rows, site); own {
		for c, j := range k.cols {
			if j >= site {
				break
			}
			dst[j] = k.part[c*k.stride+p]
		}
	}
}
