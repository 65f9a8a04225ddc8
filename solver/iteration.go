package solver

import "context"

// iterate is the main loop: it takes steps until the accepted iterate has a Status. It gives up after stall
// sweeps without a smaller distance.
func (x *fixedPoint) iterate(ctx context.Context, stall int) Status {
	for {
		if done, status := x.done(ctx); done {
			return status
		}
		if x.monitor.best.Since >= stall {
			return Stalled
		}
		if err := x.strategy().advance(ctx, x); err != nil {
			return x.fail(err)
		}
	}
}

// strategy computes the next iterate.
type strategy interface {
	// advance takes at least one sweep and accepts a new iterate, or returns the cause of its failure.
	advance(ctx context.Context, x *fixedPoint) error
}

// strategy chooses by the distance: Newton's method if it is small, Anderson acceleration if it is moderate,
// else, and after failures of these, damped sweeps, the most robust.
func (x *fixedPoint) strategy() strategy {
	switch d := x.accepted.Distance; {
	case x.phase == plainSweeps && d >= plainMinDistance:
		return plainSweep{}
	case x.newton != nil && d < x.newtonRadius:
		return x.newton
	case x.run.settings.Steps == MixedSteps && d < andersonMaxDistance:
		return andersonSweep{}
	}
	return dampedSweep{}
}
