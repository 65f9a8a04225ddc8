package linalg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"

	"bootbench/linalg/internal/core"
)

// RankOptions says when a pivoted Cholesky factorisation ends.
type RankOptions struct {
	// Tol is the tolerance of the mean residual, relative to the mean of K_ii - Offset, in [0, 1). With 0 the
	// factorisation ends at MaxRank, or when the residuals are rounding.
	Tol float64
	// PerRank >= 0 is a tolerance of the sum of residuals per pivot: a factor of rank r is accepted at
	// PerRank r, or at the tolerance of Tol if that is larger.
	PerRank float64
	// MaxRank is the largest rank allowed; 0: N.
	MaxRank int
	// MaxBytes limits the memory of the factor and an engine on it; 0: no limit.
	MaxBytes int64
	// Offset is a part of every K_ii that the tolerance excludes, such as a constant added to K: one pivot
	// explains it.
	Offset float64
	// Weight, if set, multiplies the residuals of sites in the tolerances, and in the choice of pivots.
	Weight []float64
	// Enough, if set, is called whenever the rank has grown by a fifth; true ends the factorisation.
	Enough func(*LowRankPlusDiag) bool

	rounding float64 // residuals up to this times K_ii are rounding; 0: roundingFloor
}

// ErrRank marks a factorisation that reached its limit before its tolerance.
var ErrRank = errors.New("rank limit reached")

// RankError describes a factorisation that reached its limit.
type RankError struct {
	Rank      int              // the limit
	Residual  float64          // mean residual there, in the units of Tolerance
	Tolerance float64          // requested
	Memory    bool             // the limit came from memory
	Factor    *LowRankPlusDiag // of that rank
}

func (e *RankError) Error() string {
	limit := fmt.Sprintf("the rank limit of %d", e.Rank)
	if e.Memory {
		limit = fmt.Sprintf("rank %d, for which there is memory,", e.Rank)
	}
	return fmt.Sprintf("at %s the mean residual of the kernel is %.2g of its mean variance, above the "+
		"tolerance of %.2g: "+
		"allow a higher rank or more memory, a larger tolerance, or use the exact engine", limit, e.Residual,
		e.Tolerance)
}

func (e *RankError) Unwrap() error { return ErrRank }

// Limits of the factorisation.
const (
	// minBlock is the number of candidates of the first block; it doubles up to panelRows.
	minBlock = 8

	// minKeptResidual is the least residual, relative to that at the start of the block, of a candidate that
	// becomes a pivot. From 0.01 to 0.2 the rank hardly changes, from 0.5 on it grows, and so does the number
	// of discarded columns.
	minKeptResidual = 0.1

	// roundingFloor times K_ii is the rounding error of a residual.
	roundingFloor = 64 * 0x1p-52

	// indefinite times -K_ii is the least residual that counts as rounding.
	indefinite = 1e-8

	// pivotSeed is the seed of the draws of candidates: factors are reproducible.
	pivotSeed = 1
)

// PivotedCholesky computes K ~ R R' + diag(residual) by randomly pivoted Cholesky factorisation (RPCholesky
// in blocks: Chen, Epperly, Tropp and Webber 2023), from the columns of K: K itself is never formed. The
// trace norm of K - R R' is the sum of the residuals. It costs N r^2 flops and r kernel columns, and some
// more for rejected candidates.
//
// Candidates are drawn in blocks with probability proportional to their residual, and a small pivoted
// factorisation inside the block selects those that the others do not explain. (Taking the largest residuals,
// as the textbook does, spends pivots on outliers: doc/decisions/0006.)
//
// The error is a *RankError, a *PivotError for a matrix that is not positive semidefinite, what k itself
// reports, or the end of ctx, which is looked at before every block.
func PivotedCholesky(ctx context.Context, k Columns, o RankOptions) (*LowRankPlusDiag, error) {
	if ctx == nil || k == nil {
		return nil, errors.New("linalg: there is no context, or no matrix")
	}
	f, err := newFactorisation(k, o)
	if err != nil {
		return nil, err
	}
	for shown := 0; !f.done(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Enough != nil && 5*f.rank >= 6*shown && f.rank > 0 {
			if shown = f.rank; o.Enough(f.finish()) {
				break
			}
		}
		if f.rank >= f.most {
			if o.Tol == 0 && o.PerRank == 0 {
				break
			}
			return nil, &RankError{Rank: f.rank, Residual: f.trace / f.traceK, Tolerance: f.goal() / f.traceK,
				Memory: f.byMemory, Factor: f.finish()}
		}
		if err := f.step(); err != nil {
			return nil, err
		}
	}
	return f.finish(), nil
}

