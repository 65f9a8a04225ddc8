package linalg

import (
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// Work of N r^2 flops is divided by sites: each thread processes its blocks of sites, with BLAS on one
// thread. dsyrk and dtrmm of order r gain little from a second BLAS thread (a sixth at r = 200), and passes
// through R', which is larger than the cache, nothing.

// lane is the workspace of one of these threads.
type lane struct {
	work, twin blas64.General // blocks of R', rank x siteBlock
	list       []int          // of sites in such a block
	sum        blas64.General // rank x rank: its part of a sum over the sites, see lanes.gram

	single                bool // the work is in single precision
	work32, twin32, sum32 blas32.General
}

type lanes []lane

// oneThread runs f, which calls BLAS on matrices of the order of the rank: on one thread if there are lanes,
// since BLAS's other threads spin for about 0.1 s and would slow the lanes.
func (l lanes) oneThread(f func()) {
	if len(l) > 1 {
		blas.SingleThreaded(f)
	} else {
		f()
	}
}

// laneSites is the least number of sites of a lane: fewer take no longer than waking a thread.
const laneSites = 512

// laneCount is the number of lanes for n sites, at most one per thread of Go and of BLAS.
func laneCount(n int) int {
	return max(1, min(blas.Bound().Threads(), runtime.GOMAXPROCS(0), n/laneSites))
}

// newLanes allocates the lanes for n sites of a factor of rank r.
func newLanes(n, r int) lanes {
	l, width := make(lanes, laneCount(n)), siteBlock(n, r)
	for i := range l {
		l[i] = lane{work: newGeneral(r, width), twin: newGeneral(r, width), list: make([]int, width)}
		if i > 0 {
			l[i].sum = newGeneral(r, r)
		}
	}
	return l
}

// setSingle makes the lanes work in single precision, block by block, or not: sums over blocks, and results,
// are in double precision.
func (l lanes) setSingle(single bool) {
	for i := range l {
		if l[i].single = single; single && l[i].sum32.Rows == 0 {
			r, width := l[i].work.Rows, l[i].work.Cols
			l[i].work32, l[i].twin32 = newGeneral32(r, width), newGeneral32(r, width)
			l[i].sum32 = newGeneral32(r, r)
		}
	}
}

// SideBySide calls f for parts of the numbers below n, in one goroutine per thread, each with BLAS on one
// thread.
func SideBySide(n int, f func(first, last int)) {
	sideBySide(laneCount(n), n, func(_, first, last int) { f(first, last) })
}

// sideBySide divides the numbers below n among count lanes, in order, and calls f for each, in parallel and
// with BLAS on one thread if there are several.
func sideBySide(count, n int, f func(lane, first, last int)) {
	if count == 1 {
		f(0, 0, n)
		return
	}
	blas.SingleThreaded(func() {
		core.Parallel(count, func(l int) { f(l, n*l/count, n*(l+1)/count) })
	})
}

// eachBlock calls f for blocks of the numbers below n, with as many columns of work and twin.
func (l lanes) eachBlock(n int, f func(l lane, first, last int)) {
	if l[0].work.Rows == 0 {
		return
	}
	width := l[0].work.Cols
	sideBySide(min(len(l), max(1, n/laneSites)), n, func(at, first, last int) {
		for ; first < last; first += width {
			end, cut := min(last, first+width), l[at]
			cut.work, cut.twin = core.Cols(cut.work, 0, end-first), core.Cols(cut.twin, 0, end-first)
			cut.work32.Cols, cut.twin32.Cols = end-first, end-first
			f(cut, first, end)
		}
	})
}
