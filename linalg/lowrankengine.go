package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// LowRankEngine is the engine on K~ = R R' + diag(delta). With e = 1 + d delta and
// w = d/e, and M = I + R' diag(w) R = L L' of the order of the rank,
//
//	G = diag(a) + U U',   a = delta/e,   U = diag(1/e) R L^-T,
//
// which follows from (M03-63) by Woodbury and subtracts nothing (as a Gaussian process
// this is FITC: Snelson and Ghahramani 2006). Factorize costs 2 N r^2 flops and so does
// a product with G o G, because
//
//	sum_j (u_i'u_j)^2 x_j = u_i' (U' diag(x) U) u_i.
//
// Blocks of R' pass through BLAS. L^-1 R' is kept from Factorize where that
// takes little memory; else products work on R' and carry L into the matrix between.
type LowRankEngine struct {
	k       *LowRankPlusDiag
	d       []float64      // that of G
	inverse []float64      // 1/e
	uNorm2  []float64      // |u_i|^2 = chi_i - a_i
	chi, b  []float64      // diag(G), 1 - d chi
	lower   blas64.General // L
	solved  blas64.General // L^-1 R', rank x N, where it is kept
	refine  bool           // L and L^-1 R' are computed twice, see orthonormalize
	ws      lowRankWorkspace
	level   coarseLevel
}

// lowRankWorkspace is what an engine of some rank computes in.
type lowRankWorkspace struct {
	scale      []float64      // over the sites
	small      []float64      // over the rank
	form, half blas64.General // rank x rank
	work, twin blas64.General // blocks of R', rank x siteBlock
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
	e.allocate(&core.Plan{}, k.n, k.rank, 8*k.n*k.rank <= keptBytes)
	return e
}

// newRefinedEngine returns an engine on k that keeps its digits where M is as badly
// conditioned as sum d_i K_ii is large.
func newRefinedEngine(k *LowRankPlusDiag) *LowRankEngine {
	e := &LowRankEngine{k: k, refine: true}
	e.allocate(&core.Plan{}, k.n, k.rank, true)
	return e
}

// allocate takes from p what an engine holds beside the factor.
func (e *LowRankEngine) allocate(p *core.Plan, n, r int, keep bool) {
	w := &e.ws
	p.Vectors(n, &e.d, &e.inverse, &e.uNorm2, &e.chi, &e.b, &w.scale)
	p.Vectors(r, &w.small)
	e.lower, w.form, w.half = p.Matrix(r, r), p.Matrix(r, r), p.Matrix(r, r)
	w.work, w.twin = p.Matrix(r, siteBlock(n, r)), p.Matrix(r, siteBlock(n, r))
	if keep && r > 0 {
		e.solved = p.Matrix(r, n)
	}
}

// N is the order of K~.
func (e *LowRankEngine) N() int { return e.k.n }

// Diag is diag(G) and 1 - d diag(G).
func (e *LowRankEngine) Diag() (chi, b []float64) { return e.chi, e.b }

// Precisions is the d of G.
func (e *LowRankEngine) Precisions() []float64 { return e.d }

// Valid is true: the engine shares nothing that others write.
func (e *LowRankEngine) Valid() bool { return true }

// Bytes is the memory that the engine holds, the factor and engines on coarser
// factors included.
func (e *LowRankEngine) Bytes() int64 {
	p := &core.Plan{Dry: true}
	e.countLevels(p)
	return e.k.Bytes() + p.Bytes()
}

func (e *LowRankEngine) countLevels(p *core.Plan) {
	new(LowRankEngine).allocate(p, e.k.n, e.k.rank, e.kept())
	if e.level.engine != nil {
		e.level.engine.countLevels(p)
		p.Vectors(e.k.n, &[]float64{}, &[]float64{}) // its factor's residuals, and the ratios
	}
}

// FormG does nothing: all of G follows from R and L.
func (e *LowRankEngine) FormG() {}

// RankUpdate refuses: Factorize costs no more.
func (e *LowRankEngine) RankUpdate([]int, []float64) error { return ErrUpdate }

