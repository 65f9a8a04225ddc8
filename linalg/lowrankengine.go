package linalg

import (
	"cmp"
	"errors"
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// lowRankEngine is the engine on K~ = R R' + diag(delta). With e = 1 + d delta and
// w = d/e, and M = I + R' diag(w) R = L L' of the order of the rank,
//
//	G = diag(a) + U U',   a = delta/e,   U = diag(1/e) R L^-T,
//
// which follows from (M03-63) by Woodbury without cancellation (as a Gaussian process this is FITC: Snelson
// and Ghahramani 2006). Factorize costs 2 N r^2 flops and so does a product with G o G, because
//
//	sum_j (u_i'u_j)^2 x_j = u_i' (U' diag(x) U) u_i.
//
// Blocks of R' pass through BLAS. Factorize keeps L^-1 R' if that takes little memory; else products use R',
// and L enters the matrix between.
type lowRankEngine struct {
	k       *LowRankPlusDiag
	d       []float64      // the d of G
	inverse []float64      // 1/e
	uNorm2  []float64      // |u_i|^2 = chi_i - a_i
	chi, b  []float64      // diag(G), 1 - d chi
	lower   blas64.General // L
	solved  blas64.General // L^-1 R', rank x N, if it is kept
	refine  bool           // L and L^-1 R' are computed twice, see orthonormalize
	rough   bool           // in single precision where that suffices

	scale              []float64      // workspace over the sites
	form, lowerInverse blas64.General // and rank x rank
	lanes              lanes
}

// blockBytes is the size of the blocks in which R' passes through BLAS, up to a rank of 1024.
const blockBytes = 4 << 20

// keptBytes is the size up to which L^-1 R' is kept. Beyond that it takes as much memory as R and saves no
// time: waves, n = 50000, rank 200, 2.5 s of processor time and 156 MiB without it, 2.6 s and 289 MiB with
// it.
const keptBytes = 16 << 20

// siteBlock is the number of sites in such a block: it fits the cache, but dsyrk and dtrmm are still fast.
func siteBlock(n, rank int) int {
	return min(n, max(512, min(1024, blockBytes/(8*max(1, rank)))))
}

// newLowRankEngine returns an engine on k, which it does not change. Several engines may share one factor.
// refine keeps it accurate for an ill-conditioned M.
func newLowRankEngine(k *LowRankPlusDiag, refine bool) *lowRankEngine {
	v, r := func() []float64 { return make([]float64, k.n) }, k.rank
	e := &lowRankEngine{k: k, d: v(), inverse: v(), uNorm2: v(), chi: v(), b: v(), scale: v(), refine: refine,
		lower: newGeneral(r, r), form: newGeneral(r, r), lowerInverse: newGeneral(r, r),
		lanes: newLanes(k.n, r)}
	if (refine || 8*k.n*r <= keptBytes) && r > 0 {
		e.solved = newGeneral(r, k.n)
	}
	return e
}

func (e *lowRankEngine) Diag() (chi, b []float64) { return e.chi, e.b }
func (e *lowRankEngine) Precisions() []float64    { return e.d }
func (e *lowRankEngine) Valid() bool              { return true } // it shares no memory
func (e *lowRankEngine) FormG()                   {}              // all of G follows from R and L

// Factorize computes M, its factor L, L^-1 R', and from its columns chi and b.
func (e *lowRankEngine) Factorize(d []float64) error {
	if err := core.Check(d, e.k.n); err != nil {
		return err
	}
	copy(e.d, d)
	e.lanes.setSingle(e.rough)
	err := e.factorize()
	if e.rough && (err != nil || slices.Min(e.b) < leastRough) {
		e.lanes.setSingle(false)
		err = e.factorize()
	}
	return err
}

// SingleError is 2^-24 (1 + max d_i K_ii): chi errs by some roundings, and b by those of 1 - d chi.
func (e *lowRankEngine) SingleError(d []float64) float64 {
	if !e.canSingle() || e.rough || len(d) != e.k.n {
		return math.Inf(1)
	}
	most := 0.0
	for i, v := range d {
		most = math.Max(most, v*e.k.diag[i])
	}
	return 0x1p-24 * (1 + most)
}

// canSingle reports whether the passes over R' can be in single precision.
func (e *lowRankEngine) canSingle() bool {
	_, fast := blas.Bound().(blas.Single)
	return fast && !e.kept() && !e.refine
}

// FactorizeSingle is Factorize by passes in single precision.
func (e *lowRankEngine) FactorizeSingle(d []float64) error {
	if err := core.Check(d, e.k.n); err != nil || !e.canSingle() {
		return cmp.Or(err, ErrSingle)
	}
	copy(e.d, d)
	e.lanes.setSingle(true)
	defer e.lanes.setSingle(e.rough)
	if err := e.factorize(); err != nil {
		return errors.Join(ErrSingle, err)
	}
	return nil
}

// leastRough is the least b = 1 - d chi for single precision: the relative error of (G o G) x is about
// 1e-7/b^2 at sites that no other explains.
const leastRough = 1e-3

func (e *lowRankEngine) factorize() error {
	for i, v := range e.d {
		e.inverse[i] = 1 / (1 + v*e.k.residual[i])
		e.scale[i] = math.Sqrt(v * e.inverse[i])
	}
	if err := e.k.weightedGram(e.lower, e.lanes, e.scale); err != nil {
		return err
	}
	if err := e.solveFactor(); err != nil {
		return err
	}
	e.diagonals()
	return nil
}

// solveFactor computes L^-1 R', keeps it if small, and writes the squared norms of its columns to uNorm2. It
// multiplies by the inverse of L, since substitution in blocks is slow.
func (e *lowRankEngine) solveFactor() error {
	inverse, zero := e.lowerInverse, 0
	copyLower(inverse, e.lower)
	e.lanes.oneThread(func() {
		zero = blas.Bound().Trtri(gblas.Lower, e.k.rank, inverse.Data, inverse.Stride)
	})
	if zero != 0 {
		return &PivotError{Minor: zero, N: e.k.rank}
	}
	e.lanes.norms(e.uNorm2, e.k.panels, inverse, e.solved)
	if e.refine {
		return e.orthonormalize(inverse)
	}
	return nil
}

// orthonormalize is the second pass of CholeskyQR2 (Yamamoto et al. 2015) on the columns of diag(w)^1/2 R
// above I: of V = L^-1 R' and L^-1 it computes M2 = V diag(w) V' + L^-1 L^-T = L2 L2', near I, and replaces V
// by L2^-1 V and L by L L2; inverse is L^-1. The error of one pass is the condition of M times rounding; the
// second removes most of it.
func (e *lowRankEngine) orthonormalize(inverse blas64.General) error {
	m := e.form
	clear(m.Data)
	addGram(m, 1, inverse)
	e.lanes.gram(m, e.basis(), e.scale)
	if err := factorizeLower(m); err != nil {
		return err
	}
	clear(e.uNorm2)
	e.lanes.eachBlock(e.k.n, func(_ lane, first, last int) {
		part := e.keptAt(first, last)
		solveLower(m, part)
		addSquares(e.uNorm2[first:last], part)
	})
	copyLower(inverse, e.lower)
	blas.Trmm(gblas.Right, gblas.NoTrans, 1, lowerOf(m), inverse)
	copyLower(e.lower, inverse)
	return nil
}

// rescueLeverage is the leverage h = 1 - b e above which 1 - h is summed from squares: the relative error of
// the difference would be 1e-16/(1-h).
const rescueLeverage = 1 - 1e-3

// heavySites is the number of such sites that are processed at a time.
const heavySites = 128

// diagonals reads chi and b off the norms of the columns v of L^-1 R':
//
//	chi = delta/e + |v|^2/e^2,   b = (1 - h)/e,   h = w |v|^2 in [0, 1).
func (e *lowRankEngine) diagonals() {
	var heavy []int
	for i, v := range e.uNorm2 {
		h := e.scale[i] * e.scale[i] * v
		e.b[i] = (1 - h) * e.inverse[i]
		e.uNorm2[i] = v * e.inverse[i] * e.inverse[i]
		e.chi[i] = e.k.residual[i]*e.inverse[i] + e.uNorm2[i]
		if h > rescueLeverage {
			heavy = append(heavy, i)
		}
	}
	for sites := range slices.Chunk(heavy, heavySites) {
		e.complements(sites)
	}
}

func (e *lowRankEngine) kept() bool { return len(e.solved.Data) > 0 }

// keptAt is L^-1 R' at sites first to last-1, a view.
func (e *lowRankEngine) keptAt(first, last int) blas64.General {
	return core.Cols(e.solved, first, last)
}

// basis is L^-1 R' if it is kept, else R', in panels of its rows.
func (e *lowRankEngine) basis() []blas64.General {
	if e.kept() {
		return []blas64.General{e.solved}
	}
	return e.k.panels
}

// scaledFactor writes L^-1 R' at sites first to last-1, column i times scale_i, into dst.
func (e *lowRankEngine) scaledFactor(dst blas64.General, first, last int, scale []float64) {
	if e.kept() {
		scaleColumns(dst, e.keptAt(first, last), scale[first:last])
		return
	}
	eachPanelRow(e.k.panels, first, last, func(q int, row []float64) {
		floats.MulTo(core.Row(dst, q), row, scale[first:last])
	})
	solveLower(e.lower, dst)
}

func addSquares(sums []float64, a blas64.General) {
	addProducts(sums, a.Rows, a.Stride, a.Data, a.Data)
}

// complements computes 1 - h of the listed sites without cancellation. h_i is a diagonal element of the
// projector P on the columns of [w^1/2 R; I], and
//
//	(1 - h_i) h_i = sum_{j != i} P_ij^2,   P_ij = (w_i w_j)^1/2 v_i'v_j,
//
// where j runs over the N sites and the rank rows of I, for which P is w_i^1/2 L^-T v_i. At most 2 rank sites
// have h > 1/2, since the h sum to at most the rank.
func (e *lowRankEngine) complements(sites []int) {
	r, m := e.k.rank, len(sites)
	v, back, p := newGeneral(r, m), newGeneral(r, m), newGeneral(m, siteBlock(e.k.n, r))
	sums := make([]float64, m)
	for c, site := range sites {
		e.scaledFactor(core.Cols(v, c, c+1), site, site+1, e.scale)
	}
	copy(back.Data, v.Data)
	blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(e.lower), back)
	addSquares(sums, back)
	e.lanes[:1].eachBlock(e.k.n, func(l lane, first, last int) {
		e.scaledFactor(l.work, first, last, e.scale)
		part := core.Cols(p, 0, last-first)
		blas64.Gemm(gblas.Trans, gblas.NoTrans, 1, v, l.work, 0, part)
		for c := range m {
			for i, element := range part.Data[c*part.Stride : c*part.Stride+last-first] {
				if first+i != sites[c] {
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

// MulOffDiag is dst = x (G - diag(G)) = (x U) U' minus the diagonal of U U', a cancellation by a factor 1/b.
func (e *lowRankEngine) MulOffDiag(dst, x blas64.General) {
	core.Parallel(x.Rows, func(r int) { floats.MulTo(core.Row(dst, r), core.Row(x, r), e.inverse) })
	t := e.k.coordinates(dst)
	solveBoth(e.lower, t)
	e.k.vectors(dst, t)
	core.Parallel(x.Rows, func(r int) {
		to := core.Row(dst, r)
		for i, v := range core.Row(x, r) {
			to[i] = to[i]*e.inverse[i] - e.uNorm2[i]*v
		}
	})
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *lowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	u := e.factor()
	u.weighted(e.form, x, e.scale)
	u.forms(dst, e.form)
	for i, v := range e.uNorm2 {
		dst[i] -= v * v * x[i]
	}
}

// rows are the rows u_i of U, perhaps with a further column.
type rows struct {
	*lowRankEngine
	lanes  lanes
	panels []blas64.General // rows of a matrix with columns e_i u_i, or, where L^-1 R' is not kept, e_i L u_i
}

func (e *lowRankEngine) factor() rows { return rows{e, e.lanes, e.basis()} }

// weighted computes S = sum_i x_i u_i u_i'; scale is workspace.
func (u rows) weighted(s blas64.General, x, scale []float64) {
	for i, v := range x {
		scale[i] = math.Copysign(math.Sqrt(math.Abs(v)), v) * u.inverse[i]
	}
	clear(s.Data)
	u.lanes.gram(s, u.panels, scale)
	for i := range s.Rows {
		for j := range i {
			s.Data[j*s.Stride+i] = s.Data[i*s.Stride+j]
		}
	}
	if !u.kept() {
		u.bothSides(gblas.NoTrans, s)
	}
}

// forms writes u_i' A u_i to dst_i for a symmetric A, which it overwrites.
func (u rows) forms(dst []float64, a blas64.General) {
	if !u.kept() {
		u.bothSides(gblas.Trans, a)
	}
	u.lanes.forms(dst, u.panels, a)
	for i, v := range u.inverse {
		dst[i] *= v * v
	}
}

// bothSides replaces S by L^-1 S L^-T (t = NoTrans) or L^-T S L^-1 (Trans): from the basis of R' to the basis
// of L^-1 R', or back. A further column of U stays.
func (e *lowRankEngine) bothSides(t gblas.Transpose, s blas64.General) {
	opposite := gblas.Trans
	if t == gblas.Trans {
		opposite = gblas.NoTrans
	}
	l, top, left := lowerOf(e.lower), core.Rows(s, 0, e.k.rank), core.Cols(s, 0, e.k.rank)
	sideBySide(len(e.lanes), s.Cols, func(_, first, last int) {
		blas64.Trsm(gblas.Left, t, 1, l, core.Cols(top, first, last))
	})
	sideBySide(len(e.lanes), s.Rows, func(_, first, last int) {
		blas64.Trsm(gblas.Right, opposite, 1, l, core.Rows(left, first, last))
	})
}

// Rows copies rows of G into dst.
func (e *lowRankEngine) Rows(dst blas64.General, first int) {
	t := contiguous(dst.Rows, e.k.rank)
	e.k.Rows(t.Data, first, first+dst.Rows)
	solveBoth(e.lower, t)
	e.k.vectors(dst, t)
	scaleColumns(dst, dst, e.inverse)
	for r := range dst.Rows {
		row, i := core.Row(dst, r), first+r
		floats.Scale(e.inverse[i], row)
		row[i] = e.chi[i]
	}
}

// lowRankOf is the engine on a factor, and its bias; nil if there is none.
func lowRankOf(e Engine) (*lowRankEngine, *biasEngine) {
	bias := biasOf(e)
	if bias != nil {
		e = bias.Engine
	}
	low, _ := e.(*lowRankEngine)
	return low, bias
}

// predictor computes at coordinates phi, with the kernel vector R phi,
//
//	mean = phi'v(field),    v(s) = R'(I + diag(d)K~)^-1 s,
//	variance = phi'S phi,   S = M^-1 R' diag(scatter/e^2) R M^-1,
//
// in O(rank^2). A bias makes z(x) = 1 - phi'v(d) one more coordinate, with mean z'field/w and with v(z o
// scatter)/w and z'(z o scatter)/w^2 in S.
func (e *lowRankEngine) predictor(bias *biasEngine, field, scatter []float64) Predictor {
	r := e.k.rank
	order, weights, level := r, e.coefficients(field), []float64(nil)
	if bias != nil {
		order, level = r+1, e.coefficients(e.d)
		weights = append(weights, floats.Dot(bias.z, field)/bias.w)
	}
	form := newGeneral(order, order)
	e.factor().weighted(e.form, scatter, e.scale)
	e.bothSides(gblas.Trans, e.form)
	for q := range r {
		copy(core.Row(form, q), core.Row(e.form, q))
	}
	if bias != nil {
		turned := floats.MulTo(make([]float64, e.k.n), bias.z, scatter)
		for q, v := range append(e.coefficients(turned), floats.Dot(bias.z, turned)/bias.w) {
			form.Data[q*form.Stride+r], form.Data[r*form.Stride+q] = v/bias.w, v/bias.w
		}
	}
	return func(rows, mean, variance []float64) {
		phi, formed := newGeneral(len(mean), order), newGeneral(len(mean), order)
		for i := range mean {
			at := core.Row(phi, i)
			copy(at, rows[i*r:(i+1)*r])
			if bias != nil {
				at[r] = 1 - floats.Dot(at[:r], level)
			}
		}
		core.AddProduct(formed, 1, phi, gblas.NoTrans, form)
		for i := range mean {
			at := core.Row(phi, i)
			mean[i], variance[i] = floats.Dot(at, weights), math.Max(0, floats.Dot(at, core.Row(formed, i)))
		}
	}
}

// coefficients is v(s) = R'(s - d o (G s)).
func (e *lowRankEngine) coefficients(s []float64) []float64 {
	weights := make([]float64, e.k.n)
	MulVecOffDiag(e, weights, s)
	for i, v := range s {
		weights[i] = v - e.d[i]*(weights[i]+e.chi[i]*v)
	}
	return e.k.coordinates(rowOf(weights)).Data
}
