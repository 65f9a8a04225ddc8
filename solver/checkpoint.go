package solver

import (
	"fmt"
	"math"
)

// keeper hands States to the caller. A solve is not lost because its State is:
// what the caller fails to keep is counted and told at the end.
type keeper struct {
	offered int
	failed  int
	cause   error
	sweep   int // Stats.Sweeps of the last one
}

// keep hands over a State, unless the last one is of the same sweep.
func (r *run) keep(state func() *State) {
	if r.settings.Checkpoint == nil || r.keeper.offered > 0 && r.keeper.sweep == r.Stats.Sweeps {
		return
	}
	r.keeper.offered++
	r.keeper.sweep = r.Stats.Sweeps
	if err := r.settings.Checkpoint(state()); err != nil {
		r.keeper.failed++
		r.keeper.cause = err
	}
}

// warnKeeper words what was not kept.
func (r *run) warnKeeper() {
	if k := r.keeper; k.failed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d checkpoints could not be kept: %v", k.failed, k.offered, k.cause))
	}
}

// moves is the number of refreshes and updates of G.
func (r Refreshes) moves() int { return r.Exact + r.Single + r.Woodbury }

// known is a smallest value so far, or 0 where there is none.
func known(best float64) float64 {
	if math.IsInf(best, 1) {
		return 0
	}
	return best
}

