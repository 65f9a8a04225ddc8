package gp

import (
	"errors"
	"fmt"
	"math"

	"bootbench/blas"
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
	// for precision c > 0, targets y and counts k_j > 0.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// WeightedSet is a training set of N weighted examples on M sites.
type WeightedSet struct {
	// Y are the targets, finite, length N.
	Y []float64
	// Site maps each example to its site, 0 to M-1. Nil means that example i is
	// alone on site i, and N = M then.
	Site []int
	// Weight are the powers k_j >= 0 of the likelihoods, finite, length N; an
	// example of weight 0 is absent.
	Weight []float64
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

// EPStatus says how good an EPResult is.
type EPStatus int

const (
	// EPConverged: the moments agree within the tolerance.
	EPConverged EPStatus = iota
	// EPSweepLimit: EPSettings.MaxSweeps was reached.
	EPSweepLimit
	// EPStalled: however short the steps, the moments come no nearer. Likelihoods
	// that are not log-concave may have no fixed point at all.
	EPStalled
)

// String is the status in lower case.
func (s EPStatus) String() string {
	switch s {
	case EPConverged:
		return "converged"
	case EPSweepLimit:
		return "sweep limit"
	case EPStalled:
		return "stalled"
	}
	return "unknown status"
}

// The errors that EPStatus.Err returns.
var (
	ErrEPSweepLimit = errors.New("expectation propagation reached its sweep limit")
	ErrEPStalled    = errors.New("expectation propagation does not converge")
)

// Err is nil for EPConverged and one of this package's errors otherwise.
func (s EPStatus) Err() error {
	switch s {
	case EPSweepLimit:
		return ErrEPSweepLimit
	case EPStalled:
		return ErrEPStalled
	}
	return nil
}

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
	// Sweeps counts passes over the sites, each one factorisation.
	Sweeps int
	// Status says whether the tolerance was met.
	Status EPStatus
}

// EP computes posteriors of the model f ~ N(0, K), y_j ~ p(y | f), example j
// counting k_j times, by expectation propagation: the likelihood of site i is
// replaced by exp(-t_i f^2/2 + u_i f), so that
//
//	S = (K^-1 + diag(t))^-1,   m = S u,                                    (M03-37..40)
//
// and t_i and u_i are such that the posterior with the true likelihood at site i
// and those Gaussians at all others has mean m_i and variance S_ii. It is exact
// where the sites do not see each other and for a Gaussian likelihood.
//
// The sites move one after the other, by a share of their step that shrinks
// where they oscillate. A likelihood that is not log-concave may have t_i < 0.
//
// One EP serves one goroutine; those that share a kernel matrix may run at the
// same time. It takes about 24 n^2 bytes for n active sites.
type EP struct {
	kernel     *linalg.Sym
	likelihood Likelihood

	active []int // sites with examples and K_ii > 0, ascending
	first  []int // examples of active site i: first_i to first_i+1 - 1
	y, k   []float64
	n      int

	prior        []float64 // K over the active sites, n x n, upper triangle
	factor       []float64
	half         []float64
	cov          []float64 // S, upper triangle
	mean         []float64
	t, u         []float64 // the sites' Gaussians where S stands
	bestT, bestU []float64 // at the smallest residual
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
func (e *EP) Fit(set WeightedSet, s EPSettings) (*EPResult, error) {
	if err := set.check(e.Sites()); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	if err := e.gather(set); err != nil {
		return nil, err
	}
	m, r := e.Sites(), &e.result
	*r = EPResult{Alpha: grown(r.Alpha, m), Mean: grown(r.Mean, m), Precision: grown(r.Precision, m), Shift: grown(r.Shift, m)}
	if err := e.iterate(s); err != nil {
		return nil, err
	}
	e.writeResult()
	return r, nil
}

func (s *EPSettings) complete() error {
	switch {
	case s.Tolerance == 0:
		s.Tolerance = DefaultEPTolerance
	case !(s.Tolerance > 0) || math.IsInf(s.Tolerance, 1):
		return fmt.Errorf("the tolerance must be positive, got %v", s.Tolerance)
	}
	switch {
	case s.MaxSweeps == 0:
		s.MaxSweeps = DefaultEPSweeps
	case s.MaxSweeps < 0:
		return fmt.Errorf("the sweep limit must be positive, got %d", s.MaxSweeps)
	}
	return nil
}

// check reports the first thing wrong with the set on m sites.
func (w *WeightedSet) check(m int) error {
	n := len(w.Y)
	switch {
	case len(w.Weight) != n:
		return fmt.Errorf("%d weights do not fit %d targets", len(w.Weight), n)
	case w.Site == nil && n != m:
		return fmt.Errorf("%d targets do not fit %d sites", n, m)
	case w.Site != nil && len(w.Site) != n:
		return fmt.Errorf("a map to sites of length %d does not fit %d targets", len(w.Site), n)
	}
	for i, y := range w.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("the target of example %d is %v", i+1, y)
		}
		if k := w.Weight[i]; !(k >= 0) || math.IsInf(k, 1) {
			return fmt.Errorf("the weight of example %d is %v, must be finite and not negative", i+1, k)
		}
		if s := w.site(i); s < 0 || s >= m {
			return fmt.Errorf("example %d is on site %d of %d", i+1, s+1, m)
		}
	}
	return nil
}