// eachBlock calls f for blocks of sites with room for them in work and twin.
func (e *LowRankEngine) eachBlock(f func(first, last int, work, twin blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for first := 0; first < e.k.n; first += e.ws.work.Cols {
		last := min(e.k.n, first+e.ws.work.Cols)
		f(first, last, core.Cols(e.ws.work, 0, last-first), core.Cols(e.ws.twin, 0, last-first))
	}
}

// Factorize computes M, its factor L, L^-1 R', and from its columns chi and b.
func (e *LowRankEngine) Factorize(d []float64) error {
	if err := core.Check(d, e.k.n); err != nil {
		return err
	}
	copy(e.d, d)
	e.level.ratioValid = false
	for i, v := range d {
		e.inverse[i] = 1 / (1 + v*e.k.residual[i])
		e.ws.scale[i] = math.Sqrt(v * e.inverse[i])
	}
	clear(e.lower.Data)
	for q := range e.k.rank {
		e.lower.Data[q*e.lower.Stride+q] = 1
	}
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		e.k.block(work, first, last, e.ws.scale)
		addGram(e.lower, work, work)
	})
	if err := e.factorizeM(e.lower); err != nil {
		return err
	}
	if err := e.solveFactor(); err != nil {
		return err
	}
	e.diagonals()
	return nil
}

// factorizeM overwrites the lower triangle of M with L.
func (e *LowRankEngine) factorizeM(m blas64.General) error {
	if minor := blas.Bound().Potrf(gblas.Lower, m.Rows, m.Data, m.Stride); minor != 0 {
		return &PivotError{Minor: minor, N: m.Rows}
	}
	return nil
}

// solveFactor computes L^-1 R', keeps it where there is room, and leaves the squared
// norms of its columns in uNorm2.
func (e *LowRankEngine) solveFactor() error {
	clear(e.uNorm2)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		if e.kept() {
			work = core.Cols(e.solved, first, last)
		}
		e.k.block(work, first, last, nil)
		solveLower(e.lower, work)
		addSquares(e.uNorm2[first:last], work)
	})
	if e.refine {
		return e.orthonormalize()
	}
	return nil
}

// orthonormalize is the second pass of CholeskyQR2 (Yamamoto et al. 2015) on the
// columns of diag(w)^1/2 R above I: of V = L^-1 R' and L^-1 it computes
// M2 = V diag(w) V' + L^-1 L^-T = L2 L2', near I, and replaces V by L2^-1 V and L by
// L L2. One pass leaves an error of the condition of M times rounding, the second
// removes most of it.
func (e *LowRankEngine) orthonormalize() error {
	r, m, inverse := e.k.rank, e.ws.form, e.ws.half
	copyLower(inverse, e.lower)
	if zero := blas.Bound().Trtri(gblas.Lower, r, inverse.Data, inverse.Stride); zero != 0 {
		return &PivotError{Minor: zero, N: r}
	}
	clear(m.Data)
	addGram(m, inverse, inverse)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		scaleColumns(work, core.Cols(e.solved, first, last), e.ws.scale[first:last])
		addGram(m, work, work)
	})
	if err := e.factorizeM(m); err != nil {
		return err
	}
	clear(e.uNorm2)
	e.eachBlock(func(first, last int, _, _ blas64.General) {
		part := core.Cols(e.solved, first, last)
		solveLower(m, part)
		addSquares(e.uNorm2[first:last], part)
	})
	copyLower(inverse, e.lower)
	blas64.Trmm(gblas.Right, gblas.NoTrans, 1, lowerOf(m), inverse)
	copyLower(e.lower, inverse)
	return nil
}

// rescueLeverage is the leverage h = 1 - b e from which on 1 - h is summed from
// squares instead: the difference would lose 1e-16/(1-h).
const rescueLeverage = 1 - 1e-3

// diagonals reads chi and b off the norms of the columns v of L^-1 R':
//
//	chi = delta/e + |v|^2/e^2,   b = (1 - h)/e,   h = w |v|^2 in [0, 1).
func (e *LowRankEngine) diagonals() {
	var heavy []int
	for i, v := range e.uNorm2 {
		h := e.ws.scale[i] * e.ws.scale[i] * v
		e.b[i] = (1 - h) * e.inverse[i]
		e.uNorm2[i] = v * e.inverse[i] * e.inverse[i]
		e.chi[i] = e.k.residual[i]*e.inverse[i] + e.uNorm2[i]
		if h > rescueLeverage {
			heavy = append(heavy, i)
		}
	}
	for first := 0; first < len(heavy); first += maxBlock {
		e.complements(heavy[first:min(len(heavy), first+maxBlock)])
	}
}

