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
	accepted, trial iterate // the last that was evaluated, at which G stands unless gStale, and the next
	inner           *innerIteration
	anderson        *anderson
	newton          *newton // nil: Settings.Plain, or without memory
	monitor         monitor // of the distance
	phase           phaseName
	sweepsConverged bool    // in phase fromStart
	newtonRadius    float64 // distance up to which Newton's method is tried
	gStale          bool    // G does not stand at accepted
	cause           error   // of the last failure
}

// Why a step leads to no new iterate, beside a G that does not factorise.
var (
	errCancelled = errors.New("called off")
	errNotFinite = errors.New("the sites' answers are not finite")
)

// fail records what ended an iteration, and is the Status that it gives the solve. After a failure G stands
// at no accepted iterate; one that is cancelled has not moved it.
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
	singleMaxError = 2e-3 // what single precision may err by
	// change of the cavities, in tolerances, up to which the two sides of T6 are compared
	consistencyMaxChange = 100
)

// evaluate takes the sweep from the trial cavities, which makes the trial the accepted iterate.
func (x *fixedPoint) evaluate(allowSingle bool) error {
	x.model.siteParameters(x.trial.siteParams, x.trial.cavities)
	if x.model.cancelled() { // they are not complete
		return errCancelled
	}
	if err := x.factorize(&x.trial, allowSingle); err != nil {
		return err
	}
	return x.updateResidual()
}

// factorize moves G to an iterate's parameters: in single precision where that is allowed and will do.
func (x *fixedPoint) factorize(at *iterate, allowSingle bool) error {
	x.gStale = true
	allowSingle = allowSingle && x.settings.Tolerance <= singleMaxError
	if at.SinglePrecision = allowSingle && x.refreshSingle(at.D, singleMaxError); at.SinglePrecision {
		return nil
	}
	return x.refresh(at.D)
}

// updateResidual reads the trial's image off G, and its residual, and accepts it. Where
// one is not a number it leaves the accepted iterate as it is.
func (x *fixedPoint) updateResidual() error {
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
		return errNotFinite
	}
	x.accepted, x.trial, x.gStale = x.trial, x.accepted, false
	x.monitor.Recent.update(x.accepted.Distance)
	x.monitor.best.update(x.accepted.Distance)
	x.reportProgress(x.Stats.Sweeps, x.accepted.Residual)
	return nil
}

// moveTo evaluates the trial. Where that fails it halves the step, and so on.
func (x *fixedPoint) moveTo(allowSingle bool) (err error) {
	for range maxHalvings {
		if err = x.evaluate(allowSingle); err == nil || errors.Is(err, errCancelled) {
			return err
		}
		x.anderson.reset()
		x.monitor.StepLength = minStep
		x.Stats.Damped++
		x.trial.cavities.towards(x.accepted.cavities, 0.5)
	}
	return err
}

// restoreAccepted moves G back to the accepted iterate, in double precision.
func (x *fixedPoint) restoreAccepted() error {
	if err := x.factorize(&x.accepted, false); err != nil {
		return err
	}
	x.engine.FormG()
	x.gStale = false
	return nil
}

// evaluateAccepted takes the sweep from the accepted iterate once more, in double precision.
func (x *fixedPoint) evaluateAccepted() error {
	copy(x.trial.cavities, x.accepted.cavities)
	return x.evaluate(false)
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
	x.newtonRadius = newtonRadius
}
