package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/counts"
	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// predictor is the predictor f at a site as a function of the cavity field h: the proximal map of a smooth
// loss, or the posterior mean of a likelihood.
type predictor struct {
	derivatives derivatives // of the loss, or nil
	likelihood  concave     // or nil
	prior       float64     // error of f in units of the prior's standard deviation 1/sqrt(c)
	// patchWidth is the width in h of a siteTable's patches, 0: there are none.
	patchWidth float64
	mirrored   bool // symmetric under a change of sign of labels and predictor
}

// tiltedError is the error of a posterior mean by TiltedMoments, in units of 1/sqrt(c).
const tiltedError = 1e-10

// posteriorMean is the predictor of a likelihood, and its slope.
func (p predictor) posteriorMean(c, h float64, y, k []float64) (f, slope float64) {
	if c > maxCavityPrecision {
		return h, 1
	}
	_, mean, variance := p.likelihood.TiltedMoments(c, h, y, k)
	return mean, c * variance
}

// smoothSite is a site with a predictor that is evaluated numerically.
type smoothSite struct {
	smoothMixture
	targets []float64
	law     resample.CountDistribution
	table   *siteTable // of the equivalent sites, or nil
	sign    float64    // of the targets relative to the canonical ones
}

// smoothMixture is the predictor over the joint counts.
type smoothMixture struct {
	predictor
	*counts.Joint
}

func newSmoothSite(y []float64, law resample.CountDistribution, p predictor) *smoothSite {
	return &smoothSite{smoothMixture: newSmoothMixture(p, y, law), targets: slices.Clone(y), law: law}
}

// leastCounts is the least probability of joint counts that are averaged over.
const leastCounts = 1e-13

func newSmoothMixture(p predictor, y []float64, law resample.CountDistribution) smoothMixture {
	return smoothMixture{p, counts.New(y, law, math.Max(leastCounts, p.prior))}
}

// Moments averages over the cavity and the counts: by the shared table if that is accurate, else by
// quadrature.
func (s *smoothSite) Moments(cav Cavity) Moments {
	if s.table != nil {
		if m, ok := s.table.moments(cav, s.sign); ok {
			return m.clamp()
		}
	}
	return s.moments(cav)
}

// LeftOut averages the test loss over the distribution given the site's other examples; for a site of one
// example, over the cavity (M03-45).
func (s *smoothSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	rest := newSmoothMixture(s.predictor, others(s.targets, copy), s.law)
	if test == (Prediction{}) {
		return rest.moments(cav).Mean
	}
	return rest.Distribution(cav).expect(test, s.targets[copy])
}

// maxCavityPrecision is the c above which no example changes the predictor: K_ii is practically 0.
const maxCavityPrecision = 1e40

// normalError is the absolute error of averages over the standard normal.
const normalError = 1e-9

// moments computes the moments (T4): by one rule for all rows of counts if f is smooth and the rule accurate,
// else by a quadrature for each.
func (x smoothMixture) moments(cav Cavity) Moments {
	if x.patchWidth > 0 && cav.C <= maxCavityPrecision && cav.Var > 0 {
		fields := make([]float64, 0, maxRule)
		fill := func(v []averaged, from, step float64) {
			fields = fields[:0]
			for i := range v {
				fields = append(fields, from+step*float64(i))
			}
			copy(v, x.averages(cav.C, fields))
		}
		if m, ok := ruleMoments(cav, make([]averaged, maxRule), fill); ok {
			return m.clamp()
		}
	}
	return x.perCountMoments(cav).clamp()
}

// clamp raises a shrinkage that is negative by the error of the quadrature to 0.
func (m Moments) clamp() Moments {
	if m.Shrinkage < 0 {
		m.Shrinkage, m.Response = 0, 1
	}
	return m
}

