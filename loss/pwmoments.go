package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
)

// response is the predictor f(h) under the cavity for one row of counts: its mean base + shift, with base =
// f(m_c); its variance; and the means of its slope (keep) and of 1 - slope (pull).
type response struct {
	base, shift, variance, keep, pull float64
}

// Moments computes the moments (T4) over the cavity and the rows, relatively accurate for every cavity. If
// the tails of a row are negligible, so are the tails of steeper rows, whose probability it then takes.
func (x *mixture) Moments(cav Cavity) Moments {
	if len(x.kinks) == 0 { // no example
		return Moments{Mean: cav.Mean, Var: cav.Var, Response: 1}
	}
	sd := math.Sqrt(cav.Var)
	if x.canScale(cav, sd) {
		return x.marginMoments(cav, sd)
	}
	var kinks [4]normal.Tail // avoids an allocation
	s := segmentIntegrator{Cavity: cav, sd: sd, kinks: kinks[:0]}
	for _, kink := range x.kinks {
		s.kinks = append(s.kinks, normal.TailAt(standardize(kink, cav.Mean, s.sd)))
	}
	sum := mixtureMoments{}
	sum.reference, _ = x.rows[x.likeliest].prox(cav.C, cav.Mean)
	for i, p := range x.p {
		r, last := s.response(&x.rows[i], x.reach[i]), x.rest != nil && s.far && !s.near
		if last {
			p = x.rest[i]
		}
		if sum.add(p, r); last {
			break
		}
	}
	return sum.moments()
}

// canScale reports whether the loss is 0 on one side of its only kink, as the hard margin, the hinge and its
// square are, and fields in standard deviations do not overflow.
func (x *mixture) canScale(cav Cavity, sd float64) bool {
	scale := 1 / (cav.C * sd)
	return x.side != 0 && scale > 0 && !math.IsInf(scale, 0) && !math.IsInf((x.kinks[0]-cav.Mean)/sd, 0)
}

// marginMoments are (T8) for a loss that is 0 on one side of its only kink, the right one after
// multiplication of fields and predictors by side = 1 or -1. The proximal map of a row has kinks at z, the
// loss's kink, and at z - steep/(c sd).
func (x *mixture) marginMoments(cav Cavity, sd float64) Moments {
	h, kink, scale := x.side*cav.Mean, x.side*x.kinks[0], 1/(cav.C*sd)
	to := normal.TailAt(standardize(kink, h, sd))
	above, varAbove, excess := to.Above(), to.VarAbove(), to.Excess()
	left, sum := 0, mixtureMoments{} // the segment that side turns to the left
	if x.side < 0 {
		left = 1
	}
	likeliest := &x.rows[x.likeliest]
	sum.reference = marginProx(cav.C, h, kink, math.Abs(likeliest.Slopes[left]), likeliest.Curvatures[left])
	for i := range x.p {
		steep, q := math.Abs(x.rows[i].Slopes[left]), x.rows[i].Curvatures[left]
		p, from, last := x.marginRow(i, steep*scale, &to)
		slope := mapSlopeOf(q, cav.C)
		below := from.Below()
		sum.add(p, response{
			base:  marginProx(cav.C, h, kink, steep, q),
			shift: sd * (to.First - slope.keep*from.First),
			keep:  slope.keep*below + above,
			pull:  slope.pull*below + normal.ProbBetween(&from, &to),
			variance: cav.Var * (slope.keep*slope.keep*from.VarBelow() + varAbove +
				2*slope.keep*from.Shortfall()*excess),
		})
		if last {
			break
		}
	}
	m := sum.moments()
	m.Mean *= x.side
	return m
}

// marginRow is the probability of row i, or of it and the steeper ones if the kink of its map is negligible,
// the last; and the tail at this kink, a distance before the loss's.
func (x *mixture) marginRow(i int, distance float64, to *normal.Tail) (p float64, from normal.Tail,
	last bool) {
	if distance == 0 {
		return x.p[i], *to, false
	}
	z := to.Z - distance
	if x.rest != nil && isNegligible(z, to.Z, x.reach[i]) {
		return x.rest[i], normal.TailAt(math.Inf(-1)), true
	}
	return x.p[i], normal.TailAt(z), false
}

// marginProx is the proximal map (T3) at h of a loss of slope -steep and curvature q before the kink, 0
// beyond.
func marginProx(c, h, kink, steep, q float64) float64 {
	switch {
	case h >= kink:
		return h
	case q == 0:
		return min(kink, h+steep/c)
	case q < c: // f is nearer to h than to the kink
		return min(kink, h+(q*(kink-h)+steep)/(c+q))
	}
	return min(kink, kink+(c*(h-kink)+steep)/(c+q))
}

// standardize is (x - mean)/sd; at sd = 0 infinite, or 0 if x is the mean.
func standardize(x, mean, sd float64) float64 {
	if x == mean {
		return 0
	}
	return (x - mean) / sd
}

// segmentIntegrator integrates proximal maps of piecewise losses of common kinks over the Gaussian cavity:
// over the intervals of the field h, in standard deviations from the cavity's mean, on which a map is linear.
type segmentIntegrator struct {
	Cavity
	sd    float64
	kinks []normal.Tail // for losses of slope 0
	// whether the last map had other ends that are negligible (far), and that are not (near)
	far, near bool
}