// kept reports whether L^-1 R' is.
func (e *LowRankEngine) kept() bool { return len(e.solved.Data) > 0 }

// factor is L^-1 R' at sites first to last-1 where it is kept, else R' there, in
// work.
func (e *LowRankEngine) factor(work blas64.General, first, last int) blas64.General {
	if e.kept() {
		return core.Cols(e.solved, first, last)
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
	v, back, p := complementsWorkspace(&core.Plan{}, e.k.n, r, m)
	sums := make([]float64, m)
	for c, site := range sites {
		e.column(core.Cols(v, c, c+1), site)
	}
	copy(back.Data, v.Data)
	blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(e.lower), back)
	addSquares(sums, back)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		if e.kept() {
			scaleColumns(work, core.Cols(e.solved, first, last), e.ws.scale[first:last])
		} else {
			e.k.block(work, first, last, e.ws.scale)
			solveLower(e.lower, work)
		}
		part := core.Cols(p, 0, last-first)
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

// complementsWorkspace takes from p what complements computes m sites in.
func complementsWorkspace(p *core.Plan, n, r, m int) (v, back, products blas64.General) {
	return p.Matrix(r, m), p.Matrix(r, m), p.Matrix(m, siteBlock(n, r))
}

// column writes w_i^1/2 v_i into dst, rank x 1.
func (e *LowRankEngine) column(dst blas64.General, site int) {
	if e.kept() {
		scaleColumns(dst, core.Cols(e.solved, site, site+1), e.ws.scale[site:site+1])
		return
	}
	e.k.block(dst, site, site+1, e.ws.scale)
	solveLower(e.lower, dst)
}

// solve overwrites t with M^-1 t.
func (e *LowRankEngine) solve(t []float64) {
	if len(t) == 0 {
		return
	}
	blas64.Trsv(gblas.NoTrans, lowerOf(e.lower), core.Vector(t))
	blas64.Trsv(gblas.Trans, lowerOf(e.lower), core.Vector(t))
}

// MulVecOffDiag is dst = (G - diag(G)) x. The diagonal is subtracted from U U', which loses
// a factor 1/b of precision.
func (e *LowRankEngine) MulVecOffDiag(dst, x []float64) {
	for i, v := range x {
		e.ws.scale[i] = v * e.inverse[i]
	}
	e.k.mulTrans(e.ws.small, e.ws.scale)
	e.solve(e.ws.small)
	e.k.mul(dst, e.ws.small)
	for i, v := range dst {
		dst[i] = v*e.inverse[i] - e.uNorm2[i]*x[i]
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
		row := e.ws.form.Data[q*e.ws.form.Stride : (q+1)*e.ws.form.Stride]
		row[q] /= 2
		clear(row[q+1:])
	}
	e.eachBlock(func(first, last int, work, twin blas64.General) {
		v := e.factor(work, first, last)
		mulLower(twin, e.ws.form, v)
		addProducts(dst[first:last], v, twin)
	})
	for i, v := range dst {
		dst[i] = 2*v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
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
		e.ws.scale[i] = v * e.inverse[i] * e.inverse[i]
	}
	clear(e.ws.form.Data)
	e.eachBlock(func(first, last int, work, twin blas64.General) {
		v := e.factor(work, first, last)
		for q := range v.Rows {
			to := twin.Data[q*twin.Stride : q*twin.Stride+last-first]
			for i, w := range v.Data[q*v.Stride : q*v.Stride+last-first] {
				to[i] = w * e.ws.scale[first+i]
			}
		}
		addGram(e.ws.form, v, twin)
	})
	mirrorLower(e.ws.form)
	if !e.kept() {
		e.bothSides(func(a blas64.General) { solveLower(e.lower, a) })
	}
}

// toPivots turns form, S, into L^-T S L^-1: from the basis of L^-1 R' to that of R'.
func (e *LowRankEngine) toPivots() {
	e.bothSides(func(a blas64.General) { blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(e.lower), a) })
}

