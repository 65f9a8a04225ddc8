package solver

import "context"

// Phase is how far the search for the fixed point has come, for losses that are not
// quadratic.
type Phase int

const (
	FixedPoint    Phase = iota // from the start value
	VerifyLowRank              // with K replaced by its numerical low-rank factor
	OnPath                     // continuation
	Polish                     // after it, with more patience
	PlainSweeps                // damped, without acceleration, from the start value
)

// phase is a row of the table.
type phase struct {
	enter func(x *fixedPoint) *trouble                    // where it starts
	run   func(x *fixedPoint, ctx context.Context) Status // what it does
	next  func(x *fixedPoint) (p Phase, more bool)        // what follows, by Status; false: the search is over
}

// phases is the table: sweeps and Newton's method; where rounding may have had a part in
// their end, the same with the factor of K; where that does not converge, a continuation,
// and the same with more patience; last, damped sweeps and nothing else from the start value.
var phases = [...]phase{
	FixedPoint:    {stay, (*fixedPoint).iterateBriefly, (*fixedPoint).afterFixedPoint},
	VerifyLowRank: {(*fixedPoint).verify, (*fixedPoint).iterateBriefly, (*fixedPoint).afterVerify},
	OnPath:        {stay, (*fixedPoint).followPath, (*fixedPoint).afterPath},
	Polish:        {(*fixedPoint).restart, (*fixedPoint).iterateLong, (*fixedPoint).afterPolish},
	PlainSweeps:   {(*fixedPoint).start, (*fixedPoint).iteratePlainly, endOfSearch},
}

// Limits of the search.
const (
	stallContinuation = 12 // sweeps without a smaller distance before a continuation is tried
	// the same before giving up; no cell of BenchmarkGrid that converges takes more than 78 in all
	stallStop  = 60
	stallPlain = 200 // the same of damped sweeps, which find their way slowly
)

// runPhases searches for the fixed point. Without Newton's method there is one phase.
func (x *fixedPoint) runPhases(ctx context.Context) Status {
	if x.newton == nil {
		x.useFactor()
		return x.iterateLong(ctx)
	}
	for {
		x.Status = x.runPhase(ctx)
		if x.Status == Cancelled || x.Status == SweepLimit {
			return x.Status
		}
		next, more := phases[x.search.phase].next(x)
		if !more {
			return x.Status
		}
		x.search.phase = next
	}
}

// runPhase goes through a phase.
func (x *fixedPoint) runPhase(ctx context.Context) Status {
	p := phases[x.search.phase]
	if t := p.enter(x); t != nil {
		return x.fail(t)
	}
	return p.run(x, ctx)
}

// iterateBriefly gives up early, for a continuation to take over.
func (x *fixedPoint) iterateBriefly(ctx context.Context) Status {
	return x.iterate(ctx, stallContinuation)
}

// iterateLong is patient.
func (x *fixedPoint) iterateLong(ctx context.Context) Status {
	return x.iterate(ctx, stallStop)
}

// iteratePlainly is more so.
func (x *fixedPoint) iteratePlainly(ctx context.Context) Status {
	return x.iterate(ctx, stallPlain)
}

func (x *fixedPoint) failed() bool { return x.Status == Stalled || x.Status == NumericalFailure }

func (x *fixedPoint) afterFixedPoint() (Phase, bool) {
	x.search.sweepsConverged = x.Status == Converged
	if x.useFactor() {
		return VerifyLowRank, true
	}
	return OnPath, x.failed()
}

// afterVerify ends the search where both ways of computing G agree up to the residual: it is rounding.
func (x *fixedPoint) afterVerify() (Phase, bool) {
	return OnPath, x.failed() && !(x.search.sweepsConverged && x.Status == Stalled)
}

func (x *fixedPoint) afterPath() (Phase, bool) { return Polish, x.Status == Stalled }

// afterPolish gives up where K is not known well enough to go on.
func (x *fixedPoint) afterPolish() (Phase, bool) {
	if x.Status == Stalled {
		x.settleRounding()
	}
	return PlainSweeps, x.Status == Stalled
}

func endOfSearch(*fixedPoint) (Phase, bool) { return 0, false }

func stay(*fixedPoint) *trouble { return nil }

// verify starts over with the factor of K, which has the last word: a solve has
// converged if the same iterate is found to have, and goes on from there otherwise; where
// sweeps had not converged, it begins at the start value.
func (x *fixedPoint) verify() *trouble {
	if !x.search.sweepsConverged {
		return x.start()
	}
	x.resetAcceleration()
	return x.restoreAndEvaluate()
}

// restart returns to the accepted iterate, whose distance is not known, and takes the sweep from there.
func (x *fixedPoint) restart() *trouble {
	defer x.resetAcceleration()
	return x.restoreAndEvaluate()
}
