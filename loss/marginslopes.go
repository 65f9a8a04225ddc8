package loss

import (
	"math"

	"bootbench/loss/internal/normal"
)

// Sloped is a Site that knows the derivatives of its moments.
type Sloped interface {
	Site
	// MomentSlopes are the derivatives of the moments with respect to log c, m_c and log V_c; ok is false
	// where they are not known.
	MomentSlopes(cav Cavity) (by [3]Moments, ok bool)
}

// MomentSlopes are the slopes of marginMoments. In a row of counts, with the loss's kink K, at z_1 in
// standard deviations s, and the other kink of the map at z_0, where the map's slope falls from a to 0,
//
//	f - K = a s (x - z_0) for x < z_0,   0 up to z_1,   s (x - z_1) beyond,
//
// which vanishes at both kinks; derivatives with respect to V_c are half of second ones with respect to m_c.
func (x *mixture) MomentSlopes(cav Cavity) (by [3]Moments, ok bool) {
	sd := math.Sqrt(cav.Var)
	if len(x.kinks) == 0 || !x.canScale(cav, sd) {
		return by, false
	}
	to := normal.TailAt(standardize(x.side*x.kinks[0], x.side*cav.Mean, sd))
	above, excess, left := to.Above(), to.Excess(), 0
	if x.side < 0 {
		left = 1
	}
	total := 0.0 // E f - K
	for i := range x.p {
		distance := math.Abs(x.rows[i].Slopes[left]) / (cav.C * sd)
		p, from, last := x.marginRow(i, distance, &to)
		slope := mapSlopeOf(x.rows[i].Curvatures[left], cav.C)
		if last {
			distance = 0 // the kink does not matter
		}
		a, shortfall, below := slope.keep, from.Shortfall(), from.Below()
		mean, keep, steeper := sd*(excess-a*shortfall), a*below+above, a*slope.pull // steeper: of a by log c
		squared := a*a*below + above                                                // E f'^2
		curved := (to.Density - a*from.Density) / sd                                // E f''
		total += p * mean

		meanByC := -sd * (steeper*shortfall + a*below*distance)
		squareByC := 2 * a * cav.Var * (steeper*from.SquaredShortfall() + a*shortfall*distance)
		for k, row := range [3]Moments{
			{Mean: meanByC, Var: squareByC, Response: steeper*below + a*from.Density*distance},
			{Mean: keep, Var: 2 * sd * (excess - a*a*shortfall), Response: curved},
			{Mean: 0.5 * cav.Var * curved, Var: cav.Var * squared,
				Response: 0.5 * (weightedDensity(&to) - a*weightedDensity(&from))},
		} {
			by[k].Mean += p * row.Mean
			by[k].Var += p * row.Var // of E (f - K)^2 at first
			by[k].Response += p * row.Response
		}
		if last {
			break
		}
	}
	for k := range by {
		by[k].Var -= 2 * total * by[k].Mean
		by[k].Shrinkage = -by[k].Response
	}
	// multiplication by side changes the signs of the mean, and of derivatives with respect to it
	by[0].Mean, by[2].Mean = x.side*by[0].Mean, x.side*by[2].Mean
	by[1].Var, by[1].Response = x.side*by[1].Var, x.side*by[1].Response
	by[1].Shrinkage = -by[1].Response
	return by, true
}

// weightedDensity is z phi(z), 0 at infinity.
func weightedDensity(t *normal.Tail) float64 {
	if t.Density == 0 {
		return 0
	}
	return t.Z * t.Density
}
