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

// segmentIntegrator integrates the proximal map of a piecewise loss over the
// Gaussian cavity. It goes through the intervals of the field h on which the map
// is linear, from left to right, and caches the tails at their ends: rows of
// counts share some of them.
type segmentIntegrator struct {
	Cavity
	sd    float64
	cache [4]normal.Tail
}

func newSegmentIntegrator(cav Cavity) segmentIntegrator {
	o := normal.Origin
	return segmentIntegrator{Cavity: cav, sd: math.Sqrt(cav.Var), cache: [4]normal.Tail{o, o, o, o}}
}

// tail returns the tail at z; end i of an interval is cached for the next row.
func (s *segmentIntegrator) tail(i int, z float64) normal.Tail {
	if i >= len(s.cache) {
		return normal.TailAt(z)
	}
	if s.cache[i].Z != z {
		s.cache[i] = normal.TailAt(z)
	}
	return s.cache[i]
}

// standardize expresses x in units of the Gaussian of that mean and sd >= 0; at
// sd = 0 it is infinite, but 0 where x is the mean.
func standardize(x, mean, sd float64) float64 {
	if x == mean {
		return 0
	}
	return (x - mean) / sd
}

// response integrates the proximal map of one row's loss.
func (s *segmentIntegrator) response(l *piecewise) response {
	var a accumulator
	from := normal.Tail{Z: math.Inf(-1)}
	start := 0 // the segment that begins at from
	for j, kink := range l.kinks {
		below, above := l.slopeAt(j, kink), l.slopes[j+1]
		if below == above && l.curvatures[j] == l.curvatures[j+1] {
			continue
		}
		to := s.tail(2*j, standardize(kink, s.Mean-below/s.C, s.sd))
		s.addSegment(&a, &from, &to, l, start)
		from, start = to, j+1
		if above > below {
			from = s.tail(2*j+1, standardize(kink, s.Mean-above/s.C, s.sd))
			a.add(&to, &from, 0, 1, kink)
		}
	}
	if start == 0 && l.curvatures[0] == 0 { // the map has slope one throughout
		return response{base: s.Mean - l.slopes[0]/s.C, variance: s.Var, keep: 1}
	}
	s.addSegment(&a, &from, &normal.Tail{Z: math.Inf(1)}, l, start)
	shift := a.pullAt*a.slopeShift + a.keepAt*a.flatShift
	return response{a.base, s.sd * shift, s.Var * a.variance, a.keep, a.pull}
}

// addSegment adds the fields between from and to, which see segment j of the loss.
func (s *segmentIntegrator) addSegment(a *accumulator, from, to *normal.Tail, l *piecewise, j int) {
	base := 0.0
	if from.Z < 0 && to.Z >= 0 {
		base = l.segmentProx(j, s.C, s.Mean)
	}
	if q := l.curvatures[j]; q > 0 {
		a.add(from, to, s.C/(s.C+q), q/(s.C+q), base)
	} else {
		a.add(from, to, 1, 0, base)
	}
}

// Limits of moments around a kink.
const (
	// of the cavity's mean, in standard deviations: beyond it they lose more than three digits
	maxKinkZ       = 16
	negligibleTail = 1e-17 // beside the row without examples
)

// setReach finds for every row how far a tail may lie, in standard deviations, before it is
// negligible: P(x > t) <= exp(-t^2/2)/2.
func (x *mixture) setReach() {
	empty := 0.0
	for i, p := range x.p {
		if row := x.row(i); !slices.ContainsFunc(row.slopes, nonZero) && !slices.ContainsFunc(row.curvatures,
			nonZero) {
			empty = p
		}
	}
	x.reach = make([]float64, len(x.p))
	for i, p := range x.p {
		x.reach[i] = math.Sqrt(2 * math.Log(math.Max(1, p/(negligibleTail*empty))))
	}
}

func nonZero(v float64) bool { return v != 0 }

// kinkMoments are the moments of a mixture of one kink, where its losses are least. With
// x = (h-m_c)/s and slopes a, b of the map on the left and on the right,
//
//	f = kink + s (b (x-hi)+ - a (lo-x)+),
//
// so that the moments of f around the kink are sums of those of tails. ok is false where the
// kink is far from the cavity, or a loss is least elsewhere.
func (x *mixture) kinkMoments(cav Cavity) (m Moments, ok bool) {
	sums, ok := x.aroundKink(cav, false)
	return sums.moments(x.kinks[0], cav), ok
}

