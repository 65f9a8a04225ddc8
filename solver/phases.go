package solver

import "context"

// phaseName names a phase of the search for the fixed point, for losses that are not quadratic.
type phaseName int

const (
	fromStart     phaseName = iota // from the start value
	verifyLowRank                  // with K replaced by its numerical low-rank factor
	polish                         // with a longer stall
	plainSweeps                    // damped, without acceleration, from the start value
)

// search runs phases until one finds the fixed point.
type search struct{ *fixedPoint }

// phase is a row of the table.
type phase struct {
	enter func(x search) error                    // where it starts
	stall int                                     // sweeps without a smaller distance after which it gives up
	next  func(x search) (p phaseName, more bool) // next phase by Status; false: the search is over
}

// phases is the table: sweeps and Newton's method; with the factor of K if rounding may have ended these; if
// that does not converge, with a longer stall; last, damped sweeps only, from the start value.
var phases = [...]phase{
	fromStart:     {stay, stallBrief, search.afterStart},
	verifyLowRank: {search.verify, stallBrief, search.afterVerify},
	polish:        {search.restart, stallLong, search.afterPolish},
	plainSweeps:   {search.start, stallPlain, endOfSearch},
}

// Limits of the search.
const (
	stallBrief = 12  // sweeps without a smaller distance before another phase is tried
	stallLong  = 60  // in phase polish; converging cells of BenchmarkGrid take at most 78 in all
	stallPlain = 120 // of damped sweeps, which are slow; those that converge need up to 106
)

// runPhases searches for the fixed point. Without Newton's method there is one phase.
func (x search) runPhases(ctx context.Context) Status {
	if x.newton == nil {
		x.run.useFactor(x.run.engine, x.accepted.D)
		return x.iterate(ctx, stallLong)
	}
	for {
		x.run.Status = x.runPhase(ctx)
		if x.run.Status == Cancelled || x.run.Status == SweepLimit || x.drift.unbounded() {
			return x.run.Status
		}
		next, more := phases[x.phase].next(x)
		if !more {
			return x.run.Status
		}
		x.phase = next
	}
}

// runPhase runs a phase.
func (x search) runPhase(ctx context.Context) Status {
	p := phases[x.phase]
	if err := p.enter(x); err != nil {
		return x.fail(err)
	}
	return x.iterate(ctx, p.stall)
}

func (s Status) failed() bool { return s == Stalled || s == NumericalFailure }

func (x search) afterStart() (phaseName, bool) {
	x.sweepsConverged = x.run.Status == Converged
	if _, used := x.run.useFactor(x.run.engine, x.accepted.D); used {
		return verifyLowRank, true
	}
	return polish, x.run.Status == Stalled
}

// afterVerify ends the search if G with and without the factor agree up to the residual: it is rounding.
func (x search) afterVerify() (phaseName, bool) {
	return polish, x.run.Status == Stalled && !x.sweepsConverged
}

// afterPolish ends the search if rounding of K prevents progress.
func (x search) afterPolish() (phaseName, bool) {
	if x.run.Status == Stalled {
		x.settleRounding()
	}
	return plainSweeps, x.run.Status == Stalled
}

func endOfSearch(search) (phaseName, bool) { return 0, false }

func stay(search) error { return nil }

// verify repeats the search with the factor of K, which decides: a converged iterate is checked and improved;
// if sweeps had not converged, it begins at the start value.
func (x search) verify() error {
	if !x.sweepsConverged {
		return x.start()
	}
	x.resetAcceleration()
	return x.evaluateAccepted()
}

// restart evaluates the accepted iterate, whose distance is unknown.
func (x search) restart() error {
	defer x.resetAcceleration()
	return x.evaluateAccepted()
}