// perCountMoments averages every row of counts separately.
func (x smoothMixture) perCountMoments(cav Cavity) Moments {
	var m mixtureMoments
	for i, p := range x.P {
		r := x.response(cav, p, x.Row(i))
		if i == 0 { // the likeliest
			m.reference = r.base
		}
		m.add(p, r)
	}
	return m.moments()
}

// response averages the predictor over the cavity for one row of counts of probability p. The tolerance is
// larger for rarer rows.
func (x smoothMixture) response(cav Cavity, p float64, k []float64) response {
	if counts.IsEmpty(k) {
		return response{base: cav.Mean, variance: cav.Var, keep: 1}
	}
	sd, tol := math.Sqrt(cav.Var), math.Min(1e-4, 0.1*normalError/math.Sqrt(p))
	row := x.rowMap(cav.C, 0.002*tol*sd, k)
	base, slope, pull := row.evaluate(cav.Mean)
	if sd == 0 {
		return response{base: base, keep: slope, pull: pull}
	}
	terms := func(z float64) normal.Terms {
		f, slope, pull := row.evaluate(cav.Mean + sd*z)
		off := (f - base) / sd
		return normal.Terms{off, off * off, slope, pull}
	}
	noise := x.prior + (0x1p-50*(math.Abs(base)+math.Abs(cav.Mean))+x.prior/math.Sqrt(cav.C))/sd
	t := normal.Average(terms, tol, noise)
	return response{base: base, shift: sd * t[0], variance: cav.Var * math.Max(0, t[1]-t[0]*t[0]), keep: t[2],
		pull: t[3]}
}

// rowMap is the predictor for one row of counts as a function of the field, at a cavity's precision c.
type rowMap struct {
	predictor
	c, tol          float64 // tol: error of f
	targets, counts []float64
	last            point // last solution, whose tangent is the next guess
}

func (x smoothMixture) rowMap(c, tol float64, counts []float64) rowMap {
	return rowMap{predictor: x.predictor, c: c, tol: tol, targets: x.Targets, counts: counts}
}

// evaluate returns the predictor at the field h, its slope and 1 - slope.
func (m *rowMap) evaluate(h float64) (f, slope, pull float64) {
	if m.likelihood != nil {
		f, slope = m.posteriorMean(m.c, h, m.targets, m.counts)
		return f, slope, 1 - slope
	}
	guess := h
	if m.last.slope > 0 {
		guess = m.last.f + (h-m.last.h)*m.last.slope
	}
	f, curvature := m.derivatives.prox(m.c, h, m.targets, m.counts, guess, m.tol)
	slope = 1 / (1 + curvature)
	m.last = point{h, f, slope}
	return f, slope, curvature * slope
}

func (m rowMap) at(h float64) point {
	f, slope, _ := m.evaluate(h)
	return point{h, f, slope}
}

// inverse is h = x + sum_j k_j l'(x, y_j)/c (T3).
func (m rowMap) inverse(x float64) preimage {
	push, curvature := m.derivatives.push(m.c, x, m.targets, m.counts)
	return preimage{x + push, x + push, 1 / (1 + curvature)}
}

func (rowMap) breakpoints() ([]float64, bool) { return nil, false }

// Distribution is a mapped Gaussian for every row of the counts.
func (x smoothMixture) Distribution(cav Cavity) Distribution {
	var d Distribution
	var posterior *rowTable
	sd := math.Sqrt(cav.Var)
	for i, p := range x.P {
		switch {
		case counts.IsEmpty(x.Row(i)) || x.likelihood != nil && cav.C > maxCavityPrecision:
			d.add(p, cav.Mean, sd, identity{})
		case x.likelihood == nil:
			d.add(p, cav.Mean, sd, x.rowMap(cav.C, 1e-12*sd, x.Row(i)))
		default:
			if posterior == nil {
				posterior = newRowTable(x, cav.C)
			}
			d.add(p, cav.Mean, sd, &posteriorMap{posterior, i, cav.Mean, sd})
		}
	}
	return d
}
