package linalg

import (
	"fmt"
	"math"
	"sort"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// LowRankPlusDiag is the kernel matrix K~ = R R' + diag(residual) of order N, R of N rows
// and rank columns: pivoted Cholesky's approximation to a K with the diagonal of
// K itself. As a Gaussian process this is FITC with
// the pivots as inducing inputs (Snelson and Ghahramani 2006).
//
// R' is kept in panels of panelRows rows, row-major: 8 N rank bytes in all.
type LowRankPlusDiag struct {
	n, rank  int
	panels   []blas64.General // of R', panelRows x N; the last may be filled in part
	pivots   []int
	residual []float64
	traces   []float64 // sum of the residuals, jitter apart, after each pivot
	traceK   float64   // sum of K_ii - RankOptions.Offset
	jitter   float64
}

// panelRows is the height of a panel of R'.
const panelRows = 128

// LowRankBytes is the memory in bytes that a factor of N sites takes while it is
// made or while an engine works on it, whichever is more and at most: as many coarser
// factors are counted as there can be.
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
	for range (ranks[0] + panelRows - 1) / panelRows {
		held.Matrix(panelRows, n)
	}
	new(factorisation).allocate(made, n)
	complementsWorkspace(used, n, ranks[0], min(maxBlock, n))
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

// append adds a row to R', which leaves residuals of the given sum.
func (k *LowRankPlusDiag) append(row []float64, pivot int, trace float64) {
	if last := len(k.panels) - 1; last < 0 || k.panels[last].Rows == panelRows {
		p := newGeneral(panelRows, k.n)
		p.Rows = 0
		k.panels = append(k.panels, p)
	}
	p := &k.panels[len(k.panels)-1]
	copy(p.Data[p.Rows*p.Stride:p.Rows*p.Stride+k.n], row)
	p.Rows++
	k.rank++
	k.pivots = append(k.pivots, pivot)
	k.traces = append(k.traces, trace)
}

// N is the number of sites.
func (k *LowRankPlusDiag) N() int { return k.n }

// Rank is the number of columns of R.
func (k *LowRankPlusDiag) Rank() int { return k.rank }

// smallestPivot is the smallest residual that a pivot had when it was taken.
func (k *LowRankPlusDiag) smallestPivot() float64 {
	smallest, q := math.Inf(1), 0
	for _, p := range k.panels {
		for r := range p.Rows {
			v := p.Data[r*p.Stride+k.pivots[q]]
			smallest = math.Min(smallest, v*v)
			q++
		}
	}
	return smallest
}

// Pivots are the sites whose columns span R, in order. A view.
func (k *LowRankPlusDiag) Pivots() []int { return k.pivots }

// Residual is the diagonal that R R' leaves, and the jitter added. A view.
func (k *LowRankPlusDiag) Residual() []float64 { return k.residual }

// Accuracy says how far R R' alone is from K: the mean residual over the mean of
// K_ii (less RankOptions.Offset), which is the relative error in the trace norm, and the
// largest residual, which bounds every element of the difference. Jitter counts
// in neither.
func (k *LowRankPlusDiag) Accuracy() (trace, largest float64) {
	sum := 0.0
	for _, v := range k.residual {
		sum += v - k.jitter
		largest = math.Max(largest, v-k.jitter)
	}
	if k.traceK > 0 {
		trace = math.Max(0, sum/k.traceK)
	}
	return trace, largest
}

// AddDiag adds v >= 0 to every diagonal element.
func (k *LowRankPlusDiag) AddDiag(v float64) {
	k.jitter += v
	for i := range k.residual {
		k.residual[i] += v
	}
}

// At is element (i, j) of K~, in O(rank).
func (k *LowRankPlusDiag) At(i, j int) float64 {
	sum := 0.0
	for _, p := range k.panels {
		for q := range p.Rows {
			sum += p.Data[q*p.Stride+i] * p.Data[q*p.Stride+j]
		}
	}
	if i == j {
		sum += k.residual[i]
	}
	return sum
}

// Check finds nothing: a factorisation has looked at what it is made of.
func (k *LowRankPlusDiag) Check() error { return nil }

// Dense is K~ as a matrix that is held whole, 8 N^2 bytes.
func (k *LowRankPlusDiag) Dense() *Sym {
	s := NewSym(k.n)
	for _, p := range k.panels {
		blas64.Syrk(gblas.Trans, 1, p, 1, s.Raw())
	}
	for i, v := range k.residual {
		s.Set(i, i, s.At(i, i)+v)
	}
	return s
}

// Eigenvalues are those of K~ between the listed sites, ascending.
func (k *LowRankPlusDiag) Eigenvalues(sites []int) ([]float64, error) {
	n := len(sites)
	a := newGeneral(n, n)
	for _, p := range k.panels {
		part := newGeneral(p.Rows, n)
		for q := range p.Rows {
			for c, site := range sites {
				part.Data[q*part.Stride+c] = p.Data[q*p.Stride+site]
			}
		}
		blas64.Gemm(gblas.Trans, gblas.NoTrans, 1, part, part, 1, a)
	}
	for i, site := range sites {
		a.Data[i*a.Stride+i] += k.residual[site]
	}
	w := make([]float64, n)
	if !blas.Bound().Eigenvalues(gblas.Lower, n, a.Data, a.Stride, w) {
		return w, fmt.Errorf("the eigenvalues of a matrix of order %d did not converge", n)
	}
	return w, nil
}

// Coordinates overwrites kernel values between P new inputs and the pivots (P x
// rank, row-major) with the new inputs' coordinates phi in the basis of R, so
// that their kernel with site j is k~_j = sum_q R_jq phi_q: the projection of the
// kernel vector on the pivots.
func (k *LowRankPlusDiag) Coordinates(rows []float64) {
	if k.rank == 0 || len(rows) == 0 {
		return
	}
	l := newGeneral(k.rank, k.rank)
	q := 0
	for _, p := range k.panels {
		for r := range p.Rows {
			for i := q; i < k.rank; i++ {
				l.Data[i*l.Stride+q] = p.Data[r*p.Stride+k.pivots[i]]
			}
			q++
		}
	}
	blas64.Trsm(gblas.Right, gblas.Trans, 1,
		blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: k.rank, Stride: l.Stride, Data: l.Data},
		blas64.General{Rows: len(rows) / k.rank, Cols: k.rank, Stride: k.rank, Data: rows})
}

