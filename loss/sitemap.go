package loss

import (
	"math"

	"bootbench/loss/internal/counts"
	"bootbench/loss/internal/normal"
)

// siteMap is the predictor for one row of counts as a function of the field in
// standard deviations of the cavity, relative to its value at the mean.
type siteMap struct {
	smoothMixture
	cav    Cavity
	sd     float64
	counts []float64
	base   float64
	tol    float64  // of f in standard deviations, and of its slope
	last   [2]point // the fields solved last, to start from
}

// point is a point of the map with its slope.
type point struct{ h, f, slope float64 }

func newSiteMap(x smoothMixture, cav Cavity) *siteMap {
	return &siteMap{smoothMixture: x, cav: cav, sd: math.Sqrt(cav.Var), tol: 1e-12}
}

// response averages the predictor over the cavity for one row of counts of
// probability p. The error that a row may have is larger the rarer it is.
func (m *siteMap) response(p float64, k []float64) response {
	if counts.IsEmpty(k) {
		return response{base: m.cav.Mean, variance: m.cav.Var, keep: 1}
	}
	m.setCounts(k)
	tol := math.Min(1e-4, 0.1*normalError/math.Sqrt(p))
	m.tol = 0.02 * tol
	f, slope, pull := m.evaluate(m.cav.Mean)
	if m.cav.Var == 0 {
		return response{base: f, keep: slope, pull: pull}
	}
	m.base = f
	t := normal.Average(m, normal.Options{
		Tol: tol, Noise: m.prior + m.noise(m.cav.C, m.cav.Mean, f)/m.sd,
		Rate: 1, Strip: m.strip / m.sd, Scale: m.scale / (m.sd * math.Sqrt(m.cav.C)),
	})
	return response{base: f, shift: m.sd * t[0], variance: m.cav.Var * math.Max(0, t[1]-t[0]*t[0]), keep: t[2],
		pull: t[3]}
}

// Terms evaluates the predictor at z standard deviations from the cavity's mean.
func (m *siteMap) Terms(z float64) normal.Terms {
	f, slope, pull := m.evaluate(m.cav.Mean + m.sd*z)
	off := (f - m.base) / m.sd
	return normal.Terms{off, off * off, slope, pull}
}

// evaluate returns the predictor at the field h, its slope and one less the slope.
func (m *siteMap) evaluate(h float64) (f, slope, pull float64) {
	if m.derivatives == nil {
		f, slope = m.at(m.cav.C, h, m.Targets, m.counts)
		return f, slope, 1 - slope
	}
	f, curvature := m.solve(h)
	slope = 1 / (1 + curvature)
	m.last[1] = m.last[0]
	m.last[0] = point{h, f, slope}
	return f, slope, curvature * slope
}

// setCounts sets the row of counts.
func (m *siteMap) setCounts(k []float64) { m.counts, m.last = k, [2]point{} }

// push is the derivative of the row's loss over c, and its own derivative.
func (m *siteMap) push(f float64) (push, curvature float64) {
	for j, k := range m.counts {
		if k > 0 {
			a, b := m.derivatives(f, m.Targets[j])
			push += k / m.cav.C * a
			curvature += k / m.cav.C * b
		}
	}
	return push, curvature
}

// solve solves f + push(f) = h by Newton steps, bisecting where one
// leaves the bracket, and returns the curvature at f. It begins where the last two
// points of the map lead.
func (m *siteMap) solve(h float64) (f, curvature float64) {
	lo, hi := math.Inf(-1), math.Inf(1)
	if f = m.guess(h); math.IsNaN(f) || math.IsInf(f, 0) {
		f = h
	}
	tol := m.tol*m.sd + 0x1p-51*(math.Abs(h)+math.Abs(f))
	var before point // f and curvature of the last step
	for step := range maxNewton {
		push, curvature := m.push(f)
		miss := f - h + push
		if miss > 0 { // the left side rises by at least one per unit
			lo, hi = math.Max(lo, f-miss), f
		} else {
			lo, hi = f, math.Min(hi, f-miss)
		}
		move := -miss / (1 + curvature)
		third, change := 0.0, 1.0 // of the curvature: its slope, and its last relative change
		if step > 0 && f != before.f {
			third = (curvature - before.slope) / (f - before.f)
			change = math.Abs(curvature-before.slope) / (1 + curvature)
		}
		shrink := math.Abs(move) / math.Abs(f-before.f)
		next := math.Abs(third*move) / (1 + curvature) // relative change to come
		converged := math.Abs(move) <= tol || step > 0 && shrink <= 0.1 && next*change <= m.tol &&
			next*math.Abs(move) <= tol
		before = point{f: f, slope: curvature}
		// from one flat place to another
		if f += move; !converged && (!(lo <= f && f <= hi) || step > 0 && shrink > 0.5) {
			f = lo + 0.5*(hi-lo)
			converged = hi-lo <= tol
		}
		if converged {
			return f, math.Max(0, curvature+third*move)
		}
	}
	_, curvature = m.push(f)
	return f, curvature
}

// guess extrapolates the map from the last points.
func (m *siteMap) guess(h float64) float64 {
	a, b := m.last[0], m.last[1]
	if a.slope == 0 {
		return h
	}
	d := h - a.h
	slope := a.slope
	if b.slope != 0 && math.Abs(d) <= 2*math.Abs(a.h-b.h) {
		slope += 0.5 * d * (a.slope - b.slope) / (a.h - b.h)
		slope = math.Min(1, math.Max(0, slope))
	}
	return a.f + d*slope
}
