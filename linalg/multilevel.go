package linalg

import (
	"bootbench/linalg/internal/core"
)

// MultilevelKernel is a kernel that holds coarser ones of the same order within: what a
// solver learns on one of them it need not learn at full cost.
type MultilevelKernel interface {
	Kernel

	// Coarsen is a kernel on which an engine costs a small part of what it costs
	// on this one; ok is false where there is none worth the trouble.
	Coarsen() (k Kernel, ok bool)
}

// Sizes of coarser factors.
const (
	minCoarser    = 4   // a coarser factor has this part of the rank at least,
	maxCoarser    = 2   // this part at most,
	coarserShare  = 1e5 // and between them the rank from which its residuals are this many times the factor's
	smallestLevel = 8   // and this rank at least, else there is none
)

// Coarsen is the factor of the first pivots, a quarter to half of them, with the
// diagonal of K~ as it is. It shares the numbers of R.
func (k *LowRankPlusDiag) Coarsen() (Kernel, bool) {
	if c := k.coarser(); c != nil {
		return c, true
	}
	return nil, false
}

// coarserRank is the rank of the factor that is coarser than the first of the given
// number of pivots, 0 where there is none.
func (k *LowRankPlusDiag) coarserRank(of int) int {
	rank := of / minCoarser
	if rank < smallestLevel {
		return 0
	}
	for rank < of/maxCoarser && k.traces[rank-1] > coarserShare*k.traces[of-1] {
		rank++
	}
	return rank
}

func (k *LowRankPlusDiag) coarser() *LowRankPlusDiag {
	rank := k.coarserRank(k.rank)
	if rank == 0 {
		return nil
	}
	c := &LowRankPlusDiag{n: k.n, rank: rank, pivots: k.pivots[:rank], traces: k.traces[:rank], traceK: k.traceK,
		jitter: k.jitter, diag: k.diag}
	c.triangle = core.Cols(core.Rows(k.triangle, 0, rank), 0, rank)
	c.residual = append([]float64(nil), k.residual...)
	for above, p := 0, 0; above < rank; above, p = above+k.panels[p].Rows, p+1 {
		c.panels = append(c.panels, core.Rows(k.panels[p], 0, min(k.panels[p].Rows, rank-above)))
	}
	SideBySide(len(c.residual), func(first, last int) {
		eachPanelRow(k.panels, first, last, func(q int, row []float64) {
			if q >= rank {
				for i, v := range row {
					c.residual[first+i] += v * v
				}
			}
		})
	})
	return c
}

// coarseLevel is an engine on the next coarser factor.
type coarseLevel struct {
	built  bool           // engine was asked for
	engine *LowRankEngine // nil where there is none
}

// maxLeft is the mean of d times what a coarser factor leaves that the factor does
// not, up to which the coarser one stands for it: with more, 0.1 to 1, products on
// it converge no faster than those on the factor.
const maxLeft = 0.02

// coarseIfAccurate is the engine on the coarser factor where that stands for e at its
// d, else nil. It is made when first asked for.
func (e *LowRankEngine) coarseIfAccurate() *LowRankEngine {
	if !e.level.built {
		e.level.built = true
		if c := e.k.coarser(); c != nil {
			e.level.engine = NewLowRankEngine(c)
		}
	}
	c := e.level.engine
	if c == nil {
		return nil
	}
	left := 0.0
	for i, d := range e.d {
		left += d * (c.k.residual[i] - e.k.residual[i])
	}
	if !(left <= maxLeft*float64(e.k.n)) {
		return nil
	}
	return c
}

// Coarse is an engine on Coarsen's factor.
func (e *LowRankEngine) Coarse() Engine {
	c := e.coarseIfAccurate()
	if c == nil || c.Factorize(e.d) != nil {
		return nil
	}
	return c
}
