package solver

import (
	"context"
	"math"

	"bootbench/linalg"
)

// Limits of Newton's method.
const (
	newtonWhole   = 12000 // sites up to which it is tried on a kernel matrix that is held whole, if there is room
	newtonSites   = 2000  // the same on a low-rank one, beside which its matrices are large
	newtonReach   = 0.3   // distance up to which it is tried
	newtonRetreat = 4     // by what the reach shrinks where it fails
	newtonHalves  = 3     // halvings of a step that does not come nearer
	newtonLeap    = 5     // largest step of a coordinate
	krylovDepth   = 40    // products with the derivative per step at most
	loosest       = 0.1   // accuracy of the linear system far off
	tightest      = 1e-4  // and at the end
	newtonSteps   = 12    // steps in a row
	finest        = 1e-4  // distance from where on a step that fails shows rounding
)

// newton solves next = at by Newton's method. The linear system of 3M unknowns is
// solved by Krylov's method: a product with the derivative costs 4 M^2
// multiplications, its matrices M^3 flops per step.
type newton struct {
	tangent *tangent
	krylov  *krylov
	reach   float64
	step    cavities
	right   []float64
	from    cavities
}

func newNewton(s *respondents) *newton {
	n := len(s.sites)
	return &newton{tangent: newTangent(s), krylov: newKrylov(3*n, krylovDepth), reach: newtonReach,
		step: newCavities(n), right: make([]float64, 3*n), from: newCavities(n)}
}

// MarginBytes is the memory in bytes that a solve of a loss that is not quadratic
// takes beside the kernel matrix and its engine: vectors over the sites, and where
// there is room for them (Settings.MaxBytes) Newton's two matrices. whole says that the
// kernel matrix is held whole. If it is singular within rounding, a factor of it may come
// on top, again where there is room.
func MarginBytes(sites int, whole bool, room int64) int64 {
	n := int64(sites)
	if newtonFits(sites, whole, room) {
		return 16*n*n + 8*n*(sweepVectors+newtonVectors)
	}
	return 8 * n * sweepVectors
}

// Numbers per site that the iteration and Newton's method hold: most of them are the
// histories of the accelerations, and the basis of Krylov's method.
const (
	sweepVectors  = 27 + 6*(mixingDepth+1) + 4*(innerDepth+1)
	newtonVectors = 36 + 3*(krylovDepth+1)
)

// newtonMost is the number of sites up to which Newton's method is tried.
func newtonMost(whole bool) int {
	if whole {
		return newtonWhole
	}
	return newtonSites
}

// newtonFits reports whether there is room for Newton's matrices; room is
// Settings.MaxBytes.
func newtonFits(sites int, whole bool, room int64) bool {
	n := int64(sites)
	if sites > newtonMost(whole) || room < 0 {
		return false
	}
	return linalg.CheckMemory(16*n*n+8*n*(sweepVectors+newtonVectors), room, "Newton's method") == nil
}

// solve leaves in step the way to the fixed point of the linearised sweep.
func (w *newton) solve(x *general) {
	w.tangent.take(x.at, x.next, x.stand)
	for i, v := range x.next {
		w.right[i] = v - x.at[i]
	}
	tolerance := math.Max(tightest, math.Min(loosest, x.distance))
	if !x.respondents.ended() {
		x.Stats.Linear += w.krylov.solve(w.step, w.right, w.tangent.defect, tolerance)
	}
}

// approach takes Newton steps for as long as they come nearer, and reports
// whether they reached the goal. Where they do not, the iteration stands at the
// nearest point, and they are not tried again before it is much nearer.
func (x *general) approach(ctx context.Context) bool {
	w := x.newton
	for step := 0; ; step++ {
		x.note()
		if done, status := x.done(ctx); done {
			return status == Converged
		}
		if step == newtonSteps || !x.newtonStep() {
			w.reach = x.distance / newtonRetreat
			x.mixing.forget()
			return false
		}
	}
}

// newtonStep takes one step, halved while it leads away. It reports false, and
// stands where it began, where that does not help.
func (x *general) newtonStep() bool {
	w := x.newton
	w.solve(x)
	if x.respondents.ended() {
		return false
	}
	longest := 0.0
	for _, v := range w.step {
		raise(&longest, math.Abs(v))
	}
	part := math.Min(1, newtonLeap/longest)
	if !(part > 0) {
		return false
	}
	copy(w.from, x.at)
	was := x.distance
	x.far = was*was > roughNewton
	for range newtonHalves {
		for i, v := range w.from {
			x.at[i] = v + part*w.step[i]
		}
		if err := x.visit(); err == nil && x.distance < was {
			return true
		}
		if x.respondents.ended() {
			return false
		}
		part /= 2
	}
	copy(x.at, w.from)
	x.visit() // where it fails, G is astray
	return false
}
