package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
)

// response is the predictor f(h) under the cavity for one row of counts: its mean
// is base + shift, where base = f(m_c); its variance; and the means of its slope
// (keep) and of one less its slope (pull).
type response struct {
	base, shift, variance, keep, pull float64
}

// Moments computes the moments (T4) over the cavity and over the rows, with all their digits wherever the
// cavity lies.
func (x *mixture) Moments(cav Cavity) Moments {
	if len(x.kinks) == 0 { // no example
		return Moments{Mean: cav.Mean, Var: cav.Var, Response: 1}
	}
	var kinks [4]normal.Tail // of more the slices below are allocated
	var flats [4]flat
	s := segmentIntegrator{Cavity: cav, sd: math.Sqrt(cav.Var), kinks: kinks[:0], flats: flats[:0]}
	for _, kink := range x.kinks {
		s.kinks = append(s.kinks, normal.TailAt(standardize(kink, cav.Mean, s.sd)))
		s.flats = append(s.flats, flat{from: noTail, to: noTail})
	}
	var m mixtureMoments
	for i, p := range x.p {
		row := x.row(i)
		m.add(p, s.response(&row, x.reach[i]))
	}
	return m.moments()
}

// standardize expresses x in units of the Gaussian of that mean and sd >= 0; at
// sd = 0 it is infinite, but 0 where x is the mean.
func standardize(x, mean, sd float64) float64 {
	if x == mean {
		return 0
	}
	return (x - mean) / sd
}

// segmentIntegrator integrates proximal maps of piecewise losses of common kinks over the
// Gaussian cavity: over the intervals of the field h, in standard deviations from the cavity's mean, on which
// a map is linear. A map is known by its slope on the left, and by its flat parts; it is integrated anew only
// where these differ from the last map's.
type segmentIntegrator struct {
	Cavity
	sd    float64
	kinks []normal.Tail // where losses of slope 0 see them
	first mapSlope
	flats []flat
	last  response
}

// flat is the interval of fields that a proximal map takes to a kink, and the map's slope beyond.
type flat struct {
	from, to normal.Tail
	slope    mapSlope
}

// mapSlope is a slope of a proximal map, keep, and pull = 1 - keep.
type mapSlope struct{ keep, pull float64 }

var (
	noTail = normal.Tail{Z: math.NaN()}
	level  = mapSlope{0, 1}
)

// response integrates the proximal map of one row's loss. Tails beyond reach count as none.
func (s *segmentIntegrator) response(l *piecewise, reach float64) *response {
	first := l.mapSlope(0, s.C)
	moved := first != s.first
	s.first = first
	for j, kink := range l.kinks {
		f := &s.flats[j]
		below, above := l.slopeAt(j, kink), l.slopes[j+1]
		moved = s.see(&f.from, j, kink, below, reach) || moved
		if above < below { // by rounding
			above = below
		}
		moved = s.see(&f.to, j, kink, above, reach) || moved
		if slope := l.mapSlope(j+1, s.C); slope != f.slope {
			f.slope, moved = slope, true
		}
	}
	if moved {
		s.integrate()
	}
	s.last.base, _ = l.prox(s.C, s.Mean)
	return &s.last
}

// see sets t to where kink j is seen from a side on which the loss has that slope: at infinity where its tail
// is negligible beside the kinks' own.
// It reports whether t has changed.
func (s *segmentIntegrator) see(t *normal.Tail, j int, kink, slope, reach float64) bool {
	at := &s.kinks[j]
	if slope == 0 {
		if t.Z == at.Z {
			return false
		}
		*t = *at
		return true
	}
	z := standardize(kink, s.Mean-slope/s.C, s.sd)
	outer := s.kinks[0].Z // the farthest kink on that side of the cavity's mean, if there is one
	if z > 0 {
		outer = s.kinks[len(s.kinks)-1].Z
	}
	if z*z > reach*reach && !(z*outer > 0 && z*z <= reach*reach+outer*outer) {
		z = math.Copysign(math.Inf(1), z)
	}
	if t.Z == z {
		return false
	}
	*t = normal.TailAt(z)
	return true
}

// integrate sums up the intervals.
func (s *segmentIntegrator) integrate() {
	var a accumulator
	var from *normal.Tail
	slope := s.first
	for j := range s.flats {
		f := &s.flats[j]
		if j == 0 {
			a.begin(&f.from, slope)
		} else {
			a.extend(from, &f.from, slope)
		}
		if f.from.Z < f.to.Z {
			a.bend(&f.from, slope, level)
			a.extend(&f.from, &f.to, level)
			a.bend(&f.to, level, f.slope)
		} else {
			a.bend(&f.from, slope, f.slope)
		}
		from, slope = &f.to, f.slope
	}
	a.end(from, slope)
	s.last = a.response
	s.last.shift *= s.sd
	s.last.variance *= s.Var
}

