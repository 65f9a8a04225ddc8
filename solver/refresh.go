package solver

import "bootbench/linalg"

// minSizeSingle is the number of sites from which single precision gains.
const minSizeSingle = 128

// refresh computes G at d in double precision.
func (r *run) refresh(d []float64) error {
	if err := r.engine.Factorize(d); err != nil {
		return err
	}
	r.Stats.Refreshes.Exact++
	return nil
}

// refreshSingle computes G at d in single precision, at half the cost, if its rounding is expected to change
// G by at most maxError. It returns false if not, or if it breaks down; then it is not tried again.
func (r *run) refreshSingle(d []float64, maxError float64) bool {
	dense, ok := r.engine.(linalg.Dense)
	if !ok || r.noSingle || dense.SingleError(d) > maxError {
		return false
	}
	if dense.FactorizeSingle(d) != nil {
		r.noSingle = true
		return false
	}
	r.Stats.Refreshes.Single++
	return true
}

// rankUpdate changes d by delta at the listed sites (M03-65), if the engine can.
func (r *run) rankUpdate(sites []int, delta []float64) error {
	dense, ok := r.engine.(linalg.Dense)
	if !ok {
		return linalg.ErrUpdate
	}
	if err := dense.RankUpdate(sites, delta); err != nil {
		return err
	}
	r.Stats.Refreshes.Woodbury++
	return nil
}
