package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
)

// concave is a log-concave likelihood that bends near 0, within about 1 or more.
type concave interface {
	Likelihood
	// derivatives are the first two of Value with respect to f.
	derivatives(f, y float64) (first, second float64)
	curvature() float64 // the largest second derivative
}

// Quadrature over the posterior.
const (
	tiltReach      = 9    // in units of 1/sqrt(c)
	maxTiltStep    = 0.72 // first step
	mostTilt       = 1 << 15
	tiltNegligible = 42   // exponent below the mode
	trustedChange  = 3e-5 // the change whose square is the error
)

// tiltConcave is TiltedMoments of a log-concave likelihood. The posterior has one mode and falls from it at
// least as fast as exp(-c/2 (f-mode)^2). It is integrated by the trapezoid rule in t, f = mode + width sinh
// t: fine at the mode, in widths, and wide afar. The rule converges faster than any power of its step, so
// that the error is about the square of the last change.
func tiltConcave(l concave, c, h float64, y, k []float64) (logZ, mean, variance float64) {
	if counts.IsEmpty(k) {
		return 0, h, 1 / c
	}
	log := func(f float64) float64 { // of exp(-c/2 (f-h)^2) prod_j p(y_j|f)^k_j
		v := -0.5 * c * (f - h) * (f - h)
		for j, at := range y {
			if k[j] > 0 {
				v -= k[j] * l.Value(f, at)
			}
		}
		return v
	}
	mode, width := peak(l, c, h, y, k)
	top := log(mode)
	step := maxTiltStep
	if log(0) >= top-tiltNegligible { // the bend of the likelihood must be seen
		bend := 1 / math.Sqrt(c+floats.Sum(k))
		step = min(step, 2*bend/(bend+math.Abs(mode)))
	}
	last := math.Asinh(tiltReach/(math.Sqrt(c)*width) + 1)
	var sums [3]float64 // of the density and its first moments about the mode, in widths
	add := func(t float64) bool {
		up := math.Exp(t)
		off := 0.5 * (up - 1/up)
		v := log(mode+width*off) - top
		weight := math.Exp(v) * 0.5 * (up + 1/up)
		sums[0] += weight
		sums[1] += weight * off
		sums[2] += weight * off * off
		return v < -tiltNegligible
	}
	add(0)
	var z, m, s float64
	points, change := 0, math.Inf(1)
	for level, first := 0, step; ; level++ {
		for _, sign := range []float64{1, -1} {
			for t := first; t <= last; t += step {
				points++
				if add(sign * t) {
					break
				}
			}
		}
		if level > 0 { // the new points lie between the old ones
			step *= 0.5
		}
		z0, m0, s0, before := z, m, s, change
		z, m = sums[0]*step, sums[1]/sums[0]
		s = sums[2]/sums[0] - m*m
		if level > 0 {
			change = max(math.Abs(z/z0-1), math.Abs(m-m0)/math.Sqrt(math.Abs(s)), math.Abs(s/s0-1))
			if change <= 1e-10 || points > mostTilt ||
				(level > 1 && change <= trustedChange && change <= 2*before*before) {
				break
			}
		}
		first = 0.5 * step
	}
	return top + math.Log(z*width) + 0.5*math.Log(c/(2*math.Pi)), mode + width*m, width * width * s
}

// peak is the mode of a log-concave posterior, to a hundredth of its width: the proximal map (T3).
func peak(l concave, c, h float64, y, k []float64) (mode, width float64) {
	tol := 0.01 / math.Sqrt(c+floats.Sum(k)*l.curvature())
	mode, curvature := derivatives(l.derivatives).prox(c, h, y, k, h, tol)
	return mode, 1 / math.Sqrt(c*(1+curvature))
}
