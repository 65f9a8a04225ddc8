package solver

import (
	"fmt"
	"math"
)

// State is where a solve stands between two sweeps: what Solve needs, in another
// process, to go on from there (Settings.Resume) and to end at the same fixed
// point. It does not hold G, which the first sweep after a resumption computes
// again. Every vector is a copy, over the M sites; every number is finite.
type State struct {
	Stats    Stats     `json:"stats"`
	Residual float64   `json:"residual"`
	D        []float64 `json:"d"` // where G stands
	// Next is what the sweep in progress moves to, d or cavities, where that is
	// known: resuming takes that sweep, and loses no other.
	Next []float64 `json:"next,omitempty"`

	// How the iteration goes: its smallest residual or distance (0: none yet), the
	// sweeps since then, and the part of a step that it takes.
	Best  float64 `json:"best"`
	Since int     `json:"since"`
	Step  float64 `json:"step"`
	Plain bool    `json:"plain,omitempty"` // approximate steps, or passes, are left out

	// Of losses that are not quadratic.
	Sites *SiteState `json:"sites,omitempty"`
}

// SiteState is the rest of a State for losses whose d depends on the targets.
type SiteState struct {
	Cavities []float64 `json:"cavities"` // 3 M numbers: log c, m_c in the unit of package solver, log V_c
	Gamma    []float64 `json:"gamma"`
	Scatter  []float64 `json:"scatter"`
	Distance float64   `json:"distance"` // from Cavities to what G says
	Stage    Stage     `json:"stage"`
	Found    bool      `json:"found"`          // sweeps without the factor of K have converged
	Path     *Path     `json:"path,omitempty"` // in stage Detouring
}

// Path is how far a detour along thinned problems has come, in -log of the smallest
// p(0), and where it returns to if it ends early.
type Path struct {
	At     float64   `json:"at"` // 0: nowhere yet
	To     float64   `json:"to"`
	Growth float64   `json:"growth"`
	Halves int       `json:"halves"`
	Began  int       `json:"began"`          // Stats.Sweeps at its start
	Last   []float64 `json:"last,omitempty"` // cavities at At

	Cavities []float64 `json:"cavities"`
	D        []float64 `json:"d"`
	Gamma    []float64 `json:"gamma"`
	Scatter  []float64 `json:"scatter"`
	Residual float64   `json:"residual"`
	Status   Status    `json:"status"`
}

// check refuses a State that is none of a solve over so many sites.
func (s *State) check(sites int) error {
	vectors := []stateVector{{"d", s.D, sites, true}}
	next := sites
	if c := s.Sites; c != nil {
		next = 3 * sites
		vectors = append(vectors, stateVector{"cavities", c.Cavities, 3 * sites, false}, stateVector{"gamma", c.Gamma, sites, false},
			stateVector{"scatter", c.Scatter, sites, true})
		switch {
		case c.Stage < Sweeping || c.Stage > Patient:
			return badProblem("state to resume from: no stage %d", int(c.Stage))
		case (c.Stage == Detouring) != (c.Path != nil):
			return badProblem("state to resume from: stage %d and its path do not fit", int(c.Stage))
		case !finiteNumbers(c.Distance) || c.Distance < 0:
			return badProblem("state to resume from: distance is %v", c.Distance)
		}
		if p := c.Path; p != nil {
			vectors = append(vectors, stateVector{"home", p.Cavities, 3 * sites, false}, stateVector{"home d", p.D, sites, true},
				stateVector{"home gamma", p.Gamma, sites, false}, stateVector{"home scatter", p.Scatter, sites, true})
			if p.At > 0 {
				vectors = append(vectors, stateVector{"last", p.Last, 3 * sites, false})
			}
			if !finiteNumbers(p.At, p.To, p.Growth, p.Residual) || p.At < 0 || !(p.To > 0) || !(p.Growth > 0) || p.Halves < 0 || p.Status != Stalled && p.Status != NumericalFailure {
				return badProblem("state to resume from: the path is none")
			}
		}
	}
	if s.Next != nil {
		vectors = append(vectors, stateVector{"next", s.Next, next, s.Sites == nil})
	}
	for _, v := range vectors {
		if err := v.check(); err != nil {
			return err
		}
	}
	if !finiteNumbers(s.Residual, s.Best) || s.Residual < 0 || s.Best < 0 || s.Since < 0 || !(s.Step > 0 && s.Step <= 1) || s.Stats.Sweeps < 1 {
		return badProblem("state to resume from: residual %v, best %v for %d sweeps, step %v, sweep %d", s.Residual, s.Best, s.Since, s.Step, s.Stats.Sweeps)
	}
	return nil
}

// stateVector is a vector of a State and what it must be.
type stateVector struct {
	name     string
	values   []float64
	length   int
	positive bool // or zero
}

func (v stateVector) check() error {
	if len(v.values) != v.length {
		return badProblem("state to resume from: %s has %d numbers, want %d", v.name, len(v.values), v.length)
	}
	for i, x := range v.values {
		if !finiteNumbers(x) || v.positive && x < 0 {
			return badProblem("state to resume from: number %d of %s is %v", i+1, v.name, x)
		}
	}
	return nil
}

func finiteNumbers(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

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
func (r Refreshes) moves() int { return r.Exact + r.Single + r.Follow + r.Woodbury }

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
		return badProblem("state to resume from: it is of a loss that is not quadratic")
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
				Distance: x.distance, Stage: x.stage, Found: x.found}}
		if ahead {
			s.Next = clone(x.at)
		}
		if w := x.way; w != nil {
			s.Sites.Path = &Path{At: w.at, To: w.to, Growth: w.growth, Halves: w.halves, Began: w.began, Cavities: clone(w.home),
				D: clone(w.kept.d), Gamma: clone(w.kept.g), Scatter: clone(w.kept.u), Residual: w.residual, Status: w.status}
			if w.at > 0 {
				s.Sites.Path.Last = clone(w.last)
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
		return badProblem("state to resume from: it is of a quadratic loss")
	}
	if x.newton == nil && c.Stage != Sweeping {
		return badProblem("state to resume from: its solve made use of Newton's method")
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
	x.distance, x.Residual, x.stepSize, x.noPasses = c.Distance, s.Residual, s.Step, s.Plain
	x.overall = lowest{unknown(s.Best), s.Since}
	x.standing = true
	if s.Next != nil {
		x.last = x.distance
		copy(x.at, s.Next)
		if x.move() == nil {
			return nil
		}
	}
	if err := x.settleBack(); err != nil {
		return err
	}
	// The sweep that was seen before is not seen twice.
	x.distance, x.overall = c.Distance, lowest{unknown(s.Best), s.Since}
	return nil
}

// rejoin takes over a path.
func (x *general) rejoin(p *Path) {
	n := len(x.sites)
	w := &way{at: p.At, to: p.To, growth: p.Growth, halves: p.Halves, began: p.Began, residual: p.Residual, status: p.Status,
		home: newCavities(n), last: newCavities(n), kept: newParameters(n)}
	copy(w.home, p.Cavities)
	copy(w.last, p.Last)
	w.kept.copy(parameters{p.D, p.Gamma, p.Scatter})
	x.way, x.goal, x.newton.reach = w, pathGoal, pathReach
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

// resumed reports, once, that the stage was entered before, in another process.
func (x *general) resumed() bool {
	was := x.standing
	x.standing = false
	return was
}
