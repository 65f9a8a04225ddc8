package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/linalg"
	"bootbench/loss"
)

// fixedPoint is the iteration for losses whose d depends on the targets (T4-T6). One
// sweep maps cavities to site parameters, moves G there, and reads the next cavities,
// the image, off G:
//
//	(c, m_c, V_c) -> (d, g, u = -lambda) -> G -> (c, m_c, V_c).
//
// The cavities of all sites are of a like magnitude and move smoothly. The site
// parameters, which one could iterate as well, run over decades: for a hard
// margin d/c lies between 0 and 1/p(0), and a step half-way between two such d
// is no compromise. Damping, Anderson acceleration and Newton's method therefore act on
// the cavities.
type fixedPoint struct {
	*run
	model           *siteModel
	g               gMover
	accepted, trial point // the last iterate that was evaluated, at which G stands unless gStale, and the next
	inner           *innerIteration
	anderson        *anderson
	newton          *newton  // nil: disabled, or without memory
	monitor         Monitor  // of the distance
	search          progress // the phase, and what belongs to it
	tol             float64  // residual to reach
	gStale          bool     // G does not stand at accepted
	trouble         *trouble
}

// point is an iterate with the image of its cavities under a sweep.
type point struct {
	Iterate
	image Cavities
}

// progress is the search in memory.
type progress struct {
	Search
	resumed bool // the phase was entered before, in another process, and goes on
	rank    int  // of K within rounding, as far as it was needed
}

// takeResumed reports, once, whether the phase was entered before.
func (x *fixedPoint) takeResumed() bool {
	was := x.search.resumed
	x.search.resumed = false
	return was
}

// iterate is the main loop: it takes steps until it has a Status, which is that of the
// accepted iterate. stall is the number of sweeps without a smaller distance
// after which it gives up.
func (x *fixedPoint) iterate(ctx context.Context, stall int) Status {
	for {
		x.checkpointAccepted()
		if done, status := x.done(ctx); done {
			return status
		}
		if x.monitor.Best.Since >= stall {
			return Stalled
		}
		if t := x.strategy().advance(ctx, x); t != nil {
			return x.fail(t)
		}
	}
}

// strategy is how the iteration moves on from its accepted iterate.
type strategy interface {
	// advance takes at least one sweep and leaves the iteration at a new accepted
	// iterate, or returns what it met.
	advance(ctx context.Context, x *fixedPoint) *trouble
}

// strategy chooses by the distance: Newton's method where it is small, Anderson
// acceleration where it is moderate, damped sweeps, which find the way best, else.
func (x *fixedPoint) strategy() strategy {
	switch d := x.accepted.Distance; {
	case x.newton != nil && d < x.search.NewtonRadius:
		return x.newton
	case x.enabled(Anderson) && d < andersonMaxDistance:
		return andersonSweep{}
	}
	return dampedSweep{}
}

// trouble is why a step led to no new iterate: the Status that it gives the solve, and
// its cause.
type trouble struct {
	status Status
	cause  error // nil unless status is NumericalFailure
}

var (
	errCancelled = errors.New("called off")
	errNotFinite = errors.New("the sites' answers are not finite")
)

func failure(cause error) *trouble { return &trouble{NumericalFailure, cause} }

// fail records what ended an iteration. After a failure G stands at no accepted iterate;
// one that is cancelled has not moved it.
func (x *fixedPoint) fail(t *trouble) Status {
	if t.status == NumericalFailure {
		x.trouble, x.gStale = t, true
	}
	return t.status
}

// Limits of the iteration. Counts are refreshes per converged cell of
// BenchmarkGrid without Newton's method, where they came to 13.4, 98.8% of the cells
// converging.
const (
	andersonMaxDistance  = 0.3  // distance up to which sweeps are accelerated; never: 18.4
	andersonDepth        = 6    // sweeps that the acceleration remembers; 3 to 15 differ little
	minStep              = 0.2  // of a damped sweep; undamped: 12.0, but 96.4% converge
	stepGrowth           = 1.4  // of the step after a sweep that came nearer
	stallToggle          = 4    // sweeps without a smaller distance before inner iterations are left out, or taken up again
	maxHalvings          = 8    // halvings of a step whose G does not factorise
	singleMinDistance    = 0.1  // distance from which a sweep may be in single precision
	singleMinNewton      = 0.02 // the same for what a Newton step is expected to leave, the square of the distance
	singleMaxError       = 2e-3 // what single precision may err by there
	consistencyMaxChange = 100  // change of the cavities, in tolerances, up to which the two sides of T6 are compared
	startDistance        = 1    // stands for the distance of the start value: too far for acceleration
	typicalMargin        = 1.5  // depth, in standard deviations, of a typical site's cavity in its own class at the start (M04 section 5)
)

