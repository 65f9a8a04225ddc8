package linalg

import (
	"sort"

	"bootbench/linalg/internal/core"
)

// LowRankBytes is the memory in bytes that a factor of N sites takes
// while it is made or while an engine works on it, whichever is more and at most:
// as many coarser factors are counted as there can be.
func LowRankBytes(n, rank int) int64 {
	ranks := []int{rank}
	for r := rank; r/minCoarser >= smallestLevel; {
		r /= maxCoarser
		ranks = append(ranks, r)
	}
	return levelBytes(n, ranks)
}

// SolveBytes is LowRankBytes for the coarser factors that k has.
func (k *LowRankPlusDiag) SolveBytes() int64 {
	ranks := []int{k.rank}
	for r := k.coarserRank(k.rank); r > 0; r = k.coarserRank(r) {
		ranks = append(ranks, r)
	}
	return levelBytes(k.n, ranks)
}

// levelBytes is LowRankBytes for a factor and coarser ones of the given ranks.
func levelBytes(n int, ranks []int) int64 {
	held, made, used := &core.Plan{Dry: true}, &core.Plan{Dry: true}, &core.Plan{Dry: true}
	height := panelRows(n)
	for range (ranks[0] + height - 1) / height {
		held.Matrix(height, n)
	}
	held.Matrix(ranks[0], ranks[0])
	new(factorisation).allocate(made, n)
	complementsWorkspace(used, n, ranks[0], min(heavySites, n))
	for _, r := range ranks {
		new(LowRankEngine).allocate(used, n, r, 8*n*r <= keptBytes)
		used.Vectors(n, &[]float64{}, &[]float64{}) // residuals, and ratios between levels
	}
	return held.Bytes() + max(made.Bytes(), used.Bytes())
}

// RankThatFits is the largest rank whose LowRankBytes fit into the given memory.
func RankThatFits(n int, bytes int64) int {
	return sort.Search(n, func(r int) bool { return LowRankBytes(n, r+1) > bytes })
}
