package gp

import (
	"errors"
	"fmt"
	"math"

	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// Likelihood is p(y | f), known by its tilted distributions.
type Likelihood interface {
	// Name is the likelihood's name in messages.
	Name() string
	// TiltedMoments are the logarithm of the mass, the mean and the variance over f of
	//
	//	N(f; h, 1/c) prod_j p(y_j | f)^k_j,
	//
	// for precision c > 0, targets y and counts k_j > 0. p must be log-concave in f.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// The defaults of train.Settings for expectation propagation. The tolerance bounds the distance of the sites'
// moments from the posterior's: means in units of K_ii^1/2, variances in units of K_ii.
const (
	defaultEPTolerance = 1e-8
	defaultEPSweeps    = 1000
)

// EPResult is a posterior with mean F.
type EPResult struct {
	train.Result
	// Residual is the largest distance between the moments, in the units of the tolerance.
	Residual float64
	// Sweeps counts passes over the sites.
	Sweeps int
}

// EP computes posteriors of the model f ~ N(0, K), y_j ~ p(y | f), p log-concave, example j counting k_j
// times, by expectation propagation: the likelihood of site i is replaced by exp(-t_i f^2/2 + u_i f), t_i >=
// 0, so that
//
//	S = (K^-1 + diag(t))^-1,   m = S u,                                    (M03-37..40)
//
// and t_i and u_i are such that the posterior with the true likelihood at site i and those Gaussians at all
// others has mean m_i and variance S_ii (Minka 2001; Rasmussen and Williams 2006, section 3.6). It is exact
// for independent sites and for a Gaussian likelihood.
//
// The sites are updated all at once, damped where they oscillate.
//
// One EP serves one goroutine; those that share a kernel matrix may run at the same time. It takes about 16
// n^2 bytes for n active sites.
type EP struct {
	kernel     *linalg.Sym
	likelihood Likelihood

	set        workspace.Groups
	prior      *linalg.Sym // K between the active sites
	engine     linalg.Engine
	t, u       []float64 // the sites' Gaussians; S and mean follow from these
	newT, newU []float64 // the Gaussians that match the sites' moments
	mean       []float64
	result     EPResult
}

// NewEP returns an EP for the positive semidefinite kernel matrix k (M x M) and likelihood l.
func NewEP(k *linalg.Sym, l Likelihood) (*EP, error) {
	if k == nil || l == nil {
		return nil, errors.New("there is no kernel matrix or no likelihood")
	}
	return &EP{kernel: k, likelihood: l}, k.Check()
}

// Train computes the posterior given set, the prior without examples. The error reports bad input, a bias,
// which a posterior has not, or moments that are not finite; an iteration that ends early returns its last
// iterate and says so in Status.
func (e *EP) Train(set train.Set, s train.Settings) (*EPResult, error) {
	m, r := e.kernel.N(), &e.result
	if set.Bias {
		return nil, errors.New("expectation propagation has no bias: add a constant to the kernel")
	}
	if err := errors.Join(set.Check(m, false), s.Default(defaultEPTolerance, defaultEPSweeps)); err != nil {
		return nil, err
	}
	e.prepare(&set)
	*r = EPResult{Result: workspace.Reuse(&r.Result, m)}
	if err := e.iterate(s, set.Stopped); err != nil {
		return nil, err
	}
	e.writeResult()
	return r, nil
}

// prepare groups the examples by active site, with K_ii > 0, gathers K there, and starts from the prior.
func (e *EP) prepare(set *train.Set) {
	e.set.Gather(set, e.kernel.N(), func(s int) bool { return e.kernel.At(s, s) > 0 })
	n := len(e.set.Active)
	e.prior = linalg.ZeroSym(n)
	raw := e.prior.Raw()
	workspace.GatherUpper(raw.Data, raw.Stride, e.kernel, e.set.Active)
	e.engine = e.prior.Engine()
	workspace.ResizeAll(n, &e.mean, &e.t, &e.u, &e.newT, &e.newU)
	clear(e.t)
	clear(e.u)
}

// Damping is the fraction taken of the sites' step.
const (
	minDamping = 1e-2
	stallStop  = 100 // sweeps without a smaller residual before giving up
)

// iterate updates the sites until their moments are the posterior's.
func (e *EP) iterate(s train.Settings, stopped func() bool) error {
	r := &e.result
	best, last, damping, since := math.Inf(1), math.Inf(1), 1.0, 0
	for r.Sweeps = 1; ; r.Sweeps++ {
		if err := e.engine.Factorize(e.t); err != nil {
			return err
		}
		e.engine.FormG() // S
		var err error
		if r.Residual, err = e.match(); err != nil {
			return err
		}
		if since++; r.Residual < best {
			best, since = r.Residual, 0
		}
		switch {
		case r.Residual <= s.Tolerance:
			r.Status = train.Converged
			return nil
		case stopped():
			r.Status = train.Cancelled
			return nil
		case r.Sweeps >= s.Limit:
			r.Status = train.IterationLimit
			return nil
		case since >= stallStop:
			r.Status = train.NoFixedPoint
			return nil
		case r.Residual > last:
			damping = max(damping/2, minDamping)
		default:
			damping = min(damping*1.1, 1)
		}
		last = r.Residual
		for i := range e.t {
			e.t[i] += damping * (e.newT[i] - e.t[i])
			e.u[i] += damping * (e.newU[i] - e.u[i])
		}
	}
}

// widening is the relative loss of cavity precision that shows a likelihood that is not log-concave.
const widening = 1e-5

// match finds the Gaussians that give the sites the moments of their tilted distributions, from the cavities
//
//	c = 1/S_ii - t_i = b_i/S_ii,   h = (m_i/S_ii - u_i)/c = sum_{j != i} S_ij u_j/b_i,
//
// b_i = 1 - t_i S_ii. It returns the largest distance of these moments from the posterior's.
func (e *EP) match() (residual float64, err error) {
	variance, b := e.engine.Diag()
	linalg.MulVecOffDiag(e.engine, e.mean, e.u)
	for i, site := range e.set.Active {
		c, h := b[i]/variance[i], e.mean[i]/b[i]
		e.mean[i] += variance[i] * e.u[i]
		y, k := e.set.Of(i)
		_, mean, v := e.likelihood.TiltedMoments(c, h, y, k)
		if !(c > 0 && v > 0) || math.IsNaN(mean) || math.IsInf(mean, 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("the %s likelihood has mean %v and variance %v at site %d, for a cavity of "+
				"mean %v and variance %v", e.likelihood.Name(), mean, v, site+1, h, 1/c)
		}
		if 1/v < c*(1-widening) {
			return 0, fmt.Errorf("the %s likelihood widens the posterior at site %d: it must be log-concave",
				e.likelihood.Name(), site+1)
		}
		prior := e.prior.At(i, i)
		residual = max(residual, math.Abs(mean-e.mean[i])/math.Sqrt(prior), math.Abs(v-variance[i])/prior)
		e.newT[i], e.newU[i] = max(0, 1/v-c), mean/v-c*h
	}
	return residual, nil
}

// writeResult writes the posterior mean at all sites into the Result, by the weights K^-1 m = u - t m.
func (e *EP) writeResult() {
	r := &e.result
	clear(r.Weight)
	for i, s := range e.set.Active {
		r.Weight[s] = e.u[i] - e.t[i]*e.mean[i]
	}
	workspace.MulInactive(r.F, e.kernel, e.set.Active, r.Weight)
	for i, s := range e.set.Active {
		r.F[s] = e.mean[i]
	}
}