// solveGeneral iterates to the fixed point and leaves G there, and g and u in
// the Solution. When ctx ends, no more site parameters are computed and the iterate
// before stays; a refresh, once begun, is finished, and one more follows where G was in
// single precision or the step had failed. The residual is then that of the cavities alone.
func (r *run) solveGeneral(ctx context.Context) error {
	x := r.newFixedPoint()
	x.model.cancelled = func() bool { return ctx.Err() != nil }
	if t := x.begin(); t != nil && t.status == Cancelled {
		return ctx.Err()
	} else if t != nil {
		return asProblem(t.cause)
	}
	x.Status = x.runPhases(ctx)
	x.checkpointFinal()
	if x.gStale || x.accepted.SinglePrecision {
		if t := x.restoreAccepted(); t != nil {
			return t.cause
		}
	}
	x.Residual, x.SiteMean, x.SiteVariance = x.accepted.Residual, x.accepted.G, x.accepted.U
	if x.Status == Cancelled {
		return nil
	}
	x.model.cancelled = func() bool { return false } // what is found is found
	if x.Status != Converged {
		x.model.cavities(x.accepted.image, x.accepted.SiteParams)
		maxNaN(&x.Residual, x.model.consistencyError(x.accepted.image, x.accepted.SiteParams))
	}
	x.addWarnings()
	return nil
}

func (r *run) newFixedPoint() *fixedPoint {
	n, w := len(r.sites), &workspace{}
	s := newSiteModel(r)
	x := newVectors(w, n)
	x.run, x.model, x.g, x.inner.sites = r, s, r.newMover(), s
	x.tol, x.monitor, x.search.NewtonRadius, x.search.rank = r.settings.Tolerance, newMonitor(), newtonRadius, n
	if r.enabled(Newton) && newtonFits(n, r.dense(), r.settings.MaxBytes) {
		x.newton = newNewton(w, n)
		x.newton.jacobian.sites = s
	}
	return x
}

// newVectors allocates what every iteration needs.
func newVectors(w *workspace, n int) *fixedPoint {
	newPoint := func() point { return point{newIterate(w, n), w.vector(3 * n)} }
	return &fixedPoint{accepted: newPoint(), trial: newPoint(), inner: newInnerIteration(w, n), anderson: newAnderson(w, 3*n, andersonDepth)}
}

// dense reports whether the kernel matrix is held whole.
func (r *run) dense() bool {
	_, ok := r.problem.Gram.(*linalg.Sym)
	return ok
}

// WorkspaceBytes is the memory in bytes that a solve of a loss that is not quadratic
// takes beside the kernel matrix and its engine: vectors over the sites, and where
// there is room for them (Settings.MaxBytes) Newton's two matrices. dense says that the
// kernel matrix is held whole. If it is singular within rounding, a factor of it may come
// on top, again where there is room.
func WorkspaceBytes(sites int, dense bool, room int64) int64 {
	w := &workspace{dry: true}
	newVectors(w, sites)
	if newtonFits(sites, dense, room) {
		newNewton(w, sites)
	}
	return w.bytes + 3*8*int64(sites) // and the limits of siteModel
}

// factorRoom is the memory for a factor of K: what Newton's method leaves of
// Settings.MaxBytes.
func (r *run) factorRoom() int64 {
	if r.settings.MaxBytes == 0 {
		return 0
	}
	if room := r.settings.MaxBytes - WorkspaceBytes(len(r.sites), true, r.settings.MaxBytes); room > 0 {
		return room
	}
	return -1
}

// useFactor replaces K by its numerical low-rank factor from the next refresh on, and
// reports whether that makes a difference at the last G.
func (x *fixedPoint) useFactor() bool {
	rank, used := x.engine.UseFactor(x.accepted.D, x.factorRoom())
	x.search.rank = rank
	return used
}

// addWarnings explains why a solve did not converge, and which sites are at a limit.
func (x *fixedPoint) addWarnings() {
	clamped, capped := x.model.countClipped(x.accepted.Cavities)
	x.Stats.Capped = capped
	warn := func(format string, args ...any) { x.Warnings = append(x.Warnings, fmt.Sprintf(format, args...)) }
	if clamped > 0 {
		warn("%d sites would widen the posterior, which no site precision d >= 0 can say: their d is held at 0", clamped)
	}
	if x.Status == Converged {
		return
	}
	n := len(x.sites)
	if x.trouble != nil {
		warn("%v", x.trouble.cause)
	}
	if x.newton == nil && x.enabled(Newton) && n <= newtonMaxSites(x.dense()) {
		warn("there was no memory for Newton's method, which finds what sweeps do not")
	}
	if x.search.rank < n {
		warn("the kernel matrix of %d inputs has rank %d within rounding, too little for this margin in most resamples: %d inputs are pinned as hard as rounding allows; a jitter of 1e-6 of its diagonal, or a soft margin, makes the problem regular",
			n, x.search.rank, capped)
	}
}