// kinkSums are averages over rows and cavity: of (f-kink)/s and its square, of the slope of the
// map and of one less that; and, for slopes a = b = 1, derivatives of the first three by z and by
// scale. Those by z that are missing are -keep and -2 first.
type kinkSums struct {
	first, second, keep, pull   float64
	firstByScale, secondByScale float64
	keepByZ, keepByScale        float64
	standardKink
}

// standardKink is the kink z of a mixture in standard deviations sd from the cavity's mean, and what carries
// slopes to such units.
type standardKink struct{ sd, z, scale float64 }

func (x *mixture) standardKink(cav Cavity) standardKink {
	sd := math.Sqrt(cav.Var)
	return standardKink{sd, (x.kinks[0] - cav.Mean) / sd, 1 / (cav.C * sd)}
}

// valid says whether slopes can be carried to these units.
func (s standardKink) valid() bool { return s.scale > 0 && s.scale <= math.MaxFloat64 }

func (s *kinkSums) moments(kink float64, cav Cavity) Moments {
	return Moments{Mean: kink + s.sd*s.first, Var: cav.Var * (s.second - s.first*s.first), Response: s.keep,
		Shrinkage: s.pull}
}

// aroundKink sums over the rows, the derivatives if they are wanted.
func (x *mixture) aroundKink(cav Cavity, derivatives bool) (s kinkSums, ok bool) {
	if s.standardKink = x.standardKink(cav); !(math.Abs(s.z) <= maxKinkZ && s.valid()) {
		return s, false
	}
	leftAt, rightAt := normal.Sides(s.z)
	for i, p := range x.p {
		below, above := x.slopes[2*i], x.slopes[2*i+1]
		if !(below <= 0 && above >= 0) {
			return s, false
		}
		lo, hi, left, right := s.z, s.z, &leftAt, &rightAt
		var one, other normal.Side
		if below < 0 {
			lo += below * s.scale
			one, left = sideBelow(lo, s.z, x.reach[i]), &one
		}
		if above > 0 {
			hi += above * s.scale
			other, right = sideBelow(-hi, -s.z, x.reach[i]), &other
		}
		if derivatives {
			s.addDerivatives(p, below, above, left, right)
		}
		flat := flatMass(lo, hi, left, right)
		if q, r := x.curvatures[2*i], x.curvatures[2*i+1]; q > 0 || r > 0 {
			one, other = *left, *right
			left, right = &one, &other
			flat += flatten(left, cav.C, q) + flatten(right, cav.C, r)
		}
		s.first += p * (right.First - left.First)
		s.second += p * (right.Second + left.Second)
		s.keep += p * (right.P + left.P)
		s.pull += p * flat
	}
	return s, true
}

// addDerivatives adds those of a row of straight losses.
func (s *kinkSums) addDerivatives(p, below, above float64, left, right *normal.Side) {
	s.keepByZ += p * (left.Density - right.Density)
	if left.P > 0 {
		s.firstByScale -= p * below * left.P
		s.secondByScale += 2 * p * below * left.First
		s.keepByScale += p * below * left.Density
	}
	if right.P > 0 {
		s.firstByScale -= p * above * right.P
		s.secondByScale -= 2 * p * above * right.First
		s.keepByScale -= p * above * right.Density
	}
}

// flatMass is P(lo < x < hi), with the sides below lo and above hi.
func flatMass(lo, hi float64, left, right *normal.Side) float64 {
	switch {
	case lo == hi:
		return 0
	case (hi-lo)*(1+0.5*math.Abs(lo+hi)) < 0.1:
		return normal.Prob(lo, hi)
	case hi <= 0:
		return right.Rest - left.P
	case lo >= 0:
		return left.Rest - right.P
	}
	return 1 - left.P - right.P
}

// sideBelow is the side below z < kink, none where it is a tail beyond reach, and beside that below the kink
// too.
func sideBelow(z, kink, reach float64) normal.Side {
	kink = math.Min(kink, 0)
	if z < 0 && z*z > reach*reach+kink*kink {
		return normal.Side{Rest: 1}
	}
	return normal.BelowAt(z)
}

// kinkSlopes are the moments with their derivatives by log C, Mean and log Var. ok is false
// where kinkMoments is, or where a loss is curved.
func (x *mixture) kinkSlopes(cav Cavity) (m Moments, by [3]Moments, ok bool) {
	s, ok := x.aroundKink(cav, true)
	if !ok || x.curved {
		return m, by, false
	}
	return s.moments(x.kinks[0], cav), s.slopes(cav), true
}

