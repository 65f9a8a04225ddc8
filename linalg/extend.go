package linalg

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg/internal/core"
)

// Extend is the factor of a matrix with columns of which k has some sites: it has the same pivots, and site i
// of k is site sites[i] there. It costs N r^2 flops, without the search for pivots, and no memory besides.
// offset is RankOptions.Offset. The jitter of k is not in it. It fails as PivotedCholesky does.
func (k *LowRankPlusDiag) Extend(ctx context.Context, columns Columns, sites []int,
	offset float64) (*LowRankPlusDiag, error) {
	n := columns.N()
	all := &LowRankPlusDiag{n: n, residual: make([]float64, n), diag: make([]float64, n), rank: k.rank,
		triangle: k.triangle}
	for _, pivot := range k.pivots {
		all.pivots = append(all.pivots, sites[pivot])
	}
	if err := columns.Diagonal(all.diag); err != nil {
		return nil, err
	}
	copy(all.residual, all.diag)
	for _, v := range all.diag {
		all.traceK += v - offset
	}
	for first := 0; first < k.rank; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last := min(first+panelRows(n), k.rank)
		p := newGeneral(last-first, n)
		if err := columns.Columns(p.Data[:p.Rows*n], all.pivots[first:last]); err != nil {
			return nil, err
		}
		for q := p.Rows - 1; q > 0; q-- { // from rows without gaps
			copy(core.Row(p, q), p.Data[q*n:(q+1)*n])
		}
		rows := core.Rows(k.triangle, first, last)
		all.addProduct(p, -1, core.Cols(rows, 0, first))
		SideBySide(n, func(from, to int) {
			part := core.Cols(p, from, to)
			solveLower(core.Cols(rows, first, last), part)
			subtractSquares(all.residual[from:to], part)
		})
		all.panels = append(all.panels, p)
		first = last
	}
	for i, v := range all.residual {
		if !(v >= -indefinite*all.diag[i]) {
			return nil, &PivotError{Minor: i + 1, N: n}
		}
		all.residual[i] = max(0, v)
	}
	for _, pivot := range all.pivots {
		all.residual[pivot] = 0
	}
	return all, nil
}

func subtractSquares(from []float64, a blas64.General) {
	for q := range a.Rows {
		for i, v := range core.Row(a, q) {
			from[i] -= v * v
		}
	}
}
