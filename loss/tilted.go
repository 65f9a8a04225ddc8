package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
)

// concave is a log-concave likelihood that bends near 0, within about 1 or more.
type concave interface {
	LogDensity(f, y float64) float64
	// slopes are the first two derivatives of LogDensity by f.
	slopes(f, y float64) (first, second float64)
}

// tiltConcave is TiltedMoments of a log-concave likelihood. The posterior has
// one mode and falls from it at least as fast as exp(-c/2 (f-mode)^2).
func tiltConcave[L concave](l L, c, h float64, y, k []float64) (logZ, mean, variance float64) {
	if counts.IsEmpty(k) {
		return 0, h, 1 / c
	}
	log := logTilted(c, h, y, k, l.LogDensity)
	mode, width := peak(l, c, h, y, k)
	reach := tiltReach/math.Sqrt(c) + width
	t := tilt{log: log, center: mode, width: width, lo: mode - reach, hi: mode + reach, step: maxTiltStep}
	t.resolve(0, 1/math.Sqrt(c+floats.Sum(k)))
	logZ, mean, variance = t.moments()
	return logZ + 0.5*math.Log(c/(2*math.Pi)), mean, variance
}

// logTilted is the logarithm of exp(-c/2 (f-h)^2) prod_j p_j(f)^k_j, density being
// log p_j.
func logTilted(c, h float64, y, k []float64, density func(f, y float64) float64) func(f float64) float64 {
	return func(f float64) float64 {
		v := -0.5 * c * (f - h) * (f - h)
		for j, at := range y {
			if k[j] > 0 {
				v += k[j] * density(f, at)
			}
		}
		return v
	}
}

// peak is the mode of a log-concave posterior, to a hundredth of its width, by
// Newton steps within a bracket.
func peak[L concave](l L, c, h float64, y, k []float64) (mode, width float64) {
	rise := func(f float64) (first, precision float64) {
		first, precision = c*(h-f), c
		for j, at := range y {
			if k[j] > 0 {
				a, b := l.slopes(f, at)
				first += k[j] * a
				precision -= k[j] * b
			}
		}
		return first, precision
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	f := h
	for range 200 {
		first, precision := rise(f)
		width = 1 / math.Sqrt(precision)
		step := first / precision
		if math.Abs(step) <= 0.01*width {
			break
		}
		if first > 0 {
			lo = f
		} else {
			hi = f
		}
		f += step
		if !(lo < f && f < hi) {
			f = 0.5 * (lo + hi) // both ends are finite: Newton passed a known one
		}
	}
	return f, width
}

// Quadrature over the posterior.
const (
	tiltReach      = 9    // in units of 1/sqrt(c)
	maxTiltStep    = 0.72 // first step
	mostTilt       = 1 << 15
	tiltNegligible = 42   // exponent below the mode
	trustedChange  = 3e-5 // the change that may tell the error
)

// tilt is a density known by its logarithm, to be integrated by the trapezoid
// rule in t, f = center + width sinh t: fine at the center, in widths, and wide
// afar. The rule converges faster than any power of its step, so that the error
// is about the square of the last change.
type tilt struct {
	log           func(f float64) float64
	center, width float64 // the mode, and its width
	lo, hi        float64 // ends, beyond which the density is negligible
	step          float64 // the first
}

// resolve lowers the first step to see a feature of that width at f, if the
// density has a share there.
func (t *tilt) resolve(at, width float64) {
	if t.log(at) < t.log(t.center)-tiltNegligible {
		return
	}
	away := math.Abs(at - t.center)
	t.step = math.Min(t.step, 2*width/(width+away))
}

// sums are the integrals of the density and its moments about the center, in
// widths.
type sums [3]float64

// moments are the logarithm of the integral, the mean and the variance.
func (t *tilt) moments() (logZ, mean, variance float64) {
	reference := t.log(t.center)
	first, last := math.Asinh((t.lo-t.center)/t.width), math.Asinh((t.hi-t.center)/t.width)
	var total sums
	visit := func(x float64) bool {
		up := math.Exp(x)
		off, stretch := 0.5*(up-1/up), 0.5*(up+1/up)
		v := t.log(t.center+t.width*off) - reference
		weight := math.Exp(v) * stretch
		total[0] += weight
		total[1] += weight * off
		total[2] += weight * off * off
		return v < -tiltNegligible
	}
	step, points := t.step, 0
	change := math.Inf(1)
	var z, m, s float64
	for level := 0; ; level++ {
		start, stride := step, step
		if level == 0 {
			visit(0)
		} else {
			stride = 2 * step
		}
		for x := start; x <= last; x += stride {
			points++
			if visit(x) {
				break
			}
		}
		for x := -start; x >= first; x -= stride {
			points++
			if visit(x) {
				break
			}
		}
		z0, m0, s0 := z, m, s
		z, m = total[0]*step, total[1]/total[0]
		s = total[2]/total[0] - m*m
		if level > 0 {
			before := change
			change = math.Max(math.Abs(z/z0-1), math.Max(math.Abs(m-m0)/math.Sqrt(math.Abs(s)), math.Abs(s/s0-1)))
			if change <= 1e-10 || points > mostTilt ||
				(level > 1 && change <= trustedChange && change <= 2*before*before) {
				break
			}
		}
		step *= 0.5
	}
	return reference + math.Log(z*t.width), t.center + t.width*m, t.width * t.width * s
}