// slopes are the derivatives of the moments by log C, Mean and log Var, of straight losses.
func (s *kinkSums) slopes(cav Cavity) (by [3]Moments) {
	for k, move := range [3]struct{ sd, z, scale float64 }{{0, 0, -s.scale}, {0, -1 / s.sd, 0},
		{s.sd / 2, -s.z / 2, -s.scale / 2}} {
		first := -s.keep*move.z + s.firstByScale*move.scale
		second := -2*s.first*move.z + s.secondByScale*move.scale
		keep := s.keepByZ*move.z + s.keepByScale*move.scale
		by[k] = Moments{
			Mean:     move.sd*s.first + s.sd*first,
			Var:      2*s.sd*move.sd*(s.second-s.first*s.first) + cav.Var*(second-2*s.first*first),
			Response: keep, Shrinkage: -keep,
		}
	}
	return by
}

// flatten brings a side of slope one to slope c/(c+q), and returns how much slope that takes.
func flatten(s *normal.Side, c, q float64) float64 {
	if q == 0 {
		return 0
	}
	slope := c / (c + q)
	taken := q / (c + q) * s.P
	*s = normal.Side{P: slope * s.P, First: slope * s.First, Second: slope * slope * s.Second}
	return taken
}

// accumulator sums over intervals (from, to] of the standard normal x = (h-m_c)/s,
// on each of which f has a constant slope. With f' that slope, Hoeffding's
// covariance formula gives
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v,
//
// a sum of positive terms over intervals and pairs of them. The mean of f less its
// value at x = 0 is the integral of (f'-f'(0)) (1-Phi) over x > 0 less that of
// (f'-f'(0)) Phi over x < 0. The interval around 0 drops out of it, so that
// nothing large cancels. Written as f' - f'(0) = (1-f'(0)) f' - f'(0) (1-f'), it
// keeps its digits where slopes are near 0 or near 1.
type accumulator struct {
	base, variance, keep, pull float64
	slopeCDF                   float64 // the integral of f' Phi so far
	slopeShift, flatShift      float64 // the integrals of f' and of -(1-f') for the mean
	keepAt, pullAt             float64 // f'(0) and 1-f'(0)
}

// add adds an interval where f has slope keep = 1 - pull. Where 0 lies in it, f is
// base there.
func (t *accumulator) add(from, to *normal.Tail, keep, pull, base float64) {
	if !(from.Z < to.Z) {
		return
	}
	a, b := *from, *to
	mass := normal.ProbBetween(a, b)
	t.keep += keep * mass
	t.pull += pull * mass
	below, above := 0.0, 0.0 // the integrals of Phi and of 1-Phi
	if keep > 0 || b.Z < 0 {
		below = normal.CDFIntegral(a, b)
	}
	if a.Z >= 0 || (keep > 0 && t.slopeCDF > 0) {
		above = normal.CDFIntegral(b.Mirror(), a.Mirror())
	}
	if keep > 0 {
		t.variance += keep * keep * normal.ClippedVar(a, b)
		if above > 0 {
			t.variance += 2 * t.slopeCDF * keep * above
		}
		t.slopeCDF += keep * below
	}
	switch {
	case b.Z < 0:
		t.slopeShift -= keep * below
		t.flatShift += pull * below
	case a.Z >= 0:
		t.slopeShift += keep * above
		t.flatShift -= pull * above
	default:
		t.base, t.keepAt, t.pullAt = base, keep, pull
	}
}

// mixtureMoments mixes the predictor over rows of counts: the variance is the mean
// of the variances given the counts plus the variance of the means, both sums of
// positive terms. Means are taken as deviations from the first row's base, so that
// they keep their digits where all of them lie at one kink.
type mixtureMoments struct {
	reference, shift, total float64
	variance, keep, pull    float64
}

// add adds a row of probability p.
func (m *mixtureMoments) add(p float64, r response) {
	if m.total == 0 {
		m.reference = r.base
	}
	off := (r.base - m.reference) + r.shift - m.shift
	before := m.total
	m.total += p
	m.shift += p / m.total * off
	m.variance += p * (r.variance + before/m.total*off*off)
	m.keep += p * r.keep
	m.pull += p * r.pull
}

func (m *mixtureMoments) moments() Moments {
	return Moments{Mean: m.reference + m.shift, Var: m.variance, Response: m.keep, Shrinkage: m.pull}
}
