package linalg

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// LowRankPlusDiag is the kernel matrix K~ = R R' + diag(residual) of order N, R of N rows and rank columns:
// pivoted Cholesky's approximation to a K with the diagonal of K itself. As a Gaussian process this is FITC
// with the pivots as inducing inputs (Snelson and Ghahramani 2006).
//
// R' is kept in panels of some rows, row-major: 8 N rank bytes in all.
type LowRankPlusDiag struct {
	n, rank  int
	panels   []blas64.General // of R', panelRows x N; the last may be filled in part
	pivots   []int
	triangle blas64.General // R at the pivots, rank x rank: lower
	residual []float64      // K_ii - (R R')_ii, plus jitter
	diag     []float64      // of K, without jitter
	traceK   float64        // sum of K_ii - RankOptions.Offset
	jitter   float64
}

// panelRows is the height of a panel of R' of n columns, and the largest number of pivots drawn at a time:
// maxPanel for dgemm, less if panels would be large.
func panelRows(n int) int { return max(minPanel, min(maxPanel, panelBytes/(8*max(1, n)))) }

const (
	minPanel, maxPanel = 32, 128
	panelBytes         = 256 << 20
)

func (k *LowRankPlusDiag) append(row []float64, pivot int) {
	if last := len(k.panels) - 1; last < 0 || k.panels[last].Rows == panelRows(k.n) {
		p := newGeneral(panelRows(k.n), k.n)
		p.Rows = 0
		k.panels = append(k.panels, p)
	}
	p := &k.panels[len(k.panels)-1]
	to := p.Data[p.Rows*p.Stride:]
	SideBySide(len(row), func(first, last int) { copy(to[first:last], row[first:last]) })
	p.Rows++
	k.rank++
	k.pivots = append(k.pivots, pivot)
}

// N is the number of sites. SymmetricDim, Dims and T make k a mat.Symmetric of gonum.
func (k *LowRankPlusDiag) N() int                 { return k.n }
func (k *LowRankPlusDiag) SymmetricDim() int      { return k.n }
func (k *LowRankPlusDiag) Dims() (rows, cols int) { return k.n, k.n }
func (k *LowRankPlusDiag) T() mat.Matrix          { return k }

// Rank is the number of columns of R, and Pivots are the sites whose columns span R, in order, a view.
func (k *LowRankPlusDiag) Rank() int     { return k.rank }
func (k *LowRankPlusDiag) Pivots() []int { return k.pivots }

// smallestPivot is the smallest residual of a pivot at its selection.
func smallestPivot(k *LowRankPlusDiag) float64 {
	smallest := math.Inf(1)
	for q := range k.rank {
		root := core.Row(k.triangle, q)[q]
		smallest = math.Min(smallest, root*root)
	}
	return smallest
}

// Residual is the diagonal of K - R R', plus jitter. A view.
func (k *LowRankPlusDiag) Residual() []float64 { return k.residual }

// Accuracy is the error of R R': the mean residual over the mean of K_ii - RankOptions.Offset, the relative
// error in the trace norm, and the largest residual, which bounds every element of the difference. Both
// exclude jitter.
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

// Subset is a copy of K~ between the listed sites, ascending; k if these are all. It keeps the pivots of k.
func (k *LowRankPlusDiag) Subset(sites []int) *LowRankPlusDiag {
	if len(sites) == k.n {
		return k
	}
	s := &LowRankPlusDiag{n: len(sites), rank: k.rank, jitter: k.jitter, pivots: k.pivots,
		triangle: k.triangle, residual: make([]float64, len(sites)), diag: make([]float64, len(sites))}
	pick := func(to, from []float64) {
		for c, site := range sites {
			to[c] = from[site]
		}
	}
	pick(s.residual, k.residual)
	pick(s.diag, k.diag)
	for _, p := range k.panels {
		part := newGeneral(p.Rows, s.n)
		core.Parallel(p.Rows, func(q int) { pick(core.Row(part, q), core.Row(p, q)) })
		s.panels = append(s.panels, part)
	}
	return s
}

// Truncate is K~ with the first pivots only: its panels are views of k's.
func (k *LowRankPlusDiag) Truncate(rank int) *LowRankPlusDiag {
	s := *k
	s.rank, s.pivots, s.panels, s.residual = rank, k.pivots[:rank], nil, slices.Clone(k.residual)
	for _, p := range k.panels {
		kept := min(rank, p.Rows)
		SideBySide(s.n, func(first, last int) {
			for q := kept; q < p.Rows; q++ {
				for i, v := range p.Data[q*p.Stride+first : q*p.Stride+last] {
					s.residual[first+i] += v * v
				}
			}
		})
		if p.Rows = kept; kept > 0 {
			s.panels = append(s.panels, p)
		}
		rank -= kept
	}
	s.triangle = core.Cols(core.Rows(k.triangle, 0, s.rank), 0, s.rank)
	return &s
}