// site is the site of example i.
func (w *WeightedSet) site(i int) int {
	if w.Site == nil {
		return i
	}
	return w.Site[i]
}

// gather lists the active sites with their examples, and K between them.
func (e *EP) gather(set WeightedSet) error {
	place := make([]int, e.Sites())
	for j, k := range set.Weight {
		if k > 0 {
			place[set.site(j)]++
		}
	}
	e.active, e.first = e.active[:0], append(e.first[:0], 0)
	total := 0
	for s, c := range place {
		place[s] = -1
		if v := e.kernel.At(s, s); c > 0 && !(v >= 0 && v < math.Inf(1)) {
			return fmt.Errorf("kernel element (%d, %d) is %v", s+1, s+1, v)
		} else if c > 0 && v > 0 {
			place[s] = total
			total += c
			e.active, e.first = append(e.active, s), append(e.first, total)
		}
	}
	e.y, e.k = grown(e.y, total), grown(e.k, total)
	for j, k := range set.Weight {
		if s := set.site(j); k > 0 && place[s] >= 0 {
			e.y[place[s]], e.k[place[s]] = set.Y[j], k
			place[s]++
		}
	}
	e.n = len(e.active)
	n := e.n
	e.prior = grown(e.prior, n*n)
	for p, i := range e.active {
		for q := p; q < n; q++ {
			e.prior[p*n+q] = e.kernel.At(i, e.active[q])
		}
	}
	for _, v := range []*[]float64{&e.mean, &e.t, &e.u, &e.root} {
		*v = grown(*v, n)
		clear(*v)
	}
	return nil
}

