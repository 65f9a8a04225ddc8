package linalg

import (
	"errors"
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// Exclusive is a kernel whose engine works in memory that the kernel owns: one user at a
// time may write there. It is one that is held whole.
type Exclusive interface {
	Kernel
	// Reserve and Share are those of Sym.
	Reserve() (release func(), err error)
	Share() (release func(), err error)
}

// WithBias is the limit of k + c 11' as c grows without bound: the kernel of a predictor with a bias, a
// constant that costs nothing. Its elements are infinite; At, Check and Eigenvalues are those of k.
func WithBias[K *Sym | *LowRankPlusDiag](k K) Kernel {
	switch k := any(k).(type) {
	case *Sym:
		return biasedSym{k}
	case *LowRankPlusDiag:
		return biasedLowRank{k}
	}
	panic("linalg: no such kernel")
}

type biasedSym struct{ *Sym }

func (k biasedSym) Engine() Engine {
	dense := NewCholeskyEngine(k.Sym)
	return &biasedDense{newBiasEngine(dense), dense}
}

type biasedLowRank struct{ *LowRankPlusDiag }

func (k biasedLowRank) Engine() Engine { return newBiasEngine(newLowRankEngine(k.LowRankPlusDiag)) }

// FactorOf is the factor that a kernel consists of, a bias apart; nil where there is none.
func FactorOf(k Kernel) *LowRankPlusDiag {
	switch k := k.(type) {
	case *LowRankPlusDiag:
		return k
	case biasedLowRank:
		return k.LowRankPlusDiag
	}
	return nil
}

// biasEngine is the engine on the limit of K + c 11' as c grows. With G0 that of K,
//
//	z = (I + K diag(d))^-1 1 = 1 - G0 d,   w = d'z,
//	G = G0 + c z z'/(1 + c w)  ->  G0 + z z'/w,
//
// by Sherman and Morrison: one product and one rank-one term beside what the engine on K does. G d = 1: what
// all sites share is fixed by them alone. At a new input z(x) = 1 - k(x)'(I + diag(d)K)^-1 d continues z, and
// t(x) = t0(x) + z z(x)/w (theory 14). Where all d are 0 there is no limit, and Factorize refuses.
type biasEngine struct {
	base               // on K; all of its G is formed by Factorize
	sites   core.Sites // d, chi and b of the limit
	z       []float64
	w       float64
	product []float64 // workspace, as are the next two
	turned  []float64
	after   []float64
}

// base is an engine that a bias can be added to.
type base interface {
	Engine
	// coefficients of a row that describes a new input give k(x)'(I + diag(d)K)^-1 field.
	coefficients(field []float64) []float64
	copyG(dst blas64.General)
	product32() Product32
}

// ErrNoBias says that nothing fixes the bias.
var ErrNoBias = errors.New("nothing fixes the bias: all site precisions are 0")

// newBiasEngine adds a bias to the engine on K, which it takes over.
func newBiasEngine(inner base) *biasEngine {
	n := len(inner.Precisions())
	v := func() []float64 { return make([]float64, n) }
	return &biasEngine{base: inner, sites: core.NewSites(n), z: v(), product: v(), turned: v(), after: v()}
}

func (e *biasEngine) Diag() (chi, b []float64) { return e.sites.Chi, e.sites.B }

// Factorize computes G0, all of it, and z. It refuses with ErrNoBias where all d are 0.
func (e *biasEngine) Factorize(d []float64) error {
	if err := e.base.Factorize(d); err != nil {
		return err
	}
	return e.addBias()
}

// addBias computes z, w, chi and b from G0. With s_i = sum_{j != i} G0_ij d_j, z_i = b0_i - s_i and
//
//	chi_i = chi0_i + z_i^2/w,   b_i = b0_i w_i/w,   w_i = sum_{j != i} d_j z_j + d_i z_i s_i/b0_i,
//
// where w_i is w without site i: the difference w - d_i z_i^2/b0_i would lose digits where
// one site carries most of w.
func (e *biasEngine) addBias() error {
	e.FormG()
	d := e.Precisions()
	e.sites.MoveTo(d)
	chi, b := e.base.Diag()
	e.base.MulVecOffDiag(e.product, d)
	e.w = 0
	for i, s := range e.product {
		e.z[i] = b[i] - s
		e.turned[i] = d[i] * e.z[i]
		e.w += e.turned[i]
	}
	if !(e.w > 0) {
		return ErrNoBias
	}
	e.eachWithout(func(i int, others float64) {
		if own := d[i] * e.z[i]; own != 0 {
			others += own * e.product[i] / b[i]
		}
		e.sites.Chi[i] = chi[i] + e.z[i]*e.z[i]/e.w
		e.sites.B[i] = b[i] * math.Max(0, others) / e.w
	})
	return nil
}

// eachWithout calls f for every element of turned with the sum of the others: of those
// before and those after, so that nothing is subtracted.
func (e *biasEngine) eachWithout(f func(i int, others float64)) {
	before, after := 0.0, 0.0
	for i := len(e.turned) - 1; i >= 0; i-- {
		e.after[i] = after
		after += e.turned[i]
	}
	for i, v := range e.turned {
		f(i, before+e.after[i])
		before += v
	}
}

func (e *biasEngine) MulVecOffDiag(dst, x []float64) {
	e.base.MulVecOffDiag(dst, x)
	for i, v := range x {
		e.turned[i] = e.z[i] * v
	}
	e.eachWithout(func(i int, others float64) { dst[i] += e.z[i] * others / e.w })
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G, by two products of the engine on K:
//
//	G o G = G0 o G0 + 2/w diag(z) G0 diag(z) + (z o z)(z o z)'/w^2.
func (e *biasEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.base.MulVecSquaredOffDiag(dst, x)
	for i, v := range x {
		e.turned[i] = e.z[i] * v
	}
	e.base.MulVecOffDiag(e.product, e.turned)
	for i := range e.turned {
		e.turned[i] *= e.z[i]
	}
	e.eachWithout(func(i int, others float64) {
		share := e.z[i] / e.w
		dst[i] += share * (2*e.product[i] + share*others)
	})
}

func (e *biasEngine) MulRows(dst, x blas64.General) {
	e.base.MulRows(dst, x)
	sums := make([]float64, x.Rows)
	for r := range sums {
		sums[r] = floats.Dot(e.z, x.Data[r*x.Stride:r*x.Stride+x.Cols])
	}
	for r, sum := range sums {
		blas64.Axpy(sum/e.w, core.Vector(e.z), core.Vector(dst.Data[r*dst.Stride:r*dst.Stride+dst.Cols]))
	}
}

func (e *biasEngine) copyG(dst blas64.General) {
	e.base.copyG(dst)
	if dst.Rows > 0 {
		blas64.Ger(1/e.w, core.Vector(e.z), core.Vector(e.z), dst)
	}
	for i, v := range e.sites.Chi {
		dst.Data[i*dst.Stride+i] = v
	}
}

func (e *biasEngine) Row(dst []float64, i int) {
	e.base.Row(dst, i)
	floats.AddScaled(dst, e.z[i]/e.w, e.z)
	dst[i] = e.sites.Chi[i]
}

// product32 is that of the engine on K, and z.
func (e *biasEngine) product32() Product32 {
	p := &biased32{inner: e.base.product32(), z: make([]float32, len(e.z)), part: make([]float32, len(e.z))}
	for i, z := range e.z {
		p.z[i], p.part[i] = float32(z), float32(z/e.w)
	}
	return p
}

// biased32 is G - diag(G), G = G0 + z part', inner the product with G0 - diag(G0).
type biased32 struct {
	inner   Product32
	z, part []float32
}

func (p *biased32) MulRows(dst, x blas32.General) {
	p.inner.MulRows(dst, x)
	sums := vector32(make([]float32, x.Rows))
	if x.Rows > 0 && x.Cols > 0 {
		blas32.Gemv(gblas.NoTrans, 1, x, vector32(p.part), 0, sums)
		blas32.Ger(1, sums, vector32(p.z), dst)
	}
	for r := range x.Rows {
		to := dst.Data[r*dst.Stride:]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+x.Cols] {
			to[i] -= p.z[i] * p.part[i] * v
		}
	}
}

func vector32(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

// Predictor reads off t(x) = t0(x) + z z(x)/w, with s for the scatter:
//
//	t'field = t0'field + z(x) z'field/w,
//	sum_j t_j^2 s_j = sum_j t0_j^2 s_j + 2 z(x)/w t0'(z o s) + z(x)^2/w^2 z'(z o s).
func (e *biasEngine) Predictor(field, scatter []float64) Predictor {
	turned := make([]float64, len(e.z))
	for i, z := range e.z {
		turned[i] = z * scatter[i]
	}
	return &biasPredictor{
		inner:     e.base.Predictor(field, scatter),
		level:     e.base.coefficients(e.Precisions()),
		cross:     e.base.coefficients(turned),
		perLevel:  floats.Dot(e.z, field) / e.w,
		perCross:  2 / e.w,
		perSquare: floats.Dot(e.z, turned) / (e.w * e.w),
	}
}

// biasPredictor adds to what t0 gives the terms in z(x) = 1 - row'level.
type biasPredictor struct {
	inner                         Predictor
	level, cross                  []float64 // coefficients of the rows
	perLevel, perCross, perSquare float64
}

func (p *biasPredictor) Predict(rows, mean, variance []float64) {
	width := 0
	if len(mean) > 0 {
		width = len(rows) / len(mean)
	}
	z, cross := make([]float64, len(mean)), make([]float64, len(mean))
	for i := range mean {
		z[i] = 1
		row := rows[i*width : (i+1)*width]
		for q, v := range p.level {
			z[i] -= row[q] * v
			cross[i] += row[q] * p.cross[q]
		}
	}
	p.inner.Predict(rows, mean, variance)
	for i, z := range z {
		mean[i] += z * p.perLevel
		variance[i] = math.Max(0, variance[i]+z*(p.perCross*cross[i]+z*p.perSquare))
	}
}

// biasedDense is the engine on a K that is held whole, with a bias.
type biasedDense struct {
	*biasEngine
	dense *CholeskyEngine
}

// RankUpdate updates G0.
func (e *biasedDense) RankUpdate(sites []int, delta []float64) error {
	err := e.dense.RankUpdate(sites, delta)
	return errors.Join(err, e.addBias())
}

// FactorizeSingle is Factorize with G0 in single precision.
func (e *biasedDense) FactorizeSingle(d []float64) error {
	if err := e.dense.FactorizeSingle(d); err != nil {
		return err
	}
	if err := e.addBias(); err != nil {
		return errors.Join(ErrSingle, err)
	}
	if !e.sites.Positive() {
		return ErrSingle
	}
	return nil
}

func (e *biasedDense) SingleError(d []float64) float64 { return e.dense.SingleError(d) }

func (e *biasedDense) UseFactor(d []float64, maxBytes int64) (rank int, used bool) {
	return e.dense.UseFactor(d, maxBytes)
}

// biasOf is what an engine with a bias adds; nil without one.
func biasOf(e Engine) *biasEngine {
	if dense, ok := e.(*biasedDense); ok {
		return dense.biasEngine
	}
	bias, _ := e.(*biasEngine)
	return bias
}

// Responses writes t(x)' = k(x)'(I + diag(d)K)^-1 = k(x)' - k(x)'diag(d)G, P x N, for new inputs
// with the given kernel vectors, P x N; with a bias the limit of that, to which z/w is added.
func Responses(e Engine, k blas64.General) blas64.General {
	t := blas64.General{Rows: k.Rows, Cols: k.Cols, Stride: k.Cols, Data: make([]float64, k.Rows*k.Cols)}
	const block = 256
	buffer := make([]float64, min(block, k.Rows)*k.Cols)
	for first := 0; first < k.Rows; first += block {
		last := min(first+block, k.Rows)
		weighted := blas64.General{Rows: last - first, Cols: k.Cols, Stride: k.Cols,
			Data: buffer[:(last-first)*k.Cols]}
		scaleColumns(weighted, core.Rows(k, first, last), e.Precisions())
		e.MulRows(core.Rows(t, first, last), weighted)
	}
	bias := biasOf(e)
	for r := range k.Rows {
		row := t.Data[r*t.Stride : r*t.Stride+t.Cols]
		for i, v := range k.Data[r*k.Stride : r*k.Stride+k.Cols] {
			row[i] = v - row[i]
			if bias != nil {
				row[i] += bias.z[i] / bias.w
			}
		}
	}
	return t
}

// BiasVariance is z(x)/w at a new input with kernel vector k, 0 without a bias: with t of Responses,
//
//	G(x, x) = K(x, x) - t(x)'(d o k) + z(x)/w.
func BiasVariance(e Engine, k []float64) float64 {
	bias := biasOf(e)
	if bias == nil {
		return 0
	}
	at, d := 1.0, e.Precisions()
	for j, v := range k {
		at -= v * d[j] * bias.z[j]
	}
	return at / bias.w
}
