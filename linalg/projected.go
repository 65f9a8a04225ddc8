package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// LowRankEngine is the engine on K~ = R R' + diag(delta). With e = 1 + d delta and
// w = d/e, and M = I + R' diag(w) R = L L' of the order of the rank,
//
//	G = diag(a) + U U',   a = delta/e,   U = diag(1/e) R L^-T,
//
// which follows from (M03-63) by Woodbury and subtracts nothing. A refresh costs
// 2 N r^2 flops and so does a product with G o G, because
//
//	sum_j (u_i'u_j)^2 x_j = u_i' (U' diag(x) U) u_i.
//
// Blocks of R' pass through BLAS. L^-1 R' is kept from the refresh where that
// takes little memory; else products work on R' and carry L into the matrix between.
type LowRankEngine struct {
	k          *LowRankPlusDiag
	d          []float64 // site parameters at which G stands
	inverse    []float64 // 1/e
	spread     []float64 // |u_i|^2 = chi_i - a_i
	chi, b     []float64 // diag(G), 1 - d chi
	scale      []float64 // workspace over sites
	lower      blas64.General
	form       blas64.General // workspace of products with G o G
	half       blas64.General // the same
	work, twin blas64.General // blocks of R', rank x siteBlock
	solved     blas64.General // L^-1 R', rank x N, where it is kept
	small      []float64      // workspace over the rank

	levelled bool           // coarse was asked for
	coarse   *LowRankEngine // on the coarser factor, nil where there is none
	ratio    []float64      // c over the coarser kernel's, where G stands
	rated    bool           // ratio is that of G
}

// blockBytes is the size of the blocks in which R' passes through BLAS, at most.
const blockBytes = 4 << 20

// keptBytes is the size up to which L^-1 R' is kept.
const keptBytes = 128 << 20

// siteBlock is the number of sites in such a block.
func siteBlock(n, rank int) int {
	return min(n, max(64, min(4096, blockBytes/(8*max(1, rank)))))
}

// NewLowRankEngine returns an engine on k, which it does not change. Several engines
// may share one factor.
func NewLowRankEngine(k *LowRankPlusDiag) *LowRankEngine {
	e := &LowRankEngine{k: k}
	n, r := k.n, k.rank
	for _, v := range []*[]float64{&e.d, &e.inverse, &e.spread, &e.chi, &e.b, &e.scale} {
		*v = make([]float64, n)
	}
	e.lower, e.form, e.half = newGeneral(r, r), newGeneral(r, r), newGeneral(r, r)
	e.work, e.twin = newGeneral(r, siteBlock(n, r)), newGeneral(r, siteBlock(n, r))
	e.small = make([]float64, r)
	if r > 0 && 8*n*r <= keptBytes {
		e.solved = newGeneral(r, n)
	}
	return e
}

// N is the order of K~.
func (e *LowRankEngine) N() int { return e.k.n }

// Diag is diag(G) and 1 - d diag(G).
func (e *LowRankEngine) Diag() (chi, b []float64) { return e.chi, e.b }

// Precisions is the d at which G stands.
func (e *LowRankEngine) Precisions() []float64 { return e.d }

// Bytes is the memory that the engine holds, the factor included.
func (e *LowRankEngine) Bytes() int64 {
	return e.k.Bytes() + e.workBytes()
}

// workBytes is what the engine holds beside the factor, those on coarser factors
// included.
func (e *LowRankEngine) workBytes() int64 {
	r := int64(e.k.rank)
	bytes := 8 * (3*r*r + 2*r*int64(e.work.Cols) + 6*int64(e.k.n) + int64(len(e.solved.Data)))
	if e.coarse != nil {
		bytes += e.coarse.workBytes() + 16*int64(e.k.n)
	}
	return bytes
}

// FormG does nothing: all of G follows from R and L.
func (e *LowRankEngine) FormG() {}

// RankUpdate refuses: a refresh costs no more.
func (e *LowRankEngine) RankUpdate([]int, []float64) error { return ErrUpdate }

// eachBlock calls f for blocks of sites with room for them in work and twin.
func (e *LowRankEngine) eachBlock(f func(first, last int, work, twin blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for first := 0; first < e.k.n; first += e.work.Cols {
		last := min(e.k.n, first+e.work.Cols)
		f(first, last, colsOf(e.work, 0, last-first), colsOf(e.twin, 0, last-first))
	}
}

// Factorize moves G to d.
func (e *LowRankEngine) Factorize(d []float64) error {
	if err := checkSites(d, e.k.n); err != nil {
		return err
	}
	copy(e.d, d)
	e.rated = false
	for i, v := range d {
		e.inverse[i] = 1 / (1 + v*e.k.residual[i])
		e.scale[i] = math.Sqrt(v * e.inverse[i])
	}
	clear(e.lower.Data)
	for q := range e.k.rank {
		e.lower.Data[q*e.lower.Stride+q] = 1
	}
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		e.k.block(work, first, last, e.scale)
		addGram(e.lower, work, work)
	})
	if minor := blas.Bound().Potrf(gblas.Lower, e.k.rank, e.lower.Data, e.lower.Stride); minor != 0 {
		return &PivotError{Minor: minor, N: e.k.rank}
	}
	e.diagonals()
	return nil
}

