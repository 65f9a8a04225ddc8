package gp

import (
	"math"

	"bootbench/linalg"
	"bootbench/train"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// NewBiasedEP is NewEP for a model with a bias, a constant mean with a flat prior: the limit
// of the posterior with K + c as c grows. Fit's error is train.ErrNoFiniteBias where the
// examples leave the bias without a posterior.
func NewBiasedEP(k *linalg.Sym, l Likelihood) (*EP, error) {
	e, err := NewEP(k, l)
	if err == nil {
		e.flat = &flatMean{}
	}
	return e, err
}

// flatMean is the share of a bias in the posterior: with S0 that without one,
//
//	v = 1 - S0 t,   w = t'v,   S = S0 + v v'/w,   E bias = v'u/w.
type flatMean struct {
	v []float64
	w float64
}

// add adds the bias to S0, in the upper triangle, and reports whether there is a posterior.
func (f *flatMean) add(cov blas64.Symmetric, t []float64) bool {
	f.v = train.Resize(f.v, len(t))
	for i := range f.v {
		f.v[i] = 1
	}
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
	blas64.Symv(-1, cov, vector(t), 1, vector(f.v))
	if f.w = floats.Dot(t, f.v); !(f.w > 0) {
		return false
	}
	blas64.Syr(1/f.w, vector(f.v), cov)
	return true
}

// mean is the posterior mean of the bias, from the sites' shifts u.
func (f *flatMean) mean(u []float64) float64 { return floats.Dot(f.v, u) / f.w }

// pull is how the likelihoods pull at a constant predictor f: up where it is positive.
func (e *EP) pull(f float64) float64 {
	sum := 0.0
	for i := range e.n {
		y, k := e.set.Of(i)
		_, mean, _ := e.likelihood.TiltedMoments(1, f, y, k)
		sum += mean - f
	}
	return sum
}

// startBiased adds a constant to the prior, which changes nothing beside a flat one and
// gives a unit to sites with K_ii = 0, and starts from sites that hold the bias.
func (e *EP) startBiased() error {
	if e.n > 0 && !(e.pull(e.set.Far()) < 0 && e.pull(-e.set.Far()) > 0) {
		return train.ErrNoFiniteBias
	}
	constant := 0.0
	for i := range e.n {
		constant += e.prior[i*e.n+i] / float64(e.n)
	}
	if constant == 0 {
		constant = 1
	}
	floats.AddConst(constant, e.prior)
	for i := range e.t {
		e.t[i] = 1 / math.Max(e.prior[i*e.n+i], constant)
	}
	return nil
}
