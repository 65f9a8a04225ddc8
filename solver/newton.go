package solver

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/solver/internal/linear"
)

// Limits of Newton's method.
const (
	newtonMaxSites = 12000 // sites up to which it is tried if it needs matrices of their order
	newtonRadius   = 0.3   // distance up to which it is tried
	radiusDecrease = 4     // distance of a failure over the new radius
	newtonHalvings = 3     // halvings of a step that does not decrease the distance
	newtonMaxStep  = 5     // largest step of a coordinate
	newtonMaxSteps = 12    // steps in a row
	// a step may be in single precision if the squared distance, its expected result, is above this
	singleMinNewton = 0.02
	gmresDepth      = 40   // products with the Jacobian per step at most
	gmresLoosest    = 0.1  // relative residual of the linear system at large distances
	gmresTightest   = 1e-4 // and at the end
)

// newton solves image = cavities by an inexact Newton method: every step solves
// (I - F') step = image - cavities, 3M unknowns, by GMRES. A product with the Jacobian
// costs 4 M^2 multiplications, its matrices M^3 flops per step; on a factor some 4 M r^2 flops.
type newton struct {
	jacobian    *jacobian
	gmres       *linear.GMRES
	step, right cavities
	from        cavities
}

func newNewton(s *siteModel) *newton {
	n := 3 * len(s.sites)
	return &newton{jacobian: newJacobian(s), gmres: linear.NewGMRES(n, gmresDepth), step: make(cavities, n),
		right: make(cavities, n), from: make(cavities, n)}
}

// newtonFits reports whether Newton's method is tried and fits into room bytes. On a factor it needs no
// matrices of the order of the sites.
func newtonFits(sites int, factor bool, room int64) bool {
	if room < 0 || !factor && sites > newtonMaxSites {
		return false
	}
	return linalg.CheckMemory(newtonBytes(sites, factor), room, "Newton's method") == nil
}

// advance takes Newton steps until the iteration is done or the distance stops decreasing; it then shrinks
// the radius.
func (w *newton) advance(ctx context.Context, x *fixedPoint) error {
	for step := 0; ; step++ {
		if done, _ := x.done(ctx); done {
			break
		}
		if step == newtonMaxSteps || !w.lineSearch(x) {
			x.newtonRadius = x.accepted.Distance / radiusDecrease
			x.anderson.reset()
			break
		}
	}
	if x.gStale { // the last step failed to factorise
		return x.evaluateAccepted()
	}
	return nil
}

// lineSearch takes one step, halved while it increases the distance. If halving fails it restores the start
// and returns false.
func (w *newton) lineSearch(x *fixedPoint) bool {
	w.direction(x)
	if x.model.cancelled() {
		return false
	}
	longest := 0.0
	for _, v := range w.step {
		maxNaN(&longest, math.Abs(v))
	}
	part := math.Min(1, newtonMaxStep/longest)
	if !(part > 0) {
		return false
	}
	copy(w.from, x.accepted.cavities)
	before := x.accepted.Distance
	allowSingle := before*before > singleMinNewton
	for range newtonHalvings {
		floats.AddScaledTo(x.trial.cavities, w.from, part, w.step)
		if err := x.evaluate(allowSingle); err == nil && x.accepted.Distance < before {
			return true
		}
		if x.model.cancelled() {
			return false
		}
		part /= 2
	}
	x.drift.noteStep(longest, before)
	copy(x.trial.cavities, w.from)
	x.evaluate(allowSingle) // if it fails, G is stale
	return false
}

// direction computes the Newton step.
func (w *newton) direction(x *fixedPoint) {
	at := &x.accepted
	w.jacobian.linearize(at)
	floats.SubTo(w.right, at.image, at.cavities)
	tolerance := math.Max(gmresTightest, math.Min(gmresLoosest, at.Distance))
	if !x.model.cancelled() {
		x.run.Stats.Linear += w.gmres.Solve(w.step, w.right, w.jacobian.mulResidual, tolerance)
	}
}