// closeToOne is the leverage h = 1 - b e from which on 1 - h is summed from
// squares instead: the difference would lose 1e-16/(1-h).
const closeToOne = 1 - 1e-3

// diagonals reads chi and b off the columns v of L^-1 R':
//
//	chi = delta/e + |v|^2/e^2,   b = (1 - h)/e,   h = w |v|^2 in [0, 1).
func (e *LowRankEngine) diagonals() {
	clear(e.spread)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		if e.kept() {
			work = colsOf(e.solved, first, last)
		}
		e.k.block(work, first, last, nil)
		solveLower(e.lower, work)
		addSquares(e.spread[first:last], work)
	})
	var heavy []int
	for i, v := range e.spread {
		h := e.scale[i] * e.scale[i] * v
		e.b[i] = (1 - h) * e.inverse[i]
		e.spread[i] = v * e.inverse[i] * e.inverse[i]
		e.chi[i] = e.k.residual[i]*e.inverse[i] + e.spread[i]
		if h > closeToOne {
			heavy = append(heavy, i)
		}
	}
	for first := 0; first < len(heavy); first += manyPivots {
		e.complements(heavy[first:min(len(heavy), first+manyPivots)])
	}
}

// kept reports whether L^-1 R' is.
func (e *LowRankEngine) kept() bool { return len(e.solved.Data) > 0 }

// factor is L^-1 R' at sites first to last-1 where it is kept, else R' there, in
// work.
func (e *LowRankEngine) factor(work blas64.General, first, last int) blas64.General {
	if e.kept() {
		return colsOf(e.solved, first, last)
	}
	e.k.block(work, first, last, nil)
	return work
}

// addSquares adds the squared norms of the columns of a to sums.
func addSquares(sums []float64, a blas64.General) {
	for q := range a.Rows {
		for i, v := range a.Data[q*a.Stride : q*a.Stride+len(sums)] {
			sums[i] += v * v
		}
	}
}

// complements computes 1 - h of the listed sites without the difference. h_i is a
// diagonal element of the projector P on the columns of [w^1/2 R; I], and
//
//	(1 - h_i) h_i = sum_{j != i} P_ij^2,   P_ij = (w_i w_j)^1/2 v_i'v_j,
//
// where j runs over the N sites and the rank rows of I, for which P is w_i^1/2
// L^-T v_i. There are at most 2 rank such sites with h > 1/2, as the h sum to no
// more than the rank.
func (e *LowRankEngine) complements(sites []int) {
	r, m := e.k.rank, len(sites)
	v, sums := newGeneral(r, m), make([]float64, m)
	for c, site := range sites {
		e.k.block(colsOf(v, c, c+1), site, site+1, e.scale)
	}
	solveLower(e.lower, v)
	back := newGeneral(r, m)
	copy(back.Data, v.Data)
	blas64.Trsm(gblas.Left, gblas.Trans, 1, e.triangle(), back)
	addSquares(sums, back)
	p := newGeneral(m, e.work.Cols)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		e.k.block(work, first, last, e.scale)
		solveLower(e.lower, work)
		part := colsOf(p, 0, last-first)
		blas64.Gemm(gblas.Trans, gblas.NoTrans, 1, v, work, 0, part)
		for c, site := range sites {
			for i, element := range part.Data[c*part.Stride : c*part.Stride+last-first] {
				if first+i != site {
					sums[c] += element * element
				}
			}
		}
	})
	for c, site := range sites {
		h := 0.0
		for q := range r {
			h += v.Data[q*v.Stride+c] * v.Data[q*v.Stride+c]
		}
		e.b[site] = sums[c] / h * e.inverse[site]
	}
}

// triangle is L as BLAS takes it.
func (e *LowRankEngine) triangle() blas64.Triangular {
	return blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: e.k.rank, Stride: e.lower.Stride, Data: e.lower.Data}
}

// solve overwrites t with M^-1 t.
func (e *LowRankEngine) solve(t []float64) {
	if len(t) == 0 {
		return
	}
	blas64.Trsv(gblas.NoTrans, e.triangle(), vector(t))
	blas64.Trsv(gblas.Trans, e.triangle(), vector(t))
}

