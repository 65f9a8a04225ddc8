package solver

import (
	"fmt"
	"math"
	"slices"
)

// checkpointer hands States to the caller. A solve is not lost because its State is:
// what the caller fails to keep is counted and told at the end.
type checkpointer struct {
	offered int
	failed  int
	cause   error
	sweep   int // Stats.Sweeps of the last one
}

// offer hands a State to the caller, unless the last one is of the same sweep.
func (r *run) offer(state func() *State) {
	c := &r.checkpoints
	if r.settings.Checkpoint == nil || c.offered > 0 && c.sweep == r.Stats.Sweeps {
		return
	}
	c.offered++
	c.sweep = r.Stats.Sweeps
	if err := r.settings.Checkpoint(state().whole(r.share)); err != nil {
		c.failed++
		c.cause = err
	}
}

// warnCheckpoints says what was not kept.
func (r *run) warnCheckpoints() {
	if c := r.checkpoints; c.failed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d checkpoints could not be kept: %v", c.failed,
			c.offered, c.cause))
	}
}

// checkpoint saves the accepted d; next is what the next refresh moves to, or nil.
func (c *precisionIteration) checkpoint(next []float64) {
	if math.IsNaN(c.Residual) {
		return // the last State stays
	}
	c.offer(func() *State {
		at := Iterate{SiteParams: SiteParams{D: slices.Clone(c.accepted)}, Residual: c.Residual}
		return &State{Stats: c.Stats, Iterate: at, Monitor: c.monitor, Next: slices.Clone(next)}
	})
}

// resume takes over a State: next is what its sweep in progress moves to, and G
// is stale.
func (c *precisionIteration) resume() error {
	s := c.settings.Resume
	if s.Search != nil {
		return badState("it is of a loss that is not quadratic")
	}
	c.Stats, c.Residual, c.monitor = s.Stats, s.Residual, s.Monitor
	copy(c.accepted, s.D)
	copy(c.next, s.D)
	if s.Next != nil {
		copy(c.next, s.Next)
	}
	c.gStale = true
	return nil
}

// checkpointAccepted saves the accepted iterate. Without Newton's method
// checkpointTrial saves the step that follows from it as well.
func (x *fixedPoint) checkpointAccepted() {
	if x.newton != nil {
		x.checkpoint(nil)
	}
}

func (x *fixedPoint) checkpointTrial() {
	if x.newton == nil {
		x.checkpoint(x.trial.Cavities)
	}
}

// checkpointFinal saves where a solve ended, but for one in the middle of a path,
// which would forget it.
func (x *fixedPoint) checkpointFinal() {
	if x.search.Phase == OnPath {
		if x.Status != Converged {
			return
		}
		x.search.Phase = FinalPolish
	}
	x.checkpoint(nil)
}

// checkpoint saves the accepted iterate, and the cavities to which it goes next, if known.
func (x *fixedPoint) checkpoint(next Cavities) {
	x.offer(func() *State {
		search := x.search.Search
		search.History = x.anderson.history()
		if c := search.Continuation; c != nil {
			copied := *c
			copied.Last, copied.Previous, copied.Origin = slices.Clone(c.Last), slices.Clone(c.Previous),
				c.Origin.clone()
			search.Continuation = &copied
		}
		return &State{Stats: x.Stats, Iterate: x.accepted.clone(), Monitor: x.monitor, Next: slices.Clone(next),
			Search: &search}
	})
}

// resume takes over a State and moves G to it, or on to its next cavities. The factor of
// K is used where that was done before.
func (x *fixedPoint) resume() *trouble {
	s := x.settings.Resume
	switch {
	case s.Search == nil:
		return failure(badState("it is of a quadratic loss"))
	case x.newton == nil && s.Search.Phase != FixedPoint:
		return failure(badState("its solve made use of Newton's method"))
	}
	x.Stats, x.search.Search, x.search.resumed = s.Stats, *s.Search, true
	x.accepted.copyFrom(&s.Iterate)
	if c := s.Search.Continuation; c != nil {
		copied := *c
		copied.Last, copied.Previous = slices.Clone(c.Last), slices.Clone(c.Previous)
		x.search.Continuation, x.tol = &copied, pathTol
		copied.setPresence(x)
	}
	if x.newton == nil || x.search.Phase != FixedPoint {
		x.useFactor()
	}
	x.restoreProgress(s)
	if s.Next != nil {
		copy(x.trial.Cavities, s.Next)
		if x.moveTo(x.accepted.Distance > singleMinDistance) == nil {
			return nil
		}
	}
	x.trial.copyFrom(&x.accepted.Iterate)
	if t := x.factorize(s.SinglePrecision); t != nil {
		return t
	}
	if t := x.updateResidual(); t != nil {
		return t
	}
	x.restoreProgress(s) // the sweep that was seen before is not seen twice
	return nil
}

// restoreProgress takes over how the iteration went.
func (x *fixedPoint) restoreProgress(s *State) {
	x.accepted.Distance, x.monitor, x.search.NewtonRadius = s.Distance, s.Monitor, s.Search.NewtonRadius
	x.anderson.restore(s.Search.History)
}