// mapSlope is that of segment j.
func (l *piecewise) mapSlope(j int, c float64) mapSlope {
	q := l.curvatures[j]
	if q == 0 {
		return mapSlope{1, 0}
	}
	return mapSlope{c / (c + q), q / (c + q)}
}

// setReach finds for every row how far a tail may lie, in standard deviations, before it is
// negligible beside the row without examples: P(x > t) <= exp(-t^2/2)/2.
func (x *mixture) setReach() {
	empty := 0.0
	for i, p := range x.p {
		if row := x.row(i); !slices.ContainsFunc(row.slopes, nonZero) &&
			!slices.ContainsFunc(row.curvatures, nonZero) {
			empty = p
		}
	}
	x.reach = make([]float64, len(x.p))
	for i, p := range x.p {
		x.reach[i] = math.Sqrt(2 * math.Log(math.Max(1, p/(negligibleTail*empty))))
	}
}

const negligibleTail = 1e-17 // beside the row without examples

func nonZero(v float64) bool { return v != 0 }

// accumulator sums over intervals (from, to] of the standard normal x = (h-m_c)/s,
// on each of which f has a constant slope. With f' that slope, Hoeffding's
// covariance formula gives
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v,
//
// a sum of positive terms over intervals and pairs of them. The mean of f less its
// value at x = 0 is the sum over the places z where f bends of the change of its slope there times
// E (|x|-|z|)+ on the side of z.
type accumulator struct {
	response
	rise float64 // the integral of f' Phi so far
}

// begin adds the interval up to a place, on which f has that slope.
func (a *accumulator) begin(to *normal.Tail, slope mapSlope) {
	mass := to.Below()
	a.pull, a.keep = slope.pull*mass, slope.keep*mass
	a.variance = slope.keep * slope.keep * to.VarBelow()
	a.rise = slope.keep * to.Shortfall()
}

// end adds that from a place on.
func (a *accumulator) end(from *normal.Tail, slope mapSlope) {
	mass := from.Above()
	a.pull += slope.pull * mass
	a.keep += slope.keep * mass
	a.variance += slope.keep * slope.keep * from.VarAbove()
	if above := from.Excess(); a.rise > 0 && above > 0 { // either may be infinite beside 0
		a.variance += 2 * a.rise * slope.keep * above
	}
}

// extend adds the interval between two places.
func (a *accumulator) extend(from, to *normal.Tail, slope mapSlope) {
	if !(from.Z < to.Z) {
		return
	}
	mass := normal.ProbBetween(from, to)
	a.pull += slope.pull * mass
	if slope.keep == 0 {
		return
	}
	a.keep += slope.keep * mass
	a.variance += slope.keep * slope.keep * normal.ClippedVar(from, to)
	if a.rise > 0 {
		a.variance += 2 * a.rise * slope.keep * normal.UpperIntegral(from, to)
	}
	a.rise += slope.keep * normal.CDFIntegral(from, to)
}

// bend changes the slope at a place.
func (a *accumulator) bend(at *normal.Tail, from, to mapSlope) {
	a.shift += (to.keep - from.keep) * at.First
}

// mixtureMoments mixes the predictor over rows of counts: the variance is the mean
// of the variances given the counts plus the variance of the means. Means are taken as deviations from the
// first row's base, so that they keep their digits where all of them lie at one kink; where that row has
// probability p, the variance of the means is at least p times their mean square.
type mixtureMoments struct {
	started              bool
	reference            float64
	mean, square         float64 // of the rows' means, less the reference
	variance, keep, pull float64
}

// add adds a row of probability p.
func (m *mixtureMoments) add(p float64, r *response) {
	if !m.started {
		m.started, m.reference = true, r.base
	}
	off := (r.base - m.reference) + r.shift
	m.mean += p * off
	m.square += p * off * off
	m.variance += p * r.variance
	m.keep += p * r.keep
	m.pull += p * r.pull
}

func (m *mixtureMoments) moments() Moments {
	return Moments{Mean: m.reference + m.mean, Var: m.variance + math.Max(0, m.square-m.mean*m.mean),
		Response: m.keep, Shrinkage: m.pull}
}
