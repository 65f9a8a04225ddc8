package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// The products that cost N r^2 flops, over the sites: products of blocks of R' by BLAS.

// gram adds R' diag(root o |root|) R to the lower triangle of dst. What lies right of its diagonal is changed
// in no useful way.
func (l lanes) gram(dst blas64.General, m []blas64.General, root []float64) {
	l.sum(dst, func(into lanes) {
		into.eachBlock(len(root), func(l lane, first, last int) { l.addGram(m, root, first, last) })
	})
}

// addGram is that of a block: a symmetric product of the sites of root >= 0 less one of the others.
func (l lane) addGram(m []blas64.General, root []float64, first, last int) {
	sites, positive := bySign(l.list, root, first, last)
	mixed := positive > 0 && positive < len(sites)
	eachPanelRow(m, first, last, func(q int, row []float64) {
		if mixed {
			pickTo(grid(l.twin).row(q), row, sites, first, root)
		} else {
			floats.MulTo(grid(l.twin).row(q), row, root[first:last])
		}
	})
	addGram(l.sum, 1, core.Cols(l.twin, 0, positive))
	addGram(l.sum, -1, core.Cols(l.twin, positive, last-first))
}

// forms writes x_i'A x_i to dst_i, for rows x_i of the matrix whose transpose is m and a symmetric A that it
// overwrites: twice that of its lower triangle with half of its diagonal.
func (l lanes) forms(dst []float64, m []blas64.General, a blas64.General) {
	for q := range a.Rows {
		row := grid(a).row(q)
		row[q] /= 2
		clear(row[q+1:])
	}
	clear(dst)
	l.eachBlock(len(dst), func(l lane, first, last int) {
		copyBlock(l.work, m, first, last)
		copyBlock(l.twin, []blas64.General{l.work}, 0, last-first)
		mulLower(a, l.twin)
		addProducts(dst[first:last], grid(l.work), grid(l.twin))
	})
	floats.Scale(2, dst)
}

// norms writes |L x_i|^2 to dst_i, for rows x_i of the matrix whose transpose is m and a lower triangle L,
// and L R' to kept unless that is empty.
func (l lanes) norms(dst []float64, m []blas64.General, lower, kept blas64.General) {
	clear(dst)
	l.eachBlock(len(dst), func(l lane, first, last int) {
		solved := l.work
		if len(kept.Data) > 0 {
			solved = core.Cols(kept, first, last)
		}
		copyBlock(solved, m, first, last)
		mulLower(lower, solved)
		addSquares(dst[first:last], solved)
	})
}

// copyBlock copies R' at sites first to last-1 into dst.
func copyBlock(dst blas64.General, m []blas64.General, first, last int) {
	eachPanelRow(m, first, last, func(q int, row []float64) { copy(grid(dst).row(q), row) })
}

// eachPanelRow calls f for the rows of panels, at sites first to last-1.
func eachPanelRow(panels []blas64.General, first, last int, f func(q int, row []float64)) {
	q := 0
	for _, p := range panels {
		part := grid(core.Cols(p, first, last))
		for r := range part.Rows {
			f(q, part.row(r))
			q++
		}
	}
}

// basis is L^-1 R' where it is kept, else R', in panels of its rows.
func (e *lowRankEngine) basis() []blas64.General {
	if e.kept() {
		return []blas64.General{e.solved}
	}
	return e.k.panels
}

// quadraticForm leaves L^-1 (R' diag(x/e^2) R) L^-T in form, all of it, by products with the basis.
func (e *lowRankEngine) quadraticForm(x []float64) {
	for i, v := range x {
		e.ws.scale[i] = math.Copysign(math.Sqrt(math.Abs(v)), v) * e.inverse[i]
	}
	clear(e.ws.form.Data)
	e.ws.lanes.gram(e.ws.form, e.basis(), e.ws.scale)
	mirrorLower(e.ws.form)
	if !e.kept() {
		e.bothSides(func(a blas64.General) { solveLower(e.lower, a) })
	}
}

// quadraticForms writes v_i'S v_i, v_i the columns of L^-1 R', to dst_i, for the S in form, which is lost.
func (e *lowRankEngine) quadraticForms(dst []float64) {
	if !e.kept() {
		e.bothSides(e.toPivots)
	}
	e.ws.lanes.forms(dst, e.basis(), e.ws.form)
}
