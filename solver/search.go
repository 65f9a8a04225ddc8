package solver

import "context"

// Stage is how far the search of the general iteration has come. See search.
type Stage int

const (
	Sweeping   Stage = iota // from the start value
	Rechecking              // by the factor of K
	Settling                // where only rounding is left
	Detouring               // along a path
	Patient                 // after it, with more patience
)

// search looks for the fixed point by sweeps; where rounding may have had a part
// in their end, with the factor of K in the place of B; then along a path; and
// with more patience.
func (x *general) search(ctx context.Context) Status {
	if x.newton == nil {
		x.distrust()
		return x.sweeps(ctx, giveUp)
	}
	for {
		x.Status = x.pursue(ctx)
		x.standing = false // what comes now was not entered before
		next, over := x.after()
		if over {
			return x.Status
		}
		x.stage = next
	}
}

// pursue goes through a stage.
func (x *general) pursue(ctx context.Context) Status {
	switch x.stage {
	case Rechecking:
		return x.recheck(ctx)
	case Settling:
		return x.again(ctx, x.comeBack)
	case Detouring:
		return x.detour(ctx)
	case Patient:
		return x.again(ctx, x.settleBack)
	}
	return x.sweeps(ctx, giveWay)
}

// after says which stage follows, or that the search is over.
func (x *general) after() (next Stage, over bool) {
	if x.Status == Cancelled || x.Status == SweepLimit {
		return 0, true
	}
	failed := x.Status == Stalled || x.Status == NumericalFailure
	switch x.stage {
	case Sweeping:
		x.found = x.Status == Converged
		if x.distrust() {
			return Rechecking, false
		}
		return Detouring, !failed
	case Rechecking:
		if x.found && x.Status == Stalled {
			// Both ways of computing G agree up to this residual: it is rounding, which
			// patience may beat where it is near the goal.
			return Settling, x.Residual >= rounded*x.goal
		}
		return Detouring, !failed
	case Detouring:
		return Patient, x.Status != Stalled
	}
	return 0, true
}

// recheck gives the factor of K the last word: a solve has converged if it finds
// the same at the last G. Else it goes on from there, or, where the sweeps had
// gone astray, from the start.
func (x *general) recheck(ctx context.Context) Status {
	if !x.resumed() {
		enter := x.begin
		if x.found {
			enter = func() error {
				x.anew()
				return x.settleBack()
			}
		}
		if err := enter(); err != nil {
			return x.lose(err)
		}
		x.astray = false
	}
	return x.sweeps(ctx, giveWay)
}

// again sweeps with more patience from where back leads.
func (x *general) again(ctx context.Context, back func() error) Status {
	if !x.resumed() {
		if back() != nil {
			return x.Status
		}
		x.anew()
	}
	return x.sweeps(ctx, giveUp)
}
