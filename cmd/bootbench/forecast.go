package main

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/kernel"
)

// A solve is announced where it takes announceFrom at least. It refreshes G leastRefreshes times or
// more: 4 to 8 times for the square loss, 10 to 20 for a margin. adviseRank is a rank that is fast
// for any number of examples that one machine holds.
const (
	announceFrom   = time.Minute
	leastRefreshes = 6
	adviseRank     = 500
)

// announce says before a long solve how long it takes at least, and what would be faster.
func (a *app) announce(j *job) {
	rank := 0
	if low, ok := j.Approximation(); ok {
		rank = low.Rank
	}
	flops := leastRefreshes * refreshFlops(j.Matrix().N(), rank)
	const measurable = 1e11 // less is done within announceFrom anywhere
	if a.console.Quiet || flops < measurable {
		return
	}
	if least := time.Duration(flops / gemmRate() * float64(time.Second)); least >= announceFrom {
		a.console.Clear()
		lowRank := j.Kernel.Kind != kernel.Precomputed && j.Set.Sparse == nil && (rank == 0 || rank > adviseRank)
		a.console.Note("%s", announcement(j.Sites(), rank, least, lowRank))
	}
}

// announcement words what announce says.
func announcement(sites, rank int, least time.Duration, lowRank bool) string {
	text := fmt.Sprintf("%d distinct inputs", sites)
	if rank > 0 {
		text += fmt.Sprintf(" at rank %d", rank)
	}
	text += fmt.Sprintf(": the solve takes %.0f min at least", least.Minutes())
	if lowRank {
		text += fmt.Sprintf("; --engine lowrank --max-rank %d is faster, and says by how much it may change the "+
			"error", adviseRank)
	}
	return text
}

// refreshFlops counts a refresh of G and a product with G o G: N^3 + 2 N^2 of the exact engine, 4 N r^2 on
// a factor of rank r > 0.
func refreshFlops(n, rank int) float64 {
	if rank > 0 {
		return 4 * float64(n) * float64(rank) * float64(rank)
	}
	return math.Pow(float64(n), 3)
}

// gemmRate is the rate of dgemm here and now, in flops a second: the best of three products.
func gemmRate() float64 {
	const n = 512
	a := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	c := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	best := math.Inf(1)
	for range 3 {
		began := time.Now()
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, a, a, 0, c)
		best = min(best, time.Since(began).Seconds())
	}
	return 2 * n * n * n / best
}