// grown is s with length n, in new memory only where the old does not suffice.
func grown(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

// Steps are shares of what a site asks for.
const (
	initialDamping = 1.0
	minDamping     = 1e-2
	stallDamp      = 5   // sweeps without a smaller residual before steps shrink as well
	stallStop      = 100 // the same before giving up
	maxHalvings    = 40  // of a step that would leave some site without a cavity

	// leastCavity is the least precision of a cavity, in units of the prior's.
	minCavityPrecision = 0.01
)

// iterate moves the sites until their moments are those of the posterior, and
// ends where these were nearest.
func (e *EP) iterate(s EPSettings) error {
	if !e.posterior() {
		return errors.New("the kernel matrix is not finite")
	}
	e.saveBest() // what a fit comes back to must be its own
	r := &e.result
	best, share, since := math.Inf(1), initialDamping, 0
	for r.Sweeps = 1; ; r.Sweeps++ {
		residual, err := e.sweep(share)
		if r.Sweeps == 1 && err != nil {
			return err
		}
		whole := err == nil && e.posterior()
		switch {
		case whole && residual < best:
			best, since = residual, 0
			e.saveBest()
			share = min(share*1.1, initialDamping)
		case !whole:
			e.restoreBest()
			share = max(share/2, minDamping)
			since++
		default:
			if since++; since%stallDamp == 0 {
				share = max(share/2, minDamping)
			}
		}
		r.Residual = best
		switch {
		case best <= s.Tolerance:
			r.Status = EPConverged
		case r.Sweeps >= s.MaxSweeps:
			r.Status = EPSweepLimit
		case since >= stallStop:
			r.Status = EPStalled
		default:
			continue
		}
		e.restoreBest()
		return nil
	}
}

// saveBest remembers where the sites stand, and back returns there.
func (e *EP) saveBest() {
	e.bestT, e.bestU = append(e.bestT[:0], e.t...), append(e.bestU[:0], e.u...)
}

func (e *EP) restoreBest() {
	copy(e.t, e.bestT)
	copy(e.u, e.bestU)
	e.posterior()
}

// sweep moves one site after the other by a share of what it asks for from its
// cavity
//
//	c = 1/S_ii - t_i,   h = (m_i/S_ii - u_i)/c,
//
// and S and m along with it. residual is how far the moments were apart when
// each site had its turn. A site whose cavity is no distribution stays.
func (e *EP) sweep(share float64) (residual float64, err error) {
	for i, site := range e.active {
		variance, m := e.cov[i*e.n+i], e.mean[i]
		c := 1/variance - e.t[i]
		if !(c > 0) {
			residual = math.Inf(1)
			continue
		}
		h := (m/variance - e.u[i]) / c
		a, b := e.first[i], e.first[i+1]
		_, mean, v := e.likelihood.TiltedMoments(c, h, e.y[a:b], e.k[a:b])
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(v > 0) || math.IsInf(v, 1) {
			return 0, fmt.Errorf("the %s likelihood has mean %v and variance %v at site %d, for a cavity of mean %v and variance %v",
				e.likelihood.Name(), mean, v, site+1, h, 1/c)
		}
		prior := e.prior[i*e.n+i]
		residual = max(residual, math.Abs(mean-m)/math.Sqrt(prior), math.Abs(v-variance)/prior)
		e.updateSite(i, share*(1/v-c-e.t[i]), share*(mean/v-c*h-e.u[i]))
	}
	return residual, nil
}

// updateSite adds dt and du to the Gaussian of site i:
//
//	S' = S - S_i S_i' dt/(1 + dt S_ii),   m' = S' u'.
//
// A negative dt widens S elsewhere. Where that would leave a site without a
// cavity, the step is halved.
func (e *EP) updateSite(i int, dt, du float64) {
	n := e.n
	row := e.half[:n]
	for j := range i {
		row[j] = e.cov[j*n+i]
	}
	copy(row[i:], e.cov[i*n+i:(i+1)*n])
	for try := 0; dt < 0 && !e.keepsCavities(i, dt, row); try++ {
		if dt, du = dt/2, du/2; try == maxHalvings {
			return
		}
	}
	ratio := 1 / (1 + dt*row[i])
	blas.Bound().Dsyr(gonum.Upper, n, -dt*ratio, row, 1, e.cov, n)
	blas.Bound().Daxpy(n, (du-dt*e.mean[i])*ratio, row, 1, e.mean, 1)
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
		if !(1/(e.cov[j*e.n+j]-row[j]*row[j]*ratio)-t > minCavityPrecision/e.prior[j*e.n+j]) {
			return false
		}
	}
	return true
}

// posterior computes S and m anew. It reports false where S is not positive
// definite. Positive t come first, in the form that needs no
// inverse of K: B = I + t^1/2 K t^1/2 = L L' and S = K - V'V, V = L^-1 t^1/2 K.
func (e *EP) posterior() bool {
	n, t, u := e.n, e.t, e.u
	if n == 0 {
		return true
	}
	e.factor, e.half, e.cov = grown(e.factor, n*n), grown(e.half, n*n), grown(e.cov, n*n)
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
	if !e.addNegativeSites() {
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

// addNegativeSites adds the sites with t < 0 to S, a update of low rank:
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
	for i, s := range e.active {
		r.Alpha[s] = e.u[i] - e.t[i]*e.mean[i]
		r.Precision[s], r.Shift[s] = e.t[i], e.u[i]
	}
	if e.n == 0 {
		return
	}
	if e.n < e.Sites() {
		m := e.Sites()
		blas64.Symv(1, e.kernel.Raw(), blas64.Vector{N: m, Inc: 1, Data: r.Alpha}, 0, blas64.Vector{N: m, Inc: 1, Data: r.Mean})
	}
	for i, s := range e.active {
		r.Mean[s] = e.mean[i]
	}
}

// PredictAt writes the posterior mean at P new inputs into f (length P), as
// Trainer.PredictAt does.
func (r *EPResult) PredictAt(trans gonum.Transpose, cross blas64.General, f []float64) error {
	return predictAt(trans, cross, r.Alpha, f)
}