func (f *factorisation) finish() *LowRankPlusDiag {
	f.triangle = f.rowsAt(f.pivots)
	return f.LowRankPlusDiag
}

// factorisation is a factorisation in progress.
type factorisation struct {
	*LowRankPlusDiag
	columns  Columns
	options  RankOptions
	rng      *rand.Rand
	most     int       // largest rank
	byMemory bool      // most is what memory allows
	floor    []float64 // of each residual
	weight   []float64 // of the residuals
	trace    float64   // weighted sum of the residuals
	size     int       // candidates of the next block
	keys     []float64
	order    []int
	rows     []float64 // size x N: columns of the candidates, then new rows of R'
}

func newFactorisation(k Columns, o RankOptions) (*factorisation, error) {
	n := k.N()
	switch {
	case !(o.Tol >= 0 && o.Tol < 1):
		return nil, fmt.Errorf("the tolerance of a low-rank factor is %v, must lie in [0, 1)", o.Tol)
	case !(o.PerRank >= 0):
		return nil, fmt.Errorf("the residuals allowed per pivot are %v, must be at least 0", o.PerRank)
	case o.MaxRank < 0:
		return nil, fmt.Errorf("the largest rank is %d, must be positive", o.MaxRank)
	case o.Weight != nil && len(o.Weight) != n:
		return nil, fmt.Errorf("there are %d weights for %d sites", len(o.Weight), n)
	}
	v := func() []float64 { return make([]float64, n) }
	f := &factorisation{LowRankPlusDiag: &LowRankPlusDiag{n: n, residual: v(), diag: v()},
		columns: k, options: o, rng: rand.New(rand.NewPCG(pivotSeed, 0)), most: n, size: minBlock,
		floor: v(), keys: v(), order: make([]int, n), rows: make([]float64, min(panelRows(n), n)*n),
		weight: o.Weight}
	if f.weight == nil {
		f.weight = slices.Repeat([]float64{1}, n)
	}
	if err := k.Diagonal(f.residual); err != nil {
		return nil, err
	}
	copy(f.diag, f.residual)
	for i, v := range f.residual {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &EntryError{I: i, J: i, Value: v}
		}
		if v < 0 {
			return nil, &PivotError{Minor: i + 1, N: n}
		}
		f.floor[i] = cmp.Or(o.rounding, roundingFloor) * v
		f.trace += f.weight[i] * v
		f.traceK += v - o.Offset
	}
	if o.MaxRank > 0 {
		f.most = min(f.most, o.MaxRank)
	}
	if o.MaxBytes > 0 {
		if fits := RankThatFits(n, o.MaxBytes); fits < f.most {
			f.most, f.byMemory = fits, true
		}
	}
	return f, nil
}

// goal is the sum of residuals at which to stop.
func (f *factorisation) goal() float64 {
	return math.Max(f.options.Tol*f.traceK, f.options.PerRank*float64(f.rank))
}

// done reports whether the tolerance is met, or the residuals are rounding.
func (f *factorisation) done() bool {
	if f.trace <= f.goal() {
		return true
	}
	for i, v := range f.residual {
		if v > f.floor[i] {
			return false
		}
	}
	return true
}