// Vectors writes the kernel with all sites, P x N row-major, of new inputs that
// are given by their coordinates, P x rank.
func (k *LowRankPlusDiag) Vectors(dst, rows []float64) {
	if k.rank == 0 {
		clear(dst)
		return
	}
	count := len(rows) / k.rank
	out := blas64.General{Rows: count, Cols: k.n, Stride: k.n, Data: dst}
	beta, q := 0.0, 0
	for _, p := range k.panels {
		at := blas64.General{Rows: count, Cols: p.Rows, Stride: k.rank, Data: rows[q:]}
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, at, p, beta, out)
		beta, q = 1, q+p.Rows
	}
}

// Bytes is the memory of the factor.
func (k *LowRankPlusDiag) Bytes() int64 {
	return 8 * (int64(len(k.panels))*panelRows*int64(k.n) + int64(k.n))
}

// block writes R' at sites first to last-1, column i scaled by scale_i unless
// scale is nil, into dst (rank x (last-first)).
func (k *LowRankPlusDiag) block(dst blas64.General, first, last int, scale []float64) {
	q := 0
	for _, p := range k.panels {
		for r := range p.Rows {
			from := p.Data[r*p.Stride+first : r*p.Stride+last]
			to := dst.Data[q*dst.Stride : q*dst.Stride+last-first]
			if scale == nil {
				copy(to, from)
			} else {
				for i, v := range from {
					to[i] = v * scale[first+i]
				}
			}
			q++
		}
	}
}

// mulTrans writes R'x into dst, length rank.
func (k *LowRankPlusDiag) mulTrans(dst, x []float64) {
	q := 0
	for _, p := range k.panels {
		blas64.Gemv(gblas.NoTrans, 1, p, core.Vector(x), 0, core.Vector(dst[q:q+p.Rows]))
		q += p.Rows
	}
}

// mul writes R t into dst, length N.
func (k *LowRankPlusDiag) mul(dst, t []float64) {
	clear(dst)
	q := 0
	for _, p := range k.panels {
		blas64.Gemv(gblas.Trans, 1, p, core.Vector(t[q:q+p.Rows]), 1, core.Vector(dst))
		q += p.Rows
	}
}

// Engine is an engine on K~.
func (k *LowRankPlusDiag) Engine() Engine { return NewLowRankEngine(k) }
