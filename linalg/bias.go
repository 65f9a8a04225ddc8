package linalg

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// WithBias is the limit of k + c 11' as c grows without bound: the kernel of a predictor with an unpenalised
// bias. Its elements are infinite; At, Check and Submatrix are k's.
func WithBias(k Kernel) Kernel { return biased{k} }

type biased struct{ Kernel }

func (k biased) Engine() Engine {
	inner := k.Kernel.Engine()
	e := newBiasEngine(inner)
	if dense, ok := inner.(Dense); ok {
		return &biasedDense{e, dense}
	}
	return e
}

// SymOf is the dense matrix of a kernel, with a bias or without; nil for other kernels. Its engine works in
// the matrix's scratch triangle.
func SymOf(k Kernel) *Sym {
	whole, _ := withoutBias(k).(*Sym)
	return whole
}

// FactorOf is the factor of a low-rank kernel, with a bias or without; nil for other kernels.
func FactorOf(k Kernel) *LowRankPlusDiag {
	factor, _ := withoutBias(k).(*LowRankPlusDiag)
	return factor
}

func withoutBias(k Kernel) Kernel {
	if b, ok := k.(biased); ok {
		return b.Kernel
	}
	return k
}

// biasEngine is the engine on the limit of K + c 11' as c grows. With G0 the G of K,
//
//	z = (I + K diag(d))^-1 1 = 1 - G0 d,   w = d'z,
//	G = G0 + c z z'/(1 + c w)  ->  G0 + z z'/w,
//
// by Sherman and Morrison: one more product and a rank-one term. G d = 1. At a new input z(x) = 1 - k(x)'(I +
// diag(d)K)^-1 d continues z, and t(x) = t0(x) + z z(x)/w (theory 14). If all d are 0 there is no limit, and
// Factorize refuses.
type biasEngine struct {
	Engine            // on K; all of its G is formed by Factorize
	chi, b  []float64 // of the limit
	z       []float64
	w       float64
	product []float64 // workspace, like turned
	turned  []float64
}

// ErrNoBias: all site precisions are 0, and the bias is undetermined.
var ErrNoBias = errors.New("nothing fixes the bias: all site precisions are 0")

// newBiasEngine adds a bias to the engine on K, which it takes over.
func newBiasEngine(inner Engine) *biasEngine {
	n := len(inner.Precisions())
	v := func() []float64 { return make([]float64, n) }
	return &biasEngine{Engine: inner, chi: v(), b: v(), z: v(), product: v(), turned: v()}
}

func (e *biasEngine) Diag() (chi, b []float64) { return e.chi, e.b }

// Factorize computes all of G0, and z. It returns ErrNoBias if all d are 0.
func (e *biasEngine) Factorize(d []float64) error {
	if err := e.Engine.Factorize(d); err != nil {
		return err
	}
	return e.addBias()
}

// addBias computes z, w, chi and b from G0. With s_i = sum_{j != i} G0_ij d_j, z_i = b0_i - s_i and
//
//	chi_i = chi0_i + z_i^2/w,   b_i = b0_i w_i/w,   w_i = sum_{j != i} d_j z_j + d_i z_i s_i/b0_i,
//
// where w_i is w without site i: the difference w - d_i z_i^2/b0_i would cancel if one site has most of w.
func (e *biasEngine) addBias() error {
	e.FormG()
	d := e.Precisions()
	chi, b := e.Engine.Diag()
	MulVecOffDiag(e.Engine, e.product, d)
	e.w = 0
	for i, s := range e.product {
		e.z[i] = b[i] - s
		e.turned[i] = d[i] * e.z[i]
		e.w += e.turned[i]
	}
	if !(e.w > 0) {
		return ErrNoBias
	}
	eachWithout(e.turned, func(i int, others float64) {
		if own := d[i] * e.z[i]; own != 0 {
			others += own * e.product[i] / b[i]
		}
		e.chi[i] = chi[i] + e.z[i]*e.z[i]/e.w
		e.b[i] = b[i] * math.Max(0, others) / e.w
	})
	return nil
}

// eachWithout calls f for every element of x with the sum of the others, computed without subtraction.
func eachWithout(x []float64, f func(i int, others float64)) {
	others := make([]float64, len(x))
	before, after := 0.0, 0.0
	for i := len(x) - 1; i >= 0; i-- {
		others[i] = after
		after += x[i]
	}
	for i, v := range x {
		f(i, before+others[i])
		before += v
	}
}

// MulOffDiag adds the product with z z'/w without its diagonal to that with G0 - diag(G0).
func (e *biasEngine) MulOffDiag(dst, x blas64.General) {
	e.Engine.MulOffDiag(dst, x)
	core.Parallel(x.Rows, func(r int) {
		to := core.Row(dst, r)
		turned := floats.MulTo(make([]float64, len(to)), e.z, core.Row(x, r))
		eachWithout(turned, func(i int, others float64) { to[i] += e.z[i] * others / e.w })
	})
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G, by two products of the engine on K:
//
//	G o G = G0 o G0 + 2/w diag(z) G0 diag(z) + (z o z)(z o z)'/w^2.
func (e *biasEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.Engine.MulVecSquaredOffDiag(dst, x)
	floats.MulTo(e.turned, e.z, x)
	MulVecOffDiag(e.Engine, e.product, e.turned)
	floats.Mul(e.turned, e.z)
	eachWithout(e.turned, func(i int, others float64) {
		fraction := e.z[i] / e.w
		dst[i] += fraction * (2*e.product[i] + fraction*others)
	})
}

// Rows adds the rows of z z'/w to the rows of G0.
func (e *biasEngine) Rows(dst blas64.General, first int) {
	e.Engine.Rows(dst, first)
	if dst.Rows > 0 {
		blas64.Ger(1/e.w, core.Vector(e.z[first:first+dst.Rows]), core.Vector(e.z), dst)
	}
	for r := range dst.Rows {
		dst.Data[r*dst.Stride+first+r] = e.chi[first+r]
	}
}

// biasedDense is the engine on a dense K with a bias.
type biasedDense struct {
	*biasEngine
	dense Dense
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
	if !core.Positive(e.chi) || !core.Positive(e.b) {
		return ErrSingle
	}
	return nil
}

func (e *biasedDense) SingleError(d []float64) float64 { return e.dense.SingleError(d) }

func (e *biasedDense) UseFactor(d []float64, maxBytes int64) (rank int, used bool) {
	return e.dense.UseFactor(d, maxBytes)
}

// biasOf is the bias part of an engine; nil without a bias.
func biasOf(e Engine) *biasEngine {
	if dense, ok := e.(*biasedDense); ok {
		return dense.biasEngine
	}
	bias, _ := e.(*biasEngine)
	return bias
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