// unknown undoes known.
func unknown(best float64) float64 {
	if best == 0 {
		return math.Inf(1)
	}
	return best
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

// keep hands over where the iteration stands. ahead: next is what the next refresh
// moves to.
func (c *curvature) keep(ahead bool) {
	if math.IsNaN(c.Residual) {
		return // the last State stays
	}
	c.run.keep(func() *State {
		s := &State{Stats: c.Stats, Residual: c.Residual, D: clone(c.last), Best: known(c.best), Since: c.since, Step: c.stepSize, Plain: c.plain}
		if ahead {
			s.Next = clone(c.next)
		}
		return s
	})
}

// resume takes over a State: next is what its sweep in progress moves to, and G
// must be computed there from nothing.
func (c *curvature) resume() error {
	s := c.settings.Resume
	if s.Sites != nil {
		return badState("it is of a loss that is not quadratic")
	}
	c.Stats, c.Residual, c.best, c.since, c.stepSize, c.plain = s.Stats, s.Residual, unknown(s.Best), s.Since, s.Step, s.Plain
	copy(c.last, s.D)
	copy(c.next, s.D)
	if s.Next != nil {
		copy(c.next, s.Next)
	}
	c.absent = true
	return nil
}

// note hands over where G stands, at a place from where the iteration goes on.
// Where a sweep is long, and Newton's method has no room, ahead does.
func (x *general) note() {
	if x.newton != nil {
		x.keep(false)
	}
}

// ahead hands over where G stands and goes next.
func (x *general) ahead() {
	if x.newton == nil {
		x.keep(true)
	}
}

// keep hands over where G stands. ahead: at is where it goes next.
func (x *general) keep(ahead bool) {
	x.run.keep(func() *State {
		s := &State{Stats: x.Stats, Residual: x.Residual, D: clone(x.kept.d), Best: known(x.overall.value), Since: x.overall.since,
			Step: x.stepSize, Plain: x.noPasses, Sites: &SiteState{Cavities: clone(x.home), Gamma: clone(x.kept.g), Scatter: clone(x.kept.u),
				Distance: x.distance, Before: known(x.last), Recent: known(x.recent.value), Awaited: x.recent.since,
				History: x.mixing.history(), Stage: x.stage, Found: x.found, Rough: x.rough}}
		if x.newton != nil {
			s.Sites.Reach = x.newton.reach
		}
		if ahead {
			s.Next = clone(x.at)
		}
		if w := x.way; w != nil {
			s.Sites.Path = &Path{At: w.at, To: w.to, Growth: w.growth, Halves: w.halves, Began: w.began, Cavities: clone(w.home),
				D: clone(w.kept.d), Gamma: clone(w.kept.g), Scatter: clone(w.kept.u), Residual: w.residual, Status: w.status}
			if w.at > 0 {
				s.Sites.Path.Last = clone(w.last)
			}
			if w.step > 0 {
				s.Sites.Path.Behind, s.Sites.Path.Step = clone(w.behind), w.step
			}
		}
		return s
	})
}

// open takes the first sweep: from the start value, or from a State.
func (x *general) open() error {
	if x.settings.Resume == nil {
		return x.begin()
	}
	return x.resume()
}

// resume takes over a State and brings G to where it says. The factor of K is
// turned to where that was done before.
func (x *general) resume() error {
	s := x.settings.Resume
	c := s.Sites
	if c == nil {
		return badState("it is of a quadratic loss")
	}
	if x.newton == nil && c.Stage != Sweeping {
		return badState("its solve made use of Newton's method")
	}
	x.Stats, x.stage, x.found = s.Stats, c.Stage, c.Found
	copy(x.home, c.Cavities)
	x.kept.copy(parameters{s.D, c.Gamma, c.Scatter})
	if p := c.Path; p != nil {
		x.rejoin(p)
	}
	if x.newton == nil || x.stage != Sweeping {
		x.distrust()
	}
	x.Residual, x.standing = s.Residual, true
	x.recall(s)
	if s.Next != nil {
		copy(x.at, s.Next)
		x.far = x.distance > roughReach
		if x.move() == nil {
			return nil
		}
	}
	x.stay()
	x.far = c.Rough
	if err := x.refresh(); err != nil {
		return err
	}
	if err := x.observe(); err != nil {
		return err
	}
	x.recall(s) // the sweep that was seen before is not seen twice
	return nil
}

// recall takes over how the iteration went.
func (x *general) recall(s *State) {
	c := s.Sites
	x.distance, x.last, x.stepSize, x.noPasses = c.Distance, unknown(c.Before), s.Step, s.Plain
	x.overall, x.recent = lowest{unknown(s.Best), s.Since}, lowest{unknown(c.Recent), c.Awaited}
	x.mixing.recall(c.History)
	if x.newton != nil {
		x.newton.reach = c.Reach
	}
}

// rejoin takes over a path.
func (x *general) rejoin(p *Path) {
	n := len(x.sites)
	w := &way{at: p.At, to: p.To, growth: p.Growth, halves: p.Halves, began: p.Began, step: p.Step, residual: p.Residual, status: p.Status,
		home: newCavities(n), last: newCavities(n), behind: newCavities(n), kept: newParameters(n)}
	copy(w.home, p.Cavities)
	copy(w.last, p.Last)
	copy(w.behind, p.Behind)
	w.kept.copy(parameters{p.D, p.Gamma, p.Scatter})
	x.way, x.goal = w, pathGoal
	x.present(w.to, x.certainty())
}

// conclude hands over where a solve ended, but for one in the middle of a path,
// which would forget it.
func (x *general) conclude() {
	switch {
	case x.stage != Detouring:
	case x.Status == Converged:
		x.stage = Patient
	default:
		return
	}
	x.keep(false)
}

// history is what propose goes by, newest first: differences of points and of their
// changes in turn, then the last point and its change. Nil when there is nothing.
func (m *mixing) history() []float64 {
	if m.count == 0 {
		return nil
	}
	var all []float64
	for k := range min(m.count-1, m.depth) {
		all = append(append(all, m.points[m.slot(k)]...), m.changes[m.slot(k)]...)
	}
	return append(append(all, m.lastPoint...), m.lastChange...)
}

// recall takes over a history.
func (m *mixing) recall(history []float64) {
	m.count = 0
	size := len(m.lastPoint)
	next := func(dst []float64) { copy(dst, history); history = history[size:] }
	if len(history) == 0 {
		return
	}
	m.count = len(history) / (2 * size)
	for k := range m.count - 1 {
		next(m.points[m.slot(k)])
		next(m.changes[m.slot(k)])
	}
	next(m.lastPoint)
	next(m.lastChange)
}

// fitsMixing reports whether history can be one of an acceleration of vectors of a
// size.
func fitsMixing(history []float64, size int) bool {
	return len(history)%(2*size) == 0 && len(history)/(2*size) <= mixingDepth+1
}

// resumed reports, once, that the stage was entered before, in another process.
func (x *general) resumed() bool {
	was := x.standing
	x.standing = false
	return was
}
