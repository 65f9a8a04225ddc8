package solver

import (
	"context"
	"errors"
	"math"
)

// fixedPoint is the iteration for losses whose d depends on the targets (T4-T6). One sweep maps cavities to
// site parameters, moves G there, and reads the next cavities, the image, off G:
//
//	(c, m_c, V_c) -> (d, g, u = -lambda) -> G -> (c, m_c, V_c).
//
// The cavities of all sites are of a like magnitude and move smoothly. The site parameters, which one could
// iterate as well, run over decades: for a hard margin d/c lies between 0 and 1/p(0), and a step half-way
// between two such d is no compromise. Damping, Anderson acceleration and Newton's method therefore act on
// the cavities.
type fixedPoint struct {
	*run
	model           *siteModel
	g               gMover
	accepted, trial point // the last iterate that was evaluated, at which G stands unless gStale, and the next
	inner           *innerIteration
	anderson        *anderson
	newton          *newton  // nil: Settings.Plain, or without memory
	monitor         monitor  // of the distance
	progress        progress // the phase, and what belongs to it
	gStale          bool     // G does not stand at accepted
	trouble         *trouble
}

// point is an iterate with the image of its cavities under a sweep.
type point struct {
	iterate
	image cavities
}

// progress is how far the search has come.
type progress struct {
	phase           phaseName
	sweepsConverged bool    // in phase fromStart
	newtonRadius    float64 // distance up to which Newton's method is tried
	rank            int     // of K within rounding, as far as it was needed
}

// trouble is why a step led to no new iterate: the Status that it gives the solve, and its cause.
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

// Limits of an evaluation.
const (
	maxHalvings    = 8    // halvings of a step whose G does not factorise
	singleMaxError = 2e-3 // what single precision may err by
	// change of the cavities, in tolerances, up to which the two sides of T6 are compared
	consistencyMaxChange = 100
)

// evaluate takes the sweep from the trial cavities, which makes the trial the accepted iterate.
func (x *fixedPoint) evaluate(allowSingle bool) *trouble {
	x.model.siteParameters(x.trial.siteParams, x.trial.cavities)
	if x.model.cancelled() { // they are not complete
		return &trouble{Cancelled, errCancelled}
	}
	if t := x.factorize(allowSingle); t != nil {
		return t
	}
	return x.updateResidual()
}

// factorize moves G to the trial's parameters: in single precision where that is allowed and will do.
func (x *fixedPoint) factorize(allowSingle bool) *trouble {
	x.gStale = true
	allowSingle = allowSingle && x.settings.Tolerance <= singleMaxError
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
	x.engine.FormG()
	x.Stats.Sweeps++
	t := &x.trial
	x.model.cavities(t.image, t.siteParams)
	t.Distance, t.Residual = x.model.distance(t.image, t.cavities), x.model.maxChange(t.image, t.cavities)
	// from farther off only the end asks, see solveGeneral
	if t.Residual < consistencyMaxChange*x.settings.Tolerance {
		maxNaN(&t.Residual, x.model.consistencyError(t.image, t.siteParams))
	}
	if math.IsNaN(t.Residual) || math.IsNaN(t.Distance) || math.IsInf(t.Distance, 0) {
		return failure(errNotFinite)
	}
	x.accepted, x.trial, x.gStale = x.trial, x.accepted, false
	x.monitor.Recent.update(x.accepted.Distance)
	x.monitor.best.update(x.accepted.Distance)
	x.reportProgress(x.Stats.Sweeps, x.accepted.Residual)
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
		x.trial.cavities.towards(x.accepted.cavities, 0.5)
	}
	return t
}

// restoreAccepted moves G back to the accepted iterate, in double precision.
func (x *fixedPoint) restoreAccepted() *trouble {
	x.trial.copyFrom(&x.accepted.iterate)
	if t := x.factorize(false); t != nil {
		return t
	}
	x.engine.FormG()
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
	case x.accepted.Residual <= x.settings.Tolerance && !x.accepted.SinglePrecision:
		return true, Converged
	case x.Stats.Sweeps >= x.settings.MaxSweeps:
		return true, SweepLimit
	}
	return false, 0
}

// resetAcceleration forgets how the iteration went so far.
func (x *fixedPoint) resetAcceleration() {
	x.anderson.reset()
	x.monitor = newMonitor()
	x.progress.newtonRadius = newtonRadius
}