// SmallestRank is the smallest rank of a Truncate that is enough by the sum of its residuals, without jitter,
// each times its weight. Enough is asked for falling ranks until it says no; rank + 1: none is.
func (k *LowRankPlusDiag) SmallestRank(weight []float64, enough func(rank int, sum float64) bool) int {
	rank, sum := k.rank, 0.0
	for i, v := range k.residual {
		sum += weight[i] * math.Max(0, v-k.jitter)
	}
	for _, p := range slices.Backward(k.panels) {
		for q := p.Rows - 1; q >= 0 && enough(rank, sum); q-- {
			for i, v := range core.Row(p, q) {
				sum += weight[i] * v * v
			}
			rank--
		}
	}
	if enough(rank, sum) {
		return rank
	}
	return rank + 1
}

// AddDiag adds v >= 0 to every diagonal element.
func (k *LowRankPlusDiag) AddDiag(v float64) {
	k.jitter += v
	for i := range k.residual {
		k.residual[i] += v
	}
}

// At is element (i, j) of K~, in O(rank), or O(1) on the diagonal.
func (k *LowRankPlusDiag) At(i, j int) float64 {
	if i == j {
		return k.diag[i] + k.jitter
	}
	rows := k.rowsAt([]int{i, j})
	return floats.Dot(core.Row(rows, 0), core.Row(rows, 1))
}

// Check returns nil: the factorisation has checked K.
func (k *LowRankPlusDiag) Check() error { return nil }

// Dense is K~ as a dense matrix, 8 N^2 bytes.
func (k *LowRankPlusDiag) Dense() *Sym {
	s := ZeroSym(k.n)
	for _, p := range k.panels {
		blas.Syrk(gblas.Trans, 1, p, 1, s.Raw())
	}
	for i, v := range k.residual {
		s.Set(i, i, s.At(i, i)+v)
	}
	return s
}

// Submatrix is K~ between the listed sites.
func (k *LowRankPlusDiag) Submatrix(sites []int) blas64.General {
	a, rows := newGeneral(len(sites), len(sites)), k.rowsAt(sites)
	core.AddProduct(a, 1, rows, gblas.Trans, rows)
	for i, site := range sites {
		core.Row(a, i)[i] += k.residual[site]
	}
	return a
}

// Coordinates overwrites kernel values between P new inputs and the pivots (P x rank, row-major) with the new
// inputs' coordinates phi in the basis of R, so that their kernel with site j is k~_j = sum_q R_jq phi_q: the
// projection of the kernel vector on the pivots.
func (k *LowRankPlusDiag) Coordinates(rows []float64) {
	if k.rank == 0 || len(rows) == 0 {
		return
	}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, lowerOf(k.triangle), blas64.General{Rows: len(rows) / k.rank,
		Cols: k.rank, Stride: k.rank, Data: rows})
}

// PivotWeights are the weights of the pivots whose kernel sum, sum_q v_q K(x, x_q), is sum_j w_j k~_j(x), for
// the weights w of all sites.
func (k *LowRankPlusDiag) PivotWeights(w []float64) []float64 {
	v := make([]float64, k.rank)
	k.MulTrans(v, w)
	blas64.Trsv(gblas.Trans, lowerOf(k.triangle), blas64.Vector{N: k.rank, Inc: 1, Data: v})
	return v
}

// Vectors writes the kernel with all sites, P x N row-major, of new inputs given by their coordinates, P x
// rank.
func (k *LowRankPlusDiag) Vectors(dst, rows []float64) {
	count := len(rows) / max(1, k.rank)
	k.vectors(blas64.General{Rows: count, Cols: k.n, Stride: k.n, Data: dst},
		blas64.General{Rows: count, Cols: k.rank, Stride: k.rank, Data: rows})
}

// vectors writes t R' into dst.
func (k *LowRankPlusDiag) vectors(dst, t blas64.General) {
	for r := range dst.Rows {
		clear(core.Row(dst, r))
	}
	k.addProduct(dst, 1, t)
}

func (k *LowRankPlusDiag) rowsAt(sites []int) blas64.General {
	rows := contiguous(len(sites), k.rank)
	for r, site := range sites {
		k.Rows(core.Row(rows, r), site, site+1)
	}
	return rows
}

