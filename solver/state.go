package solver

import "math"

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
	Before   float64   `json:"before"`   // the same one sweep ago; 0: not known
	Recent   float64   `json:"recent"`   // like Best and Since, since passes were taken up or left out
	Awaited  int       `json:"awaited"`
	Reach    float64   `json:"reach"`             // distance up to which Newton's method is tried
	History  []float64 `json:"history,omitempty"` // what the acceleration remembers
	Stage    Stage     `json:"stage"`
	Rough    bool      `json:"rough,omitempty"` // G was in single precision
	Found    bool      `json:"found"`           // sweeps without the factor of K have converged
	Path     *Path     `json:"path,omitempty"`  // in stage Detouring
}

// Path is how far a detour along thinned problems has come, in -log of the smallest
// p(0), and where it returns to if it ends early.
type Path struct {
	At     float64   `json:"at"` // 0: nowhere yet
	To     float64   `json:"to"`
	Growth float64   `json:"growth"`
	Halves int       `json:"halves"`
	Began  int       `json:"began"`            // Stats.Sweeps at its start
	Last   []float64 `json:"last,omitempty"`   // cavities at At
	Behind []float64 `json:"behind,omitempty"` // cavities one step before
	Step   float64   `json:"step"`             // from there to At in the logarithm; 0: there is none

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
	if s.Next != nil && s.Sites == nil {
		vectors = append(vectors, stateVector{"next", s.Next, sites, true})
	}
	if s.Next != nil && s.Sites != nil {
		vectors = append(vectors, stateVector{"next", s.Next, 3 * sites, false})
	}
	if !finiteNumbers(s.Residual, s.Best) || s.Residual < 0 || s.Best < 0 || s.Since < 0 || !(s.Step > 0 && s.Step <= 1) || s.Stats.Sweeps < 1 {
		return badState("residual %v, best %v for %d sweeps, step %v, sweep %d", s.Residual, s.Best, s.Since, s.Step, s.Stats.Sweeps)
	}
	if err := checkVectors(vectors...); err != nil || s.Sites == nil {
		return err
	}
	return s.Sites.check(sites)
}

func (s *SiteState) check(sites int) error {
	switch {
	case s.Stage < Sweeping || s.Stage > Patient:
		return badState("no stage %d", int(s.Stage))
	case (s.Stage == Detouring) != (s.Path != nil):
		return badState("stage %d and its path do not fit", int(s.Stage))
	case !finiteNumbers(s.Distance, s.Before, s.Recent, s.Reach) || min(s.Distance, s.Before, s.Recent, s.Reach) < 0:
		return badState("distances are %v, %v, %v, %v", s.Distance, s.Before, s.Recent, s.Reach)
	case !fitsMixing(s.History, 3*sites) || !finiteNumbers(s.History...):
		return badState("a history of %d numbers for %d sites", len(s.History), sites)
	}
	err := checkVectors(stateVector{"cavities", s.Cavities, 3 * sites, false}, stateVector{"gamma", s.Gamma, sites, false},
		stateVector{"scatter", s.Scatter, sites, true})
	if err != nil || s.Path == nil {
		return err
	}
	return s.Path.check(sites)
}

func (p *Path) check(sites int) error {
	if !finiteNumbers(p.At, p.To, p.Growth, p.Step, p.Residual) || p.At < 0 || !(p.To > 0) || !(p.Growth > 0) || p.Halves < 0 ||
		p.Status != Stalled && p.Status != NumericalFailure {
		return badState("a path from %v to %v, growth %v, halved %d times, step %v, residual %v, status %d",
			p.At, p.To, p.Growth, p.Halves, p.Step, p.Residual, int(p.Status))
	}
	vectors := []stateVector{{"the path's cavities", p.Cavities, 3 * sites, false}, {"the path's d", p.D, sites, true},
		{"the path's gamma", p.Gamma, sites, false}, {"the path's scatter", p.Scatter, sites, true}}
	if p.At > 0 {
		vectors = append(vectors, stateVector{"the path's last", p.Last, 3 * sites, false})
	}
	if p.Step > 0 {
		vectors = append(vectors, stateVector{"the path's behind", p.Behind, 3 * sites, false})
	}
	return checkVectors(vectors...)
}

func badState(format string, args ...any) error {
	return badProblem("state to resume from: "+format, args...)
}

// stateVector is a vector of a State and what it must be.
type stateVector struct {
	name     string
	values   []float64
	length   int
	positive bool // or zero
}

func checkVectors(vectors ...stateVector) error {
	for _, v := range vectors {
		if len(v.values) != v.length {
			return badState("%s has %d numbers, want %d", v.name, len(v.values), v.length)
		}
		for i, x := range v.values {
			if !finiteNumbers(x) || v.positive && x < 0 {
				return badState("number %d of %s is %v", i+1, v.name, x)
			}
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
