package solver

import "context"

// iterate is the main loop: it takes steps until it has a Status, which is that of the accepted iterate.
// stall is the number of sweeps without a smaller distance after which it gives up.
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

// strategy is how the iteration moves on from its accepted iterate.
type strategy interface {
	// advance takes at least one sweep and leaves the iteration at a new accepted
	// iterate, or returns what it met.
	advance(ctx context.Context, x *fixedPoint) error
}

// strategy chooses by the distance: Newton's method where it is small, Anderson acceleration where it is
// moderate, damped sweeps, which find the way best, else and where the others have failed.
func (x *fixedPoint) strategy() strategy {
	switch d := x.accepted.Distance; {
	case x.phase == plainSweeps && d >= plainMinDistance:
		return plainSweep{}
	case x.newton != nil && d < x.newtonRadius:
		return x.newton
	case !x.settings.Plain && d < andersonMaxDistance:
		return andersonSweep{}
	}
	return dampedSweep{}
}