// Rows writes the rows of R of sites first to last-1 into dst, (last-first) x rank row-major.
func (k *LowRankPlusDiag) Rows(dst []float64, first, last int) {
	eachPanelRow(k.panels, first, last, func(q int, row []float64) {
		for i, v := range row {
			dst[i*k.rank+q] = v
		}
	})
}

// weightedGram overwrites lower with the Cholesky factor of I + R' diag(root^2) R.
func (k *LowRankPlusDiag) weightedGram(lower blas64.General, room lanes, root []float64) error {
	clear(lower.Data)
	for q := range k.rank {
		lower.Data[q*lower.Stride+q] = 1
	}
	room.gram(lower, k.panels, root)
	var err error
	room.oneThread(func() { err = factorizeLower(lower) })
	return err
}

// factorizeLower overwrites the lower triangle of a positive definite matrix with its Cholesky factor.
func factorizeLower(m blas64.General) error {
	if minor := blas.Bound().Potrf(gblas.Lower, m.Rows, m.Data, m.Stride); minor != 0 {
		return &PivotError{Minor: minor, N: m.Rows}
	}
	return nil
}

// solveBoth overwrites the rows of t with (L L')^-1 times them.
func solveBoth(lower, t blas64.General) {
	l := lowerOf(lower)
	blas.SingleThreaded(func() {
		switch {
		case t.Cols == 0 || t.Rows == 0:
		case t.Rows == 1: // dtrsm would take two to four times as long
			blas64.Trsv(gblas.NoTrans, l, core.Vector(core.Row(t, 0)))
			blas64.Trsv(gblas.Trans, l, core.Vector(core.Row(t, 0)))
		default:
			blas64.Trsm(gblas.Right, gblas.Trans, 1, l, t)
			blas64.Trsm(gblas.Right, gblas.NoTrans, 1, l, t)
		}
	})
}

// MulVec is dst = K~ x.
func (k *LowRankPlusDiag) MulVec(dst, x []float64) {
	floats.MulTo(dst, k.residual, x)
	k.addProduct(rowOf(dst), 1, k.coordinates(rowOf(x)))
}

// MulTrans writes R'x into dst, length rank.
func (k *LowRankPlusDiag) MulTrans(dst, x []float64) { copy(dst, k.coordinates(rowOf(x)).Data) }

// coordinates is x R for the rows of x.
func (k *LowRankPlusDiag) coordinates(x blas64.General) blas64.General {
	sums := make([]blas64.General, k.parts())
	for l := range sums {
		sums[l] = contiguous(x.Rows, k.rank)
	}
	k.eachPanel(func(part, q int, p blas64.General, first, last int) {
		core.AddProduct(core.Cols(sums[part], q, q+p.Rows), 1, core.Cols(x, first, last), gblas.Trans, p)
	})
	for _, other := range sums[1:] {
		floats.Add(sums[0].Data, other.Data)
	}
	return sums[0]
}

// addProduct adds alpha t R' to dst.
func (k *LowRankPlusDiag) addProduct(dst blas64.General, alpha float64, t blas64.General) {
	k.eachPanel(func(_, q int, p blas64.General, first, last int) {
		core.AddProduct(core.Cols(dst, first, last), alpha, core.Cols(t, q, q+p.Rows), gblas.NoTrans, p)
	})
}

// panelSites is the number of sites whose part of a product stays in the cache over all panels.
const panelSites = 4096

// parts is the number of partial sums over the sites. It does not depend on the number of threads, so that
// the sums do not.
func (k *LowRankPlusDiag) parts() int { return max(1, min(core.Lanes, k.n/laneSites)) }

// eachPanel calls f for every piece of a part of the sites, first to last-1, and every panel there, whose
// first row is row q of R'. Parts run in parallel.
func (k *LowRankPlusDiag) eachPanel(f func(part, q int, p blas64.General, first, last int)) {
	sideBySide(k.parts(), k.n, func(part, first, end int) {
		for ; first < end; first += panelSites {
			last, q := min(end, first+panelSites), 0
			for _, p := range k.panels {
				f(part, q, core.Cols(p, first, last), first, last)
				q += p.Rows
			}
		}
	})
}

func (k *LowRankPlusDiag) Engine() Engine { return newLowRankEngine(k, false) }

// RoughEngine is an engine on k for rough answers. On a large factor it takes half the time, in single
// precision if the backend has that: the relative error of chi is at most some 1e-5, the one of (G o G) x
// 1e-3.
func RoughEngine(k Kernel) Engine {
	e := k.Engine()
	if low, _ := lowRankOf(e); low != nil {
		low.rough = low.canSingle()
	}
	return e
}
