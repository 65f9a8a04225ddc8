package gp

import (
	"errors"
	"fmt"
	"math"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
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
	// for precision c > 0, targets y and counts k_j > 0.
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
	DefaultEPSweeps    = 4000
)

// ErrNoFixedPoint is the error of an EPResult that Stalled.
var ErrNoFixedPoint = errors.New("expectation propagation does not converge")

// EPResult is a posterior. Its slices belong to the EP that made it and hold
// until its next Fit.
type EPResult struct {
	// Alpha are the weights of the sites, length M: the posterior mean at a new
	// input x is sum_s Alpha_s K(x, x_s) + Bias.
	Alpha []float64
	// Bias is the posterior mean of the bias of a NewBiasedEP, beside which Alpha sums to 0.
	Bias float64
	// Mean is the posterior mean at the M sites, K Alpha + Bias.
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

// EP computes posteriors of the model f ~ N(0, K), y_j ~ p(y | f), example j
// counting k_j times, by expectation propagation: the likelihood of site i is
// replaced by exp(-t_i f^2/2 + u_i f), so that
//
//	S = (K^-1 + diag(t))^-1,   m = S u,                                    (M03-37..40)
//
// and t_i and u_i are such that the posterior with the true likelihood at site i
// and those Gaussians at all others has mean m_i and variance S_ii (Minka 2001;
// Rasmussen and Williams 2006, section 3.6). It is exact for independent sites and for
// a Gaussian likelihood.
//
// The sites are updated one after the other, damped where they oscillate. A
// likelihood that is not log-concave may have t_i < 0.
//
// One EP serves one goroutine; those that share a kernel matrix may run at the
// same time. It takes 32 n^2 bytes and some for n active sites (train.Room).
type EP struct {
	kernel     *linalg.Sym
	likelihood Likelihood
	flat       *flatMean // nil without a bias

	set train.Groups
	n   int // active sites

	prior        []float64 // K over the active sites, n x n, upper triangle
	factor       []float64
	half         []float64
	cov          []float64 // S, upper triangle, but for what is pending in a sweep
	pending      pending
	waiting      []float64 // workspace of pending
	row, diag    []float64 // of S
	mean         []float64
	t, u         []float64 // the sites' Gaussians, of which S and mean are current
	bestT, bestU []float64 // those at the smallest residual
	sureT, sureU []float64 // the last of which S was computed anew
	root         []float64
	negative     []int
	result       EPResult
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
	if e.flat != nil {
		if err := e.startBiased(); err != nil {
			return nil, err
		}
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
	e.set.Gather(set, e.Sites(), func(s int) bool { return e.flat != nil || e.kernel.At(s, s) > 0 })
	e.n = len(e.set.Active)
	room := train.Room(e.n, e.Sites())
	for _, matrix := range []*[]float64{&e.prior, &e.factor, &e.half, &e.cov} {
		train.ResizeMatrix(matrix, e.n*e.n, room*room)
	}
	train.ResizeMatrix(&e.waiting, pendingLen(e.n), pendingLen(room))
	train.GatherUpper(e.prior, e.n, e.kernel, e.set.Active)
	for _, v := range []*[]float64{&e.mean, &e.t, &e.u, &e.root, &e.row, &e.diag} {
		*v = train.Resize(*v, e.n)
		clear(*v)
	}
	return nil
}

// Damping is the share of a site's step that is taken.
const (
	initialDamping = 1.0
	minDamping     = 1e-2
	stallDamp      = 5   // sweeps without a smaller residual before steps shrink as well
	stallStop      = 100 // the same before giving up
	maxHalvings    = 40  // of a step that would leave some site without a cavity
	refreshSweeps  = 5   // after which S is computed anew, as it is at the end: it gathers roundings

	// minCavityPrecision is the least precision of a cavity, in units of the prior's.
	minCavityPrecision = 0.01
)

// iterate updates the sites until their moments are those of the posterior, and ends
// with the sites of the smallest residual.
func (e *EP) iterate(s EPSettings) error {
	if !e.posterior() {
		return errors.New("the kernel matrix is not finite")
	}
	e.saveBest() // not the last fit's
	e.saveSure()
	r := &e.result
	best, damping, since := math.Inf(1), initialDamping, 0
	for r.Sweeps = 1; ; r.Sweeps++ {
		residual, err := e.sweep(damping)
		if r.Sweeps == 1 && err != nil {
			return err
		}
		whole := err == nil
		if whole && (residual <= s.Tolerance || r.Sweeps%refreshSweeps == 0) {
			if whole = e.posterior(); whole {
				e.saveSure()
			}
		}
		switch {
		case whole && residual < best:
			best, since = residual, 0
			e.saveBest()
			damping = min(damping*1.1, initialDamping)
		case !whole:
			if !e.restoreBest() {
				best = math.Inf(1)
			}
			damping = max(damping/2, minDamping)
			since++
		default:
			if since++; since%stallDamp == 0 {
				damping = max(damping/2, minDamping)
			}
		}
		r.Residual = best
		switch {
		case best <= s.Tolerance:
			r.Status = train.Converged
		case r.Sweeps >= s.MaxSweeps:
			r.Status = train.IterationLimit
		case since >= stallStop:
			r.Status = train.Stalled
		default:
			continue
		}
		if !e.restoreBest() {
			r.Residual = math.Inf(1)
		}
		return nil
	}
}

// saveBest saves the sites, and restoreBest returns to them; or it reports false and returns to those of
// saveSure, where roundings gathered since leave no S at the best.
func (e *EP) saveBest() {
	e.bestT, e.bestU = append(e.bestT[:0], e.t...), append(e.bestU[:0], e.u...)
}

func (e *EP) restoreBest() bool {
	copy(e.t, e.bestT)
	copy(e.u, e.bestU)
	if e.posterior() {
		return true
	}
	copy(e.t, e.sureT)
	copy(e.u, e.sureU)
	e.saveBest()
	e.posterior()
	return false
}

// saveSure saves sites of which S was computed.
func (e *EP) saveSure() {
	e.sureT, e.sureU = append(e.sureT[:0], e.t...), append(e.sureU[:0], e.u...)
}

// sweep updates one site after the other by a share of the step to the moments of
// its tilted distribution, from its cavity
//
//	c = 1/S_ii - t_i,   h = (m_i/S_ii - u_i)/c,
//
// and S and m with it. residual is the largest distance of the moments that was found.
// A site whose cavity is no distribution stays.
func (e *EP) sweep(damping float64) (residual float64, err error) {
	e.pending.begin(blas64.Symmetric{Uplo: gonum.Upper, N: e.n, Stride: e.n, Data: e.cov}, e.diag, e.waiting)
	for i, site := range e.set.Active {
		variance, m := e.diag[i], e.mean[i]
		c := 1/variance - e.t[i]
		if !(c > 0) {
			residual = math.Inf(1)
			continue
		}
		h := (m/variance - e.u[i]) / c
		y, k := e.set.Of(i)
		_, mean, v := e.likelihood.TiltedMoments(c, h, y, k)
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(v > 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf(
				"the %s likelihood has mean %v and variance %v at site %d, for a cavity of mean %v and variance %v",
				e.likelihood.Name(), mean, v, site+1, h, 1/c)
		}
		prior := e.prior[i*e.n+i]
		residual = max(residual, math.Abs(mean-m)/math.Sqrt(prior), math.Abs(v-variance)/prior)
		e.updateSite(i, damping*(1/v-c-e.t[i]), damping*(mean/v-c*h-e.u[i]))
	}
	e.pending.flush()
	return residual, nil
}

// updateSite adds dt and du to the Gaussian of site i:
//
//	S' = S - S_i S_i' dt/(1 + dt S_ii),   m' = S' u'.
//
// A negative dt increases the variances of other sites. Where that would leave a
// site without a cavity, the step is halved.
func (e *EP) updateSite(i int, dt, du float64) {
	row := e.row
	e.pending.row(row, i)
	for try := 0; dt < 0 && !e.keepsCavities(i, dt, row); try++ {
		if dt, du = dt/2, du/2; try == maxHalvings {
			return
		}
	}
	ratio := 1 / (1 + dt*row[i])
	e.pending.subtract(dt*ratio, row)
	floats.AddScaled(e.mean, (du-dt*e.mean[i])*ratio, row)
	e.t[i] += dt
	e.u[i] += du
}

// keepsCavities reports whether all cavities keep their least precision when t_i
// grows by dt.
func (e *EP) keepsCavities(i int, dt float64, row []float64) bool {
	if !(1+dt*row[i] > 0) {
		return false
	}
	ratio := dt / (1 + dt*row[i])
	for j, t := range e.t {
		if j == i {
			t += dt
		}
		if !(1/(e.diag[j]-row[j]*row[j]*ratio)-t > minCavityPrecision/e.prior[j*e.n+j]) {
			return false
		}
	}
	return true
}

// posterior computes S and m from t and u alone. It reports false where S is not
// positive definite. Positive t come first, in the form without an inverse of K
// (Rasmussen and Williams 2006, algorithm 3.5):
//
//	B = I + t^1/2 K t^1/2 = L L',   S = K - V'V,   V = L^-1 t^1/2 K.
func (e *EP) posterior() bool {
	n, t, u := e.n, e.t, e.u
	if n == 0 {
		return true
	}
	e.negative = e.negative[:0]
	for i, v := range t {
		e.root[i] = math.Sqrt(max(v, 0))
		if v < 0 {
			e.negative = append(e.negative, i)
		}
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
	if !e.addNegativeSites() || e.flat != nil && !e.flat.add(cov, t) {
		return false
	}
	blas64.Symv(1, cov, blas64.Vector{N: n, Inc: 1, Data: u}, 0, blas64.Vector{N: n, Inc: 1, Data: e.mean})
	for i, m := range e.mean {
		if v := e.cov[i*n+i]; !(v > 0) || math.IsInf(v, 1) || math.IsNaN(m) || math.IsInf(m, 0) {
			return false
		}
	}
	return true
}

// addNegativeSites adds the sites with t < 0 to S, an update of low rank:
//
//	S + U U',  U = S_N |t|^1/2 L^-T,  L L' = I - |t|^1/2 S_NN |t|^1/2.
func (e *EP) addNegativeSites() bool {
	t, n, a := e.t, e.n, len(e.negative)
	if a == 0 {
		return true
	}
	at := func(i, j int) float64 { return e.cov[min(i, j)*n+max(i, j)] }
	u, l := e.half[:n*a], e.factor[:a*a]
	for i := range n {
		for q, j := range e.negative {
			u[i*a+q] = at(i, j) * math.Sqrt(-t[j])
		}
	}
	for p, i := range e.negative {
		for q := range p + 1 {
			l[p*a+q] = -math.Sqrt(-t[i]) * u[i*a+q]
		}
		l[p*a+p]++
	}
	if blas.Bound().Potrf(gonum.Lower, a, l, a) != 0 {
		return false
	}
	general := blas64.General{Rows: n, Cols: a, Stride: a, Data: u}
	blas64.Trsm(gonum.Right, gonum.Trans, 1,
		blas64.Triangular{Uplo: gonum.Lower, Diag: gonum.NonUnit, N: a, Stride: a, Data: l}, general)
	blas64.Syrk(gonum.NoTrans, 1, general, 1, blas64.Symmetric{Uplo: gonum.Upper, N: n, Stride: n, Data: e.cov})
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
	if e.flat != nil && e.n > 0 {
		r.Bias = e.flat.mean(e.u)
		floats.AddConst(r.Bias, r.Mean)
	}
	for i, s := range e.set.Active {
		r.Mean[s] = e.mean[i]
	}
}
