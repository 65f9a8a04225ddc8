package solver

import (
	"math"
	"slices"

	"bootbench/loss"
)

// A left-out mean m_c = sum_{j != i} G_ij g_j/b_i has the rounding error signRounding sqrt(sum (G_ij
// g_j)^2)/b_i: below it the sign is undetermined. Means above smallMean times the labels are always above it.
const (
	signRounding = 8 * 0x1p-52
	smallMean    = 1e-10
)

// settleTies sets left-out means of undetermined sign to 0, so that they count half an error, and warns of
// them.
func (r *run) settleTies() {
	noLabel := func(y float64) bool { return y != 1 && y != -1 }
	isSmall := func(cav loss.Cavity) bool { return math.Abs(cav.Mean) <= smallMean }
	if slices.ContainsFunc(r.Problem.Y, noLabel) || !slices.ContainsFunc(r.Cavity, isSmall) {
		return
	}
	spread, square := make([]float64, len(r.Cavity)), make([]float64, len(r.Cavity))
	for i, g := range r.SiteMean {
		square[i] = g * g
	}
	r.engine.MulVecSquaredOffDiag(spread, square)
	_, b := r.engine.Diag()
	ties := 0
	for i := range r.Cavity {
		if !(math.Abs(r.Cavity[i].Mean) <= signRounding*math.Sqrt(spread[i])/b[i]) {
			continue
		}
		if r.Cavity[i].Mean = 0; spread[i] == 0 {
			r.Stats.Alone++
		} else {
			ties++
		}
	}
	n := len(r.sites)
	if ties > 0 {
		r.warn("at %d of %d inputs the sign of the left-out prediction is below rounding, and counts as "+
			"half an error", ties, n)
	}
}