// resetAcceleration forgets how the iteration went so far.
func (x *fixedPoint) resetAcceleration() {
	x.anderson.reset()
	x.monitor = newMonitor()
	x.search.NewtonRadius = newtonRadius
}

// begin evaluates the start value, or resumes.
func (x *fixedPoint) begin() *trouble {
	if x.settings.Resume != nil {
		return x.resume()
	}
	return x.start()
}

// start evaluates the start value.
func (x *fixedPoint) start() *trouble {
	warm := x.settings.From != nil && x.model.presence == 1
	if err := x.startValue(warm); err != nil {
		return failure(err)
	}
	if x.model.cancelled() {
		return &trouble{Cancelled, errCancelled}
	}
	if t := x.factorize(x.settings.From == nil); t != nil {
		return t
	}
	if warm {
		x.resetAcceleration()
		return x.updateResidual()
	}
	x.g.formG()
	x.model.cavities(x.trial.Cavities, x.trial.SiteParams)
	t := x.updateResidual()
	x.resetAcceleration()
	x.accepted.Distance = startDistance
	return t
}

// evaluate takes the sweep from the trial cavities, which makes the trial the accepted
// iterate.
func (x *fixedPoint) evaluate(allowSingle bool) *trouble {
	x.model.siteParameters(x.trial.SiteParams, x.trial.Cavities)
	if x.model.cancelled() { // they are not complete
		return &trouble{Cancelled, errCancelled}
	}
	if t := x.factorize(allowSingle); t != nil {
		return t
	}
	return x.updateResidual()
}

// factorize moves G to the trial's parameters: in single precision where that is allowed
// and will do.
func (x *fixedPoint) factorize(allowSingle bool) *trouble {
	x.gStale = true
	allowSingle = allowSingle && x.model.presence == 1 && x.tol <= singleMaxError
	x.trial.SinglePrecision = allowSingle && x.g.factorizeSingle(x.trial.D, singleMaxError)
	if x.trial.SinglePrecision {
		return nil
	}
	if err := x.g.factorize(x.trial.D); err != nil {
		return failure(err)
	}
	return nil
}

// updateResidual reads the trial's image off G, and its residual, and accepts it. Where
// one is not a number it leaves the accepted iterate as it is.
func (x *fixedPoint) updateResidual() *trouble {
	x.g.formG()
	x.Stats.Sweeps++
	t := &x.trial
	x.model.cavities(t.image, t.SiteParams)
	t.Distance, t.Residual = distance(t.image, t.Cavities), x.model.maxChange(t.image, t.Cavities)
	if t.Residual < consistencyMaxChange*x.tol { // from farther off only the end asks, see solveGeneral
		maxNaN(&t.Residual, x.model.consistencyError(t.image, t.SiteParams))
	}
	if math.IsNaN(t.Residual) || math.IsNaN(t.Distance) || math.IsInf(t.Distance, 0) {
		return failure(errNotFinite)
	}
	x.accepted, x.trial, x.gStale = x.trial, x.accepted, false
	x.monitor.Recent.update(x.accepted.Distance)
	x.monitor.Best.update(x.accepted.Distance)
	x.reportProgress()
	return nil
}

// moveTo evaluates the trial. Where that fails it halves the step, and so on.
func (x *fixedPoint) moveTo(allowSingle bool) *trouble {
	var t *trouble
	for range maxHalvings {
		if t = x.evaluate(allowSingle); t == nil || t.status == Cancelled {
			return t
		}
		x.anderson.reset()
		x.monitor.StepLength = minStep
		x.Stats.Damped++
		x.trial.Cavities.towards(x.accepted.Cavities, 0.5)
	}
	return t
}

// restoreAccepted moves G back to the accepted iterate, in double precision.
func (x *fixedPoint) restoreAccepted() *trouble {
	x.trial.copyFrom(&x.accepted.Iterate)
	if t := x.factorize(false); t != nil {
		return t
	}
	x.g.formG()
	x.accepted.SinglePrecision, x.gStale = false, false
	return nil
}

// restoreAndEvaluate moves G back to the accepted iterate and takes the sweep from there.
func (x *fixedPoint) restoreAndEvaluate() *trouble {
	if t := x.restoreAccepted(); t != nil {
		return t
	}
	return x.updateResidual()
}

// done decides whether the iteration ends here.
func (x *fixedPoint) done(ctx context.Context) (bool, Status) {
	switch {
	case ctx.Err() != nil: // before all else: the residual may not be complete
		return true, Cancelled
	case x.accepted.Residual <= x.tol && !x.accepted.SinglePrecision:
		return true, Converged
	case x.Stats.Sweeps >= x.settings.MaxSweeps:
		return true, SweepLimit
	}
	return false, 0
}

