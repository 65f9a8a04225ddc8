package solver

import "math"

// drift follows the iterates from the one at which the distance was last halved. If they move far from it and
// the distance is not halved again, the equations have no solution that they approach: as for a logistic loss
// with a bias if most resamples have one class, where the bias has no finite optimum.
type drift struct {
	from     cavities
	distance float64
	moved    float64 // root mean square over sites
	endless  bool    // Newton's method has no solution in reach
}

// Limits of drift.
const (
	maxDrift      = 8    // the move, a root mean square of logarithms; solves that converge move up to 5
	longestStep   = 100  // of Newton's method: the linear equations have no solution nearer than e^100
	driftDistance = 0.05 // distance below which moves count: steps at larger ones are long themselves
)

// reset follows the iterates from the next one.
func (d *drift) reset() { d.distance, d.moved, d.endless = math.Inf(1), 0, false }

// update takes an accepted iterate.
func (d *drift) update(s *siteModel, at *iterate) {
	if at.Distance >= driftDistance || at.Distance < 0.5*d.distance {
		copy(d.from, at.cavities)
		d.distance = at.Distance
	}
	d.moved = s.distance(at.cavities, d.from)
}

func (d *drift) unbounded() bool { return d.endless || d.moved > maxDrift }

// noteStep takes a Newton step that did not decrease the distance.
func (d *drift) noteStep(length, distance float64) {
	d.endless = d.endless || length > longestStep && distance < driftDistance
}