// MulVecOffDiag is dst = (G - diag(G)) x. The diagonal is taken off U U', which loses
// a factor 1/b of precision.
func (e *LowRankEngine) MulVecOffDiag(dst, x []float64) {
	for i, v := range x {
		e.scale[i] = v * e.inverse[i]
	}
	e.k.mulTrans(e.small, e.scale)
	e.solve(e.small)
	e.k.mul(dst, e.small)
	for i, v := range dst {
		dst[i] = v*e.inverse[i] - e.spread[i]*x[i]
	}
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *LowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	clear(dst)
	e.quadraticForm(x)
	if !e.kept() {
		e.toPivots()
	}
	for q := range e.k.rank { // half the diagonal: x'S x is twice x' times its lower triangle times x
		row := e.form.Data[q*e.form.Stride : (q+1)*e.form.Stride]
		row[q] /= 2
		clear(row[q+1:])
	}
	e.eachBlock(func(first, last int, work, twin blas64.General) {
		v := e.factor(work, first, last)
		mulLower(twin, e.form, v)
		addProducts(dst[first:last], v, twin)
	})
	for i, v := range dst {
		dst[i] = 2*v*e.inverse[i]*e.inverse[i] - e.spread[i]*e.spread[i]*x[i]
	}
}

// addProducts adds the inner products of the columns of a and b to sums.
func addProducts(sums []float64, a, b blas64.General) {
	for q := range a.Rows {
		other := b.Data[q*b.Stride : q*b.Stride+len(sums)]
		for i, v := range a.Data[q*a.Stride : q*a.Stride+len(sums)] {
			sums[i] += v * other[i]
		}
	}
}

// quadraticForm leaves L^-1 (R' diag(x/e^2) R) L^-T in form, all of it.
func (e *LowRankEngine) quadraticForm(x []float64) {
	for i, v := range x {
		e.scale[i] = v * e.inverse[i] * e.inverse[i]
	}
	clear(e.form.Data)
	e.eachBlock(func(first, last int, work, twin blas64.General) {
		v := e.factor(work, first, last)
		for q := range v.Rows {
			to := twin.Data[q*twin.Stride : q*twin.Stride+last-first]
			for i, w := range v.Data[q*v.Stride : q*v.Stride+last-first] {
				to[i] = w * e.scale[first+i]
			}
		}
		addGram(e.form, v, twin)
	})
	mirrorLower(e.form)
	if !e.kept() {
		e.bothSides(func(a blas64.General) { solveLower(e.lower, a) })
	}
}

// toPivots turns form, S, into L^-T S L^-1: from the basis of L^-1 R' to that of R'.
func (e *LowRankEngine) toPivots() {
	e.bothSides(func(a blas64.General) { blas64.Trsm(gblas.Left, gblas.Trans, 1, e.triangle(), a) })
}

// bothSides turns form, S, into A S A', where solve overwrites its argument with A
// times it: A (A S)' for a symmetric S.
func (e *LowRankEngine) bothSides(solve func(a blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for range 2 {
		solve(e.form)
		transpose(e.half, e.form)
		e.form, e.half = e.half, e.form
	}
}

// mirrorLower copies the lower triangle of a onto the upper one.
func mirrorLower(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

func transpose(dst, a blas64.General) {
	for i := range a.Rows {
		for j := range a.Cols {
			dst.Data[j*dst.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

// Row copies row i of G into dst. Several goroutines may read rows at a time.
func (e *LowRankEngine) Row(dst []float64, i int) {
	x := make([]float64, e.k.rank)
	e.k.block(blas64.General{Rows: e.k.rank, Cols: 1, Stride: 1, Data: x}, i, i+1, nil)
	e.solve(x)
	e.k.mul(dst, x)
	for j := range dst {
		dst[j] *= e.inverse[i] * e.inverse[j]
	}
	dst[i] = e.chi[i]
}

// InputDim is the rank: a new input is described by its coordinates (see
// LowRank.Coordinates), at least 1.
func (e *LowRankEngine) InputDim() int { return max(1, e.k.rank) }

// Predictor reads off at coordinates phi, where the kernel vector is R phi,
//
//	mean = phi' R' weights,   t = (R phi)'(I + diag(d)K~)^-1 = (1/e) o R M^-1 phi,
//	variance = phi' S phi,    S = M^-1 R' diag(scatter/e^2) R M^-1,
//
// in O(rank^2). The new input has no share in any site's residual.
func (e *LowRankEngine) Predictor(weights, scatter []float64) Predictor {
	p := &projection{form: newGeneral(e.k.rank, e.k.rank), weights: make([]float64, e.k.rank)}
	e.k.mulTrans(p.weights, weights)
	e.quadraticForm(scatter)
	e.toPivots()
	copy(p.form.Data, e.form.Data)
	return p
}

// projection predicts from coordinates.
type projection struct {
	weights []float64
	form    blas64.General
}

// Predict writes mean and variance of P new inputs from rows, P x rank.
func (p *projection) Predict(rows, mean, variance []float64) {
	r := len(p.weights)
	if r == 0 {
		clear(mean)
		clear(variance)
		return
	}
	at := blas64.General{Rows: len(mean), Cols: r, Stride: r, Data: rows}
	formed := newGeneral(len(mean), r)
	if len(mean) > 0 {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, at, p.form, 0, formed)
	}
	for i := range mean {
		mean[i], variance[i] = 0, 0
		for q, v := range rows[i*r : (i+1)*r] {
			mean[i] += v * p.weights[q]
			variance[i] += v * formed.Data[i*formed.Stride+q]
		}
		variance[i] = math.Max(0, variance[i])
	}
}