// reportProgress tells Settings.Progress of the sweep.
func (x *fixedPoint) reportProgress() {
	if x.settings.Progress == nil {
		return
	}
	kind := "exact"
	if x.accepted.SinglePrecision {
		kind = "single"
	}
	x.settings.Progress(Sweep{Number: x.Stats.Sweeps, Kind: kind, Residual: x.accepted.Residual, Elapsed: time.Since(x.began), Step: x.g.lap()})
}

// andersonSweep is a sweep accelerated by Anderson's method.
type andersonSweep struct{}

func (andersonSweep) advance(_ context.Context, x *fixedPoint) *trouble {
	x.improveImage()
	x.monitor.Previous, x.monitor.StepLength = x.accepted.Distance, 1
	copy(x.trial.Cavities, x.accepted.Cavities)
	x.anderson.step(x.trial.Cavities, x.accepted.image)
	return x.finishSweep()
}

// dampedSweep is a sweep of which a part is taken: a smaller one after a sweep that led
// away, else a larger one.
type dampedSweep struct{}

func (dampedSweep) advance(_ context.Context, x *fixedPoint) *trouble {
	x.improveImage()
	x.anderson.reset()
	m := &x.monitor
	if x.accepted.Distance > m.Previous {
		m.StepLength = math.Max(m.StepLength/2, minStep)
	} else {
		m.StepLength = math.Min(m.StepLength*stepGrowth, 1)
	}
	if m.StepLength < 1 {
		x.Stats.Damped++
	}
	m.Previous = x.accepted.Distance
	copy(x.trial.Cavities, x.accepted.Cavities)
	x.trial.Cavities.towards(x.accepted.image, m.StepLength)
	return x.finishSweep()
}

// finishSweep evaluates the trial of a sweep.
func (x *fixedPoint) finishSweep() *trouble {
	x.checkpointTrial()
	return x.moveTo(x.accepted.Distance > singleMinDistance)
}

// improveImage lets the inner iteration move the image while G stays. Inner iterations
// that get nowhere are left out for a while.
func (x *fixedPoint) improveImage() {
	if x.monitor.Recent.Since >= stallToggle {
		x.monitor.Plain, x.monitor.Recent = !x.monitor.Plain, Best{Value: math.MaxFloat64}
		x.anderson.reset()
	}
	if d := x.accepted.Distance; x.enabled(InnerIterations) && !x.monitor.Plain && d < innerMaxDistance {
		x.Stats.Passes += x.inner.run(x.accepted.image, innerTol*d*d)
	}
}

// startValue leaves the start value in the trial: with warm the response to the
// cavities of a neighbouring Solution. Otherwise it is one common d, g = y d and u = d y^2
// (M03-61, M04 section 5): the common cavity's precision c solves 1/G(d) - d = c
// with d the response of typical sites.
//
// The random subset of the sites stands for itself here, as M03 has it: with
// its eigenvalues rescaled, d G(d) cannot exceed the subset's share of a K of
// low rank, and there may be no root.
func (x *fixedPoint) startValue(warm bool) error {
	p := x.trial.SiteParams
	if warm {
		x.trial.Cavities.set(x.settings.From.Cavity, x.model)
		x.model.siteParameters(p, x.trial.Cavities)
		return nil
	}
	s, err := newSpectrum(x.problem.Gram, x.settings.Seed)
	if err != nil {
		return fmt.Errorf("start value: %w", err)
	}
	s.share = 1
	c := s.homogeneousCavity(func(c float64) float64 {
		if x.model.cancelled() {
			return c
		}
		return meanOverTypical(len(p.D), func(i int) float64 { return x.typicalPrecision(i, c) })
	})
	x.model.each(func(i int) {
		d := 0.0
		if x.settings.Start != nil {
			d = x.settings.Start[i]
		} else {
			d = x.typicalPrecision(i, c)
		}
		p.D[i], p.G[i], p.U[i] = d, d*x.meanTarget(i), d*x.model.unit*x.model.unit
	})
	return nil
}

// typicalPrecision is the d of site i at the cavity of a typical site.
func (x *fixedPoint) typicalPrecision(i int, c float64) float64 {
	y := x.problem.Y[x.sites[i].examples[0]]
	unit := x.model.unit
	m := x.model.moments(i, loss.Cavity{C: c, Mean: typicalMargin * y, Var: unit * unit})
	return c * m.Shrinkage / math.Max(m.Response, minResponse)
}

// meanTarget is the mean target of site i.
func (x *fixedPoint) meanTarget(i int) float64 {
	mean, examples := 0.0, x.sites[i].examples
	for _, example := range examples {
		mean += x.problem.Y[example] / float64(len(examples))
	}
	return mean
}
