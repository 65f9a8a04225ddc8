package gp

import (
	"errors"
	"fmt"
	"math"

	"bootbench/blas"
	"bootbench/internal/train"
	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Likelihood is p(y | f), known by its tilted distributions.
type Likelihood interface {
	// Name is the likelihood's name in messages.
	Name() string
	// TiltedMoments are the logarithm of the mass, the mean and the variance over f
	// of
	//
	//	N(f; h, 1/c) prod_j p(y_j | f)^k_j,
	//
	// for precision c > 0, targets y and counts k_j > 0. p must be log-concave in f.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// EPSettings say how to run expectation propagation. The zero value is usable.
type EPSettings struct {
	// Tolerance bounds the distance between the moments of the sites and those of
	// the posterior that counts as converged: of means in units of the prior
	// standard deviation K_ii^1/2, of variances in units of K_ii. 0 means
	// DefaultEPTolerance.
	Tolerance float64
	// MaxSweeps bounds the sweeps; 0 means DefaultEPSweeps.
	MaxSweeps int
}

// The defaults of the zero EPSettings.
const (
	DefaultEPTolerance = 1e-8
	DefaultEPSweeps    = 1000
)

// ErrNoFixedPoint is the error of an EPResult that Stalled.
var ErrNoFixedPoint = errors.New("expectation propagation does not converge")

// EPResult is a posterior. Its slices belong to the EP that made it and hold
// until its next Fit.
type EPResult struct {
	// Alpha are the weights of the sites, length M: the posterior mean at a new
	// input x is sum_s Alpha_s K(x, x_s).
	Alpha []float64
	// Mean is the posterior mean at the M sites, K Alpha.
	Mean []float64
	// Precision and Shift are the sites' Gaussians exp(-Precision f^2/2 + Shift f),
	// length M, 0 where a site is empty. The posterior is (K^-1 + diag(Precision))^-1
	// in covariance.
	Precision, Shift []float64
	// Residual is the distance between the moments, see EPSettings.Tolerance.
	Residual float64
	// Sweeps counts passes over the sites.
	Sweeps int
	// Status says whether the tolerance was met.
	Status train.Status
}

// Err is nil where r has converged, and says why where not.
func (r *EPResult) Err() error {
	if r.Status == train.Stalled {
		return ErrNoFixedPoint
	}
	return r.Status.Err()
}

// EP computes posteriors of the model f ~ N(0, K), y_j ~ p(y | f), p log-concave, example j
// counting k_j times, by expectation propagation: the likelihood of site i is
// replaced by exp(-t_i f^2/2 + u_i f), t_i >= 0, so that
//
//	S = (K^-1 + diag(t))^-1,   m = S u,                                    (M03-37..40)
//
// and t_i and u_i are such that the posterior with the true likelihood at site i
// and those Gaussians at all others has mean m_i and variance S_ii (Minka 2001;
// Rasmussen and Williams 2006, section 3.6). It is exact for independent sites and for
// a Gaussian likelihood.
//
// The sites are updated all at once, damped where they oscillate.
//
// One EP serves one goroutine; those that share a kernel matrix may run at the
// same time. It takes 32 n^2 bytes and some for n active sites (train.Room).
type EP struct {
	kernel     *linalg.Sym
	likelihood Likelihood

	set train.Groups
	n   int // active sites

	prior      []float64 // K over the active sites, n x n, upper triangle
	factor     []float64
	half       []float64
	cov        []float64 // S, upper triangle
	mean       []float64
	t, u       []float64 // the sites' Gaussians, of which S and mean are current
	newT, newU []float64 // those that match the sites' moments
	root       []float64
	result     EPResult
}

// NewEP returns an EP for the positive semidefinite kernel matrix k (M x M) and
// likelihood l.
func NewEP(k *linalg.Sym, l Likelihood) (*EP, error) {
	if l == nil {
		return nil, errors.New("there is no likelihood")
	}
	return &EP{kernel: k, likelihood: l}, nil
}

// Sites is the number M of sites.
func (e *EP) Sites() int { return e.kernel.N() }

// Fit computes the posterior given set. Without examples that is the prior. The
// error reports bad input, or a likelihood or a kernel matrix that gives no
// finite moments; an iteration that ends early returns where it was and says so
// in Status.
func (e *EP) Fit(set train.Set, s EPSettings) (*EPResult, error) {
	if err := set.Check(e.Sites()); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := e.prepare(&set); err != nil {
		return nil, err
	}
	m, r := e.Sites(), &e.result
	*r = EPResult{Alpha: train.Resize(r.Alpha, m), Mean: train.Resize(r.Mean, m),
		Precision: train.Resize(r.Precision, m), Shift: train.Resize(r.Shift, m)}
	if err := e.iterate(s); err != nil {
		return nil, err
	}
	e.writeResult()
	return r, nil
}

func (s *EPSettings) complete() error {
	if err := train.Default("the tolerance", &s.Tolerance, DefaultEPTolerance); err != nil {
		return err
	}
	return train.Default("the sweep limit", &s.MaxSweeps, DefaultEPSweeps)
}

// prepare groups the examples by active site, those with K_ii > 0, gathers K
// between these, and starts from sites without influence.
func (e *EP) prepare(set *train.Set) error {
	for j, k := range set.Weight {
		s := set.Site.At(j)
		if v := e.kernel.At(s, s); k > 0 && !(v >= 0 && v < math.Inf(1)) {
			return fmt.Errorf("kernel element (%d, %d) is %v", s+1, s+1, v)
		}
	}
	e.set.Gather(set, e.Sites(), func(s int) bool { return e.kernel.At(s, s) > 0 })
	e.n = len(e.set.Active)
	room := train.Room(e.n, e.Sites())
	for _, matrix := range []*[]float64{&e.prior, &e.factor, &e.half, &e.cov} {
		train.ResizeMatrix(matrix, e.n*e.n, room*room)
	}
	train.GatherUpper(e.prior, e.n, e.kernel, e.set.Active)
	for _, v := range []*[]float64{&e.mean, &e.t, &e.u, &e.newT, &e.newU, &e.root} {
		*v = train.Resize(*v, e.n)
		clear(*v)
	}
	return nil
}

// Damping is the share of the sites' step that is taken.
const (
	minDamping = 1e-2
	stallStop  = 100 // sweeps without a smaller residual before giving up
)

// iterate updates the sites until their moments are those of the posterior.
func (e *EP) iterate(s EPSettings) error {
	r := &e.result
	best, last, damping, since := math.Inf(1), math.Inf(1), 1.0, 0
	for r.Sweeps = 1; ; r.Sweeps++ {
		if !e.posterior() {
			return errors.New("the kernel matrix is not finite")
		}
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
		case r.Sweeps >= s.MaxSweeps:
			r.Status = train.IterationLimit
			return nil
		case since >= stallStop:
			r.Status = train.Stalled
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

// widening is the relative loss of a cavity's precision from which on a likelihood is taken not to be
// log-concave: less is the error of its moments.
const widening = 1e-5

// match finds the Gaussians with which the sites have the moments of their tilted distributions,
// from their cavities
//
//	c = 1/S_ii - t_i,   h = (m_i/S_ii - u_i)/c,
//
// and the largest distance of these moments from those of the posterior.
func (e *EP) match() (residual float64, err error) {
	for i, site := range e.set.Active {
		variance, m := e.cov[i*e.n+i], e.mean[i]
		c := 1/variance - e.t[i]
		h := (m/variance - e.u[i]) / c
		y, k := e.set.Of(i)
		_, mean, v := e.likelihood.TiltedMoments(c, h, y, k)
		if !(c > 0 && v > 0) || math.IsNaN(mean) || math.IsInf(mean, 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf(
				"the %s likelihood has mean %v and variance %v at site %d, for a cavity of mean %v and variance %v",
				e.likelihood.Name(), mean, v, site+1, h, 1/c)
		}
		if 1/v < c*(1-widening) {
			return 0, fmt.Errorf("the %s likelihood widens the posterior at site %d: it must be log-concave",
				e.likelihood.Name(), site+1)
		}
		prior := e.prior[i*e.n+i]
		residual = max(residual, math.Abs(mean-m)/math.Sqrt(prior), math.Abs(v-variance)/prior)
		e.newT[i], e.newU[i] = max(0, 1/v-c), mean/v-c*h
	}
	return residual, nil
}

// posterior computes S and m from t and u alone, in the form without an inverse of K
// (Rasmussen and Williams 2006, algorithm 3.5):
//
//	B = I + t^1/2 K t^1/2 = L L',   S = K - V'V,   V = L^-1 t^1/2 K.
//
// It reports false where they are no numbers.
func (e *EP) posterior() bool {
	n := e.n
	if n == 0 {
		return true
	}
	for i, v := range e.t {
		e.root[i] = math.Sqrt(v)
	}
	for i := range n {
		for j := i; j < n; j++ {
			k := e.prior[i*n+j]
			e.cov[i*n+j] = k
			e.factor[j*n+i] = e.root[i] * e.root[j] * k
			e.half[i*n+j], e.half[j*n+i] = e.root[i]*k, e.root[j]*k
		}
		e.factor[i*n+i]++
	}
	if blas.Bound().Potrf(gonum.Lower, n, e.factor, n) != 0 {
		return false
	}
	half := blas64.General{Rows: n, Cols: n, Stride: n, Data: e.half}
	cov := blas64.Symmetric{Uplo: gonum.Upper, N: n, Stride: n, Data: e.cov}
	blas64.Trsm(gonum.Left, gonum.NoTrans, 1,
		blas64.Triangular{Uplo: gonum.Lower, Diag: gonum.NonUnit, N: n, Stride: n, Data: e.factor}, half)
	blas64.Syrk(gonum.Trans, -1, half, 1, cov)
	blas64.Symv(1, cov, blas64.Vector{N: n, Inc: 1, Data: e.u}, 0, blas64.Vector{N: n, Inc: 1, Data: e.mean})
	for i, m := range e.mean {
		if v := e.cov[i*n+i]; !(v > 0) || math.IsInf(v, 1) || math.IsNaN(m) || math.IsInf(m, 0) {
			return false
		}
	}
	return true
}

// writeResult writes the posterior at all sites into the Result: alpha = K^-1 m is
// u - t m, and the sites without examples take one pass over K.
func (e *EP) writeResult() {
	r := &e.result
	for _, v := range [][]float64{r.Alpha, r.Mean, r.Precision, r.Shift} {
		clear(v)
	}
	for i, s := range e.set.Active {
		r.Alpha[s] = e.u[i] - e.t[i]*e.mean[i]
		r.Precision[s], r.Shift[s] = e.t[i], e.u[i]
	}
	train.MulInactive(r.Mean, e.kernel, e.set.Active, r.Alpha)
	for i, s := range e.set.Active {
		r.Mean[s] = e.mean[i]
	}
}