// bothSides turns form, S, into A S A', where solve overwrites its argument with A
// times it: A (A S)' for a symmetric S.
func (e *LowRankEngine) bothSides(solve func(a blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for range 2 {
		solve(e.ws.form)
		transpose(e.ws.half, e.ws.form)
		e.ws.form, e.ws.half = e.ws.half, e.ws.form
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
// LowRankPlusDiag.Coordinates), at least 1.
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
	copy(p.form.Data, e.ws.form.Data)
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

// MulRows writes dst = x diag(a) + ((x U) U') by two thin products.
func (e *LowRankEngine) MulRows(dst, x blas64.General) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	scaled := newGeneral(x.Rows, e.k.n)
	t := newGeneral(x.Rows, max(1, e.k.rank))
	t.Cols = e.k.rank
	scaleColumns(scaled, x, e.inverse)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Cols(scaled, first, last), e.factor(work, first, last), 1, t)
	})
	if !e.kept() && e.k.rank > 0 {
		blas64.Trsm(gblas.Right, gblas.Trans, 1, lowerOf(e.lower), t)
		blas64.Trsm(gblas.Right, gblas.NoTrans, 1, lowerOf(e.lower), t)
	}
	scaleColumns(dst, x, e.k.residual) // x e diag(a)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, e.factor(work, first, last), 1, core.Cols(dst, first, last))
	})
	scaleColumns(dst, dst, e.inverse)
}

// thin writes U', rank x N.
func (e *LowRankEngine) thin() blas64.General {
	u := newGeneral(e.k.rank, e.k.n)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		part := core.Cols(u, first, last)
		if e.kept() {
			scaleColumns(part, e.factor(work, first, last), e.inverse[first:last])
			return
		}
		e.k.block(part, first, last, e.inverse)
		solveLower(e.lower, part)
	})
	return u
}

// CopyG multiplies U by itself.
func (e *LowRankEngine) CopyG(dst blas64.General) {
	n := e.k.n
	if n == 0 {
		return
	}
	u := e.thin()
	if e.k.rank == 0 {
		for i := range n {
			clear(dst.Data[i*dst.Stride : i*dst.Stride+n])
		}
	} else {
		blas64.Gemm(gblas.Trans, gblas.NoTrans, 1, u, u, 0, dst)
	}
	for i, v := range e.chi {
		dst.Data[i*dst.Stride+i] = v
	}
}

// Product32 copies U and a.
func (e *LowRankEngine) Product32() Product32 {
	n, r := e.k.n, e.k.rank
	p := &thin32{u: newGeneral32(r, n), diag: make([]float32, n)}
	for i, v := range e.inverse {
		p.diag[i] = float32(e.k.residual[i] * v)
	}
	u := e.thin()
	for q := range r {
		for i, v := range u.Data[q*u.Stride : q*u.Stride+n] {
			p.u.Data[q*p.u.Stride+i] = float32(v)
		}
	}
	return p
}

// thin32 is G = diag + U U'.
type thin32 struct {
	u    blas32.General // U', rank x N
	diag []float32
}

func (p *thin32) MulRows(dst, x blas32.General) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	for r := range x.Rows {
		to := dst.Data[r*dst.Stride:]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+x.Cols] {
			to[i] = v * p.diag[i]
		}
	}
	if p.u.Rows == 0 {
		return
	}
	t := newGeneral32(x.Rows, p.u.Rows)
	blas32.Gemm(gblas.NoTrans, gblas.Trans, 1, x, p.u, 0, t)
	blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, p.u, 1, dst)
}

// FactorizeSingle refuses: low-rank engines work in double precision only.
func (e *LowRankEngine) FactorizeSingle([]float64) error { return ErrSingle }

// SingleError is infinite.
func (e *LowRankEngine) SingleError([]float64) float64 { return math.Inf(1) }

// UseFactor changes nothing: the engine has its factor.
func (e *LowRankEngine) UseFactor([]float64, int64) (rank int, used bool) { return e.k.n, false }
