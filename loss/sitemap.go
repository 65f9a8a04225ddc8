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
	tol    float64 // of f in standard deviations
	last   point   // the field solved last, to start from
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
	m.tol = 0.002 * tol
	f, slope, pull := m.evaluate(m.cav.Mean)
	if m.cav.Var == 0 {
		return response{base: f, keep: slope, pull: pull}
	}
	m.base = f
	t := normal.Average(m.terms, tol, m.prior+m.noise(m.cav.C, m.cav.Mean, f)/m.sd)
	return response{base: f, shift: m.sd * t[0], variance: m.cav.Var * math.Max(0, t[1]-t[0]*t[0]), keep: t[2],
		pull: t[3]}
}

// terms evaluates the predictor at z standard deviations from the cavity's mean.
func (m *siteMap) terms(z float64) normal.Terms {
	f, slope, pull := m.evaluate(m.cav.Mean + m.sd*z)
	off := (f - m.base) / m.sd
	return normal.Terms{off, off * off, slope, pull}
}

// evaluate returns the predictor at the field h, its slope and one less the slope. A proximal map is solved
// from its tangent at the last field.
func (m *siteMap) evaluate(h float64) (f, slope, pull float64) {
	if m.likelihood != nil {
		f, slope = m.posteriorMean(m.cav.C, h, m.Targets, m.counts)
		return f, slope, 1 - slope
	}
	guess := h
	if m.last.slope > 0 {
		guess = m.last.f + (h-m.last.h)*m.last.slope
	}
	f, curvature := m.derivatives.prox(m.cav.C, h, m.Targets, m.counts, guess, m.tol*m.sd)
	slope = 1 / (1 + curvature)
	m.last = point{h, f, slope}
	return f, slope, curvature * slope
}

// setCounts sets the row of counts.
func (m *siteMap) setCounts(k []float64) { m.counts, m.last = k, point{} }
