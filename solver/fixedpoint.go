package solver

import (
	"context"
	"errors"
	"math"
)

// fixedPoint is the iteration for losses whose d depends on the targets (T4-T6). One sweep maps cavities to
// site parameters, updates G, and reads the next cavities, the image, off G:
//
//	(c, m_c, V_c) -> (d, g, u = -lambda) -> G -> (c, m_c, V_c).
//
// The cavities of all sites have similar magnitudes and change smoothly, unlike the site parameters, which
// span decades: for a hard margin d/c lies between 0 and 1/p(0). Damping, Anderson acceleration and Newton's
// method therefore act on the cavities.
type fixedPoint struct {
	run             *run
	model           *siteModel
	accepted, trial iterate // the last evaluated, for which G is current unless gStale, and the next
	inner           *innerIteration
	anderson        *anderson
	newton          *newton // nil: other Steps, or without memory
	monitor         monitor // of the distance
	drift           drift
	phase           phaseName
	sweepsConverged bool    // in phase fromStart
	newtonRadius    float64 // distance up to which Newton's method is tried
	gStale          bool    // G is not the one of accepted
	cause           error   // of the last failure
}

// Reasons for a failed step, besides a G that does not factorise.
var (
	errCancelled = errors.New("called off")
	errNotFinite = errors.New("the sites' answers are not finite")
)

// fail records the cause that ended an iteration and returns the Status of the solve. After a failure, but
// not after cancellation, G is stale.
func (x *fixedPoint) fail(cause error) Status {
	if errors.Is(cause, errCancelled) {
		return Cancelled
	}
	x.cause, x.gStale = cause, true
	return NumericalFailure
}

// Limits of an evaluation.
const (
	maxHalvings    = 8    // halvings of a step whose G does not factorise
	singleMaxError = 2e-3 // largest error of single precision
)

// evaluate performs the sweep from the trial cavities and accepts the trial.
func (x *fixedPoint) evaluate(allowSingle bool) error {
	x.model.siteParameters(x.trial.siteParams, x.trial.cavities)
	if x.model.cancelled() { // the parameters are incomplete
		return errCancelled
	}
	if err := x.factorize(&x.trial, allowSingle); err != nil {
		return err
	}
	return x.updateResidual()
}

// factorize updates G to an iterate's parameters: at the active sites only (WoodburySteps), in single
// precision if allowed and accurate enough, or exactly.
func (x *fixedPoint) factorize(at *iterate, allowSingle bool) error {
	current := !x.gStale
	x.gStale, at.SinglePrecision = true, false
	if current && x.run.settings.Steps == WoodburySteps &&
		x.run.updateMoving(at.D, activeShare, activeFraction, activeChange) {
		return nil
	}
	allowSingle = allowSingle && x.run.settings.Tolerance <= singleMaxError
	if at.SinglePrecision = allowSingle && x.run.refreshSingle(at.D, singleMaxError); at.SinglePrecision {
		return nil
	}
	return x.run.refresh(at.D)
}

// updateResidual reads the trial's image and residual off G, and accepts the trial unless one is NaN.
func (x *fixedPoint) updateResidual() error {
	x.run.engine.FormG()
	x.run.Stats.Sweeps++
	t := &x.trial
	x.model.cavities(t.image, t.siteParams)
	t.Distance, t.Residual = x.model.distance(t.image, t.cavities), x.model.maxChange(t.image, t.cavities)
	if t.Residual <= x.run.settings.Tolerance { // else only solveGeneral computes it, at the end
		maxNaN(&t.Residual, x.model.consistencyError(t.image, t.siteParams))
	}
	if math.IsNaN(t.Residual) || math.IsNaN(t.Distance) || math.IsInf(t.Distance, 0) {
		return errNotFinite
	}
	x.accepted, x.trial, x.gStale = x.trial, x.accepted, false
	x.monitor.Recent.update(x.accepted.Distance)
	x.monitor.best.update(x.accepted.Distance)
	x.drift.update(x.model, &x.accepted)
	x.run.reportProgress(x.run.Stats.Sweeps, x.accepted.Residual)
	return nil
}

// moveTo evaluates the trial, halving the step while that fails.
func (x *fixedPoint) moveTo(allowSingle bool) (err error) {
	for range maxHalvings {
		if err = x.evaluate(allowSingle); err == nil || errors.Is(err, errCancelled) {
			return err
		}
		x.anderson.reset()
		x.monitor.StepLength = minStep
		x.run.Stats.Damped++
		x.trial.cavities.towards(x.accepted.cavities, 0.5)
	}
	return err
}

// restoreAccepted resets G to the accepted iterate, in double precision.
func (x *fixedPoint) restoreAccepted() error {
	if err := x.factorize(&x.accepted, false); err != nil {
		return err
	}
	x.run.engine.FormG()
	x.gStale = false
	return nil
}

// evaluateAccepted repeats the sweep from the accepted iterate, in double precision.
func (x *fixedPoint) evaluateAccepted() error {
	copy(x.trial.cavities, x.accepted.cavities)
	return x.evaluate(false)
}

// done decides whether the iteration ends.
func (x *fixedPoint) done(ctx context.Context) (bool, Status) {
	switch {
	case ctx.Err() != nil: // first: the residual may be incomplete
		return true, Cancelled
	case x.accepted.Residual <= x.run.settings.Tolerance && !x.accepted.SinglePrecision:
		return true, Converged
	case x.run.Stats.Sweeps >= x.run.settings.MaxSweeps:
		return true, SweepLimit
	case x.drift.unbounded():
		return true, Stalled
	}
	return false, 0
}

// resetAcceleration drops the history of the iteration.
func (x *fixedPoint) resetAcceleration() {
	x.anderson.reset()
	x.drift.reset()
	x.monitor = newMonitor()
	x.newtonRadius = newtonRadius
}
