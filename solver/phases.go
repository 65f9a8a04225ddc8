package solver

import "context"

// phaseName is how far the search for the fixed point has come, for losses that are not quadratic.
type phaseName int

const (
	fromStart     phaseName = iota // from the start value
	verifyLowRank                  // with K replaced by its numerical low-rank factor
	polish                         // with more patience
	plainSweeps                    // damped, without acceleration, from the start value
)

// search goes through phases until one finds the fixed point.
type search struct{ *fixedPoint }

// phase is a row of the table.
type phase struct {
	enter func(x search) error                    // where it starts
	stall int                                     // sweeps without a smaller distance after which it gives up
	next  func(x search) (p phaseName, more bool) // what follows, by Status; false: the search is over
}

// phases is the table: sweeps and Newton's method; where rounding may have had a part in
// their end, the same with the factor of K; where that does not converge, the same with more
// patience; last, damped sweeps and nothing else from the start value.
var phases = [...]phase{
	fromStart:     {stay, stallBrief, search.afterStart},
	verifyLowRank: {search.verify, stallBrief, search.afterVerify},
	polish:        {search.restart, stallLong, search.afterPolish},
	plainSweeps:   {search.start, stallPlain, endOfSearch},
}

// Limits of the search.
const (
	stallBrief = 12  // sweeps without a smaller distance before another phase is tried
	stallLong  = 60  // the same with patience; no cell of BenchmarkGrid that converges takes more than 78 in all
	stallPlain = 200 // the same of damped sweeps, which find their way slowly
)

// runPhases searches for the fixed point. Without Newton's method there is one phase.
func (x search) runPhases(ctx context.Context) Status {
	if x.newton == nil {
		x.useFactor(x.engine, x.accepted.D)
		return x.iterate(ctx, stallLong)
	}
	for {
		x.Status = x.runPhase(ctx)
		if x.Status == Cancelled || x.Status == SweepLimit {
			return x.Status
		}
		next, more := phases[x.phase].next(x)
		if !more {
			return x.Status
		}
		x.phase = next
	}
}

// runPhase goes through a phase.
func (x search) runPhase(ctx context.Context) Status {
	p := phases[x.phase]
	if err := p.enter(x); err != nil {
		return x.fail(err)
	}
	return x.iterate(ctx, p.stall)
}

func (s Status) failed() bool { return s == Stalled || s == NumericalFailure }

func (x search) afterStart() (phaseName, bool) {
	x.sweepsConverged = x.Status == Converged
	if _, used := x.useFactor(x.engine, x.accepted.D); used {
		return verifyLowRank, true
	}
	return polish, x.Status == Stalled
}

// afterVerify ends the search where both ways of computing G agree up to the residual: it is rounding.
func (x search) afterVerify() (phaseName, bool) {
	return polish, x.Status == Stalled && !x.sweepsConverged
}

// afterPolish gives up where K is not known well enough to go on.
func (x search) afterPolish() (phaseName, bool) {
	if x.Status == Stalled {
		x.settleRounding()
	}
	return plainSweeps, x.Status == Stalled
}

func endOfSearch(search) (phaseName, bool) { return 0, false }

func stay(search) error { return nil }

// verify starts over with the factor of K, which has the last word: a solve has
// converged if the same iterate is found to have, and goes on from there otherwise; where
// sweeps had not converged, it begins at the start value.
func (x search) verify() error {
	if !x.sweepsConverged {
		return x.start()
	}
	x.resetAcceleration()
	return x.evaluateAccepted()
}

// restart returns to the accepted iterate, whose distance is not known, and takes the sweep from there.
func (x search) restart() error {
	defer x.resetAcceleration()
	return x.evaluateAccepted()
}
