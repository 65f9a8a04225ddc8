package solver

import (
	"math"
	"slices"

	"bootbench/linalg"
)

// State is a solve between two sweeps: what Solve needs, in another
// process, to go on from there (Settings.Resume) and to end at the same fixed
// point, on any number of ranks. It does not hold G, which the first sweep after a resumption computes
// again. Every vector is a copy, over the M sites; every number is finite.
type State struct {
	Stats Stats `json:"stats"`
	Iterate
	// Next is what the sweep in progress moves to, d or cavities, where that is
	// known: resuming takes that sweep, and loses no other.
	Next    []float64 `json:"next,omitempty"`
	Monitor Monitor   `json:"monitor"`          // of the residual (square loss) or the distance
	Search  *Search   `json:"search,omitempty"` // of losses that are not quadratic
}

// Search is what the iteration for losses that are not quadratic remembers beside its
// iterate.
type Search struct {
	Phase           Phase `json:"phase"`
	SweepsConverged bool  `json:"sweeps_converged"` // in phase FixedPoint
	// distance up to which Newton's method is tried
	NewtonRadius float64       `json:"newton_radius"`
	History      []float64     `json:"history,omitempty"`      // of Anderson acceleration
	Continuation *Continuation `json:"continuation,omitempty"` // in phase OnPath
}

// whole is a State of own sites over all of them, own the other way round.
func (s *State) whole(share linalg.Share) *State { return s.mapped(share, share.Own(), share.Gather) }
func (s *State) own(share linalg.Share) *State   { return s.mapped(share, share.Total, share.Of) }

// mapped is s with f applied to every vector over n sites.
func (s *State) mapped(share linalg.Share, n int, f func(x []float64) []float64) *State {
	if share.Alone() {
		return s
	}
	each := func(x []float64) (all []float64) { // several vectors end to end
		for v := range slices.Chunk(x, n) {
			all = append(all, f(v)...)
		}
		return all
	}
	iterate := func(x Iterate) Iterate {
		x.Cavities, x.D, x.G, x.U = each(x.Cavities), each(x.D), each(x.G), each(x.U)
		return x
	}
	to := *s
	to.Iterate, to.Next = iterate(s.Iterate), each(s.Next)
	if s.Search != nil {
		search := *s.Search
		search.History = each(search.History)
		to.Search = &search
	}
	return &to
}

// check refuses a State that is none of a solve over so many sites.
func (s *State) check(sites int) error {
	vectors := []stateVector{{"d", s.D, sites, true}}
	if s.Next != nil && s.Search == nil {
		vectors = append(vectors, stateVector{"next", s.Next, sites, true})
	}
	if s.Next != nil && s.Search != nil {
		vectors = append(vectors, stateVector{"next", s.Next, 3 * sites, false})
	}
	m := s.Monitor
	if !nonNegative(s.Residual, m.Best.Value, m.Recent.Value, m.Previous) || m.Best.Since < 0 ||
		m.Recent.Since < 0 || !(m.StepLength > 0 && m.StepLength <= 1) || s.Stats.Sweeps < 1 {
		return badState("residual %v, %+v, sweep %d", s.Residual, m, s.Stats.Sweeps)
	}
	if err := checkVectors(vectors...); err != nil || s.Search == nil {
		return err
	}
	if err := s.Iterate.check("", sites); err != nil {
		return err
	}
	return s.Search.check(sites)
}

// check refuses an iterate of a loss that is not quadratic.
func (x *Iterate) check(of string, sites int) error {
	if !nonNegative(x.Residual, x.Distance) {
		return badState("%sresidual %v, distance %v", of, x.Residual, x.Distance)
	}
	return checkVectors(stateVector{of + "cavities", x.Cavities, 3 * sites, false},
		stateVector{of + "d", x.D, sites, true},
		stateVector{of + "g", x.G, sites, false}, stateVector{of + "u", x.U, sites, true})
}

func (s *Search) check(sites int) error {
	switch {
	case s.Phase < 0 || s.Phase > PlainSweeps:
		return badState("no phase %d", int(s.Phase))
	case (s.Phase == OnPath) != (s.Continuation != nil):
		return badState("phase %d and its continuation do not fit", int(s.Phase))
	case !nonNegative(s.NewtonRadius):
		return badState("Newton's method from a distance of %v", s.NewtonRadius)
	case len(s.History)%(6*sites) != 0 || len(s.History) > 6*sites*(andersonDepth+1) || !finite(s.History...):
		return badState("a history of %d numbers for %d sites", len(s.History), sites)
	case s.Continuation == nil:
		return nil
	}
	return s.Continuation.check(sites)
}

func (c *Continuation) check(sites int) error {
	if !nonNegative(c.At, c.To, c.End, c.Growth, c.Step) || c.To == 0 || c.Growth == 0 || c.Halvings < 0 ||
		c.Status != Stalled && c.Status != NumericalFailure {
		return badState("a continuation from %v to %v, growth %v, halved %d times, step %v, status %d",
			c.At, c.To, c.Growth, c.Halvings, c.Step, int(c.Status))
	}
	var vectors []stateVector
	if c.At > 0 {
		vectors = append(vectors, stateVector{"the continuation's last", c.Last, 3 * sites, false})
	}
	if c.Step > 0 {
		vectors = append(vectors, stateVector{"the continuation's previous", c.Previous, 3 * sites, false})
	}
	if err := checkVectors(vectors...); err != nil {
		return err
	}
	return c.Origin.check("the continuation's origin: ", sites)
}

// Phase is how far the search for the fixed point has come, for losses that are not
// quadratic.
type Phase int

const (
	FixedPoint    Phase = iota // from the start value
	VerifyLowRank              // with K replaced by its numerical low-rank factor
	Polish                     // where only rounding is left
	OnPath                     // continuation
	FinalPolish                // after it, with more patience
	PlainSweeps                // damped, without acceleration, from the start value
)

// Continuation is how far a path of problems has been followed, and where the iteration
// returns to if the path ends early.
type Continuation struct {
	At         float64  `json:"at"`                 // parameter of the last point; 0: there is none yet
	To         float64  `json:"to"`                 // of the next
	End        float64  `json:"end"`                // of the problem itself
	Growth     float64  `json:"growth"`             // log of the next step's factor
	Halvings   int      `json:"halvings"`           // of it in a row
	FirstSweep int      `json:"first_sweep"`        // Stats.Sweeps at the start
	Last       Cavities `json:"last,omitempty"`     // at At
	Previous   Cavities `json:"previous,omitempty"` // one point before
	// log of the factor from there to At; 0: there is no such point
	Step   float64 `json:"step"`
	Origin Iterate `json:"origin"`
	Status Status  `json:"status"` // of the solve at Origin
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
			if !finite(x) || v.positive && x < 0 {
				return badState("number %d of %s is %v", i+1, v.name, x)
			}
		}
	}
	return nil
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// nonNegative reports that all are finite and none is below 0.
func nonNegative(values ...float64) bool {
	for _, v := range values {
		if !finite(v) || v < 0 {
			return false
		}
	}
	return true
}
