package solver

import (
	"math"

	"bootbench/linalg"
)

// minSizeSingle is the number of sites from which single precision gains.
const minSizeSingle = 128

// refresh computes G at d in double precision.
func (r *run) refresh(d []float64) error {
	if err := r.engine.Factorize(d); err != nil {
		return err
	}
	r.Stats.Refreshes.Exact++
	r.updates = 0
	return nil
}

// refreshSingle computes G at d in single precision, at half the cost, if its rounding is expected to change
// G by at most maxError. It returns false if not, or if it breaks down; then it is not tried again.
func (r *run) refreshSingle(d []float64, maxError float64) bool {
	engine, ok := r.engine.(linalg.Single)
	if !ok || r.noSingle || engine.SingleError(d) > maxError {
		return false
	}
	if engine.FactorizeSingle(d) != nil {
		r.noSingle = true
		return false
	}
	r.Stats.Refreshes.Single++
	r.updates = 0
	return true
}

// maxUpdates is the number of rank updates between two factorisations at most.
const maxUpdates = 8

// updateMoving moves G to d by a rank update (M03-65) at the sites whose d changes by more than a fraction
// of the tolerance, or by more than least, and sets d to the precisions of G. It returns false if G is to
// be refreshed: there are none or more than M/share of them, or the engine cannot, or has been updated too
// often.
func (r *run) updateMoving(d []float64, share int, fraction, least float64) bool {
	dense, ok := r.engine.(linalg.Dense)
	if !ok || r.Stats.Refreshes.Exact == 0 || r.updates == maxUpdates {
		return false
	}
	sites, delta := r.movingSites(d, len(d)/share, fraction, least)
	if len(sites) == 0 || dense.RankUpdate(sites, delta) != nil {
		return false
	}
	r.Stats.Refreshes.Woodbury++
	r.updates++
	copy(d, r.engine.Precisions())
	return true
}

// movingSites lists the sites that move, and the changes of their d; none if there are more than limit.
func (r *run) movingSites(to []float64, limit int, fraction, least float64) (sites []int, delta []float64) {
	d := r.engine.Precisions()
	chi, _ := r.engine.Diag()
	largest := largestShrinkage(d, chi)
	for i, from := range d {
		change := to[i] - from
		scale := from + scaleFloor(largest, chi[i])
		if math.Abs(change) > math.Min(fraction*r.settings.Tolerance*scale, least) {
			if len(sites) == limit {
				return nil, nil
			}
			sites, delta = append(sites, i), append(delta, change)
		}
	}
	return sites, delta
}