// step adds up to size pivots.
func (f *factorisation) step() error {
	sites := f.sample(min(f.size, f.most-f.rank))
	f.size = min(2*f.size, panelRows(f.n))
	if f.options.Enough != nil {
		f.size = min(f.size, max(minBlock, f.rank/5))
	}
	candidates := blas64.General{Rows: len(sites), Cols: f.n, Stride: max(1, f.n),
		Data: f.rows[:len(sites)*f.n]}
	if err := f.columns.Columns(candidates.Data, sites); err != nil {
		return err
	}
	f.addProduct(candidates, -1, f.rowsAt(sites)) // residual columns
	order, l := f.selectPivots(sites)
	if l.Rows == 0 { // the residuals were rounding: they are dropped
		for i, v := range f.residual {
			f.floor[i] = math.Max(f.floor[i], v)
		}
		return nil
	}
	permutation := slices.Clone(order)
	lapackgonum.Implementation{}.Dlapmr(true, len(order), f.n, candidates.Data, candidates.Stride,
		permutation)
	rows := core.Rows(candidates, 0, l.Rows)
	SideBySide(f.n, func(first, last int) { solveLower(l, core.Cols(rows, first, last)) })
	for q := range rows.Rows {
		if f.trace <= f.goal() || f.rank >= f.most {
			break
		}
		if err := f.appendPivot(core.Row(rows, q), sites[order[q]]); err != nil {
			return err
		}
	}
	return nil
}

// sample lists up to count sites, drawn without replacement with probabilities proportional to their
// residuals (the largest keys log(u)/residual: Efraimidis and Spirakis 2006).
func (f *factorisation) sample(count int) []int {
	f.order = f.order[:0]
	for i, v := range f.residual {
		if v > f.floor[i] && f.weight[i] > 0 {
			f.order = append(f.order, i)
			f.keys[i] = math.Log(1-f.rng.Float64()) / (f.weight[i] * v)
		}
	}
	count = min(count, len(f.order))
	slices.SortFunc(f.order, func(a, b int) int { return cmp.Compare(f.keys[b], f.keys[a]) })
	sites := slices.Clone(f.order[:count])
	slices.Sort(sites)
	return sites
}

// selectPivots factorises the residual matrix between the candidates with complete pivoting, the largest
// remaining residual first, while it exceeds minKeptResidual. It returns the candidates, the selected ones
// first, and the lower triangle of these.
func (f *factorisation) selectPivots(sites []int) (order []int, l blas64.General) {
	b := len(sites)
	h, left := newGeneral(b, b), make([]float64, b) // rows of h become rows of L', over the candidates
	for r := range sites {
		for c, site := range sites {
			h.Data[r*h.Stride+c] = f.rows[r*f.n+site]
		}
		left[r] = h.Data[r*h.Stride+r]
	}
	for len(order) < b {
		best := f.bestCandidate(sites, left)
		if best < 0 && len(order) == 0 { // the residual is rounding
			if at := floats.MaxIdx(left); left[at] > 0 {
				best = at
			}
		}
		if best < 0 {
			break
		}
		row, root := core.Row(h, best), math.Sqrt(left[best])
		for _, earlier := range order {
			floats.AddScaled(row, -h.Data[earlier*h.Stride+best], core.Row(h, earlier))
		}
		for c := range row {
			row[c] /= root
			left[c] -= row[c] * row[c]
		}
		left[best] = 0
		order = append(order, best)
	}
	l = newGeneral(len(order), len(order))
	for q, site := range order {
		for p, earlier := range order[:q+1] {
			l.Data[q*l.Stride+p] = h.Data[earlier*h.Stride+site]
		}
	}
	for r := range sites {
		if !slices.Contains(order, r) {
			order = append(order, r)
		}
	}
	return order, l
}

// bestCandidate has the largest remaining residual of those above their minimum; -1 if there is none.
func (f *factorisation) bestCandidate(sites []int, left []float64) int {
	best := -1
	for r, site := range sites {
		if left[r] > f.floor[site] && left[r] >= minKeptResidual*f.residual[site] &&
			(best < 0 || f.weight[site]*left[r] > f.weight[sites[best]]*left[best]) {
			best = r
		}
	}
	return best
}

// appendPivot appends a row of R'. It refuses one of an indefinite matrix.
func (f *factorisation) appendPivot(row []float64, pivot int) error {
	sum := 0.0
	for i, v := range row {
		left := f.residual[i] - v*v
		if !(left >= 0) {
			if !(left >= -indefinite*f.floor[i]/roundingFloor) {
				return &PivotError{Minor: i + 1, N: f.n}
			}
			left = 0
		}
		f.residual[i] = left
		sum += f.weight[i] * left
	}
	f.trace = sum - f.weight[pivot]*f.residual[pivot]
	f.residual[pivot] = 0
	f.append(row, pivot)
	return nil
}