// mapSlope is a slope of a proximal map, keep, and pull = 1 - keep.
type mapSlope struct{ keep, pull float64 }

// response integrates the proximal map of one row's loss. Tails beyond reach are neglected.
func (s *segmentIntegrator) response(l *Piecewise, reach float64) response {
	var a accumulator
	s.far, s.near = false, false
	from, end := normal.TailAt(math.Inf(-1)), normal.TailAt(math.Inf(1)) // from: start of the segment
	flat, slope := mapSlope{0, 1}, mapSlopeOf(l.Curvatures[0], s.C)
	for j, kink := range l.Breakpoints {
		below, above := l.slopeAt(j, kink), l.Slopes[j+1]
		to, next := s.see(j, kink, below, reach), mapSlopeOf(l.Curvatures[j+1], s.C)
		a.extend(&from, &to, slope)
		if from = to; above > below {
			from = s.see(j, kink, above, reach)
			a.addKink(&to, slope, flat)
			a.extend(&to, &from, flat)
			slope = flat
		}
		a.addKink(&from, slope, next)
		slope = next
	}
	a.extend(&from, &end, slope)
	a.base, _ = l.prox(s.C, s.Mean)
	a.shift *= s.sd
	a.variance *= s.Var
	return a.response
}

// see is the tail at the field of kink j for that slope of the loss: infinite if negligible compared with the
// kinks' tails.
func (s *segmentIntegrator) see(j int, kink, slope, reach float64) normal.Tail {
	if slope == 0 {
		return s.kinks[j]
	}
	z := standardize(kink, s.Mean-slope/s.C, s.sd)
	outer := s.kinks[0].Z // the farthest kink on that side of the cavity's mean, if there is one
	if z > 0 {
		outer = s.kinks[len(s.kinks)-1].Z
	}
	if isNegligible(z, outer, reach) {
		z, s.far = math.Copysign(math.Inf(1), z), true
	} else {
		s.near = true
	}
	return normal.TailAt(z)
}

// isNegligible compares the tail at z with that at a kink on the same side of the mean.
func isNegligible(z, kink, reach float64) bool {
	return z*z > reach*reach && !(z*kink > 0 && z*z <= reach*reach+kink*kink)
}

// mapSlopeOf is the slope of the proximal map for curvature q of the loss.
func mapSlopeOf(q, c float64) mapSlope {
	if q == 0 {
		return mapSlope{1, 0}
	}
	return mapSlope{c / (c + q), q / (c + q)}
}

// setReach computes for every row the distance, in standard deviations, beyond which a tail is negligible
// compared with the row without examples: P(x > t) <= exp(-t^2/2)/2. If rows get steeper, reach does not
// increase.
func (x *mixture) setReach(steeper bool) {
	empty := 0.0
	for i, p := range x.p {
		if x.rows[i].isZero() {
			empty = p
		}
	}
	x.reach = make([]float64, len(x.p))
	for i, p := range x.p {
		x.reach[i] = math.Sqrt(2 * math.Log(math.Max(1, p/(negligibleTail*empty))))
	}
	if !steeper {
		return
	}
	x.rest = slices.Clone(x.p)
	for i := len(x.p) - 2; i >= 0; i-- {
		x.rest[i] += x.rest[i+1]
		x.reach[i] = math.Max(x.reach[i], x.reach[i+1])
	}
}

const negligibleTail = 1e-17 // relative to the row without examples

func nonZero(v float64) bool { return v != 0 }

// isZero reports whether the loss is 0, as without examples.
func (l *Piecewise) isZero() bool {
	return !slices.ContainsFunc(l.Slopes, nonZero) && !slices.ContainsFunc(l.Curvatures, nonZero)
}

// marginSide is 1 if a loss is 0 on the right of its only kink, -1 if on the left, else 0.
func (l *Piecewise) marginSide() float64 {
	switch {
	case len(l.Breakpoints) != 1:
		return 0
	case l.Slopes[1] == 0 && l.Curvatures[1] == 0:
		return 1
	case l.Slopes[0] == 0 && l.Curvatures[0] == 0:
		return -1
	}
	return 0
}

// accumulator sums over intervals (from, to] of the standard normal x = (h-m_c)/s with constant slope f'.
// Hoeffding's covariance formula gives
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v,
//
// a sum of positive terms over intervals and pairs of them. The mean of f minus f(0) is the sum over the
// kinks z of f of the change of slope times E (|x|-|z|)+ on the side of z.
type accumulator struct {
	response
	rise float64 // the integral of f' Phi up to here
}

// extend adds the interval between two points, kinks or infinite.
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

// addKink adds the change of slope at a kink.
func (a *accumulator) addKink(at *normal.Tail, from, to mapSlope) {
	a.shift += (to.keep - from.keep) * at.First
}

// mixtureMoments mixes the predictor over rows of counts: the variance is the mean of the variances given the
// counts plus the variance of the means. Means are deviations from the base of the likeliest row, accurate if
// all lie at one kink; if it has probability p, the variance of the means is at least p times their mean
// square.
type mixtureMoments struct {
	reference            float64
	mean, square         float64 // of the rows' means minus the reference
	variance, keep, pull float64
}

// add adds a row of probability p.
func (m *mixtureMoments) add(p float64, r response) {
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
