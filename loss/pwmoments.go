package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
)

// response is the predictor f(h) under the cavity for one row of counts: its mean is base + shift, where base
// = f(m_c); its variance; and the means of its slope (keep) and of one less its slope (pull).
type response struct {
	base, shift, variance, keep, pull float64
}

// Moments computes the moments (T4) over the cavity and over the rows, with all their digits wherever the
// cavity lies. Where a row's own tails are negligible, so are those of steeper ones, and it stands for them.
func (x *mixture) Moments(cav Cavity) Moments {
	if len(x.kinks) == 0 { // no example
		return Moments{Mean: cav.Mean, Var: cav.Var, Response: 1}
	}
	sd := math.Sqrt(cav.Var)
	if x.canScale(cav, sd) {
		return x.marginMoments(cav, sd)
	}
	var kinks [4]normal.Tail // of more the slice below is allocated
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

// canScale says whether the loss is 0 on one side of its only kink, as the hard margin, the hinge and its
// square are, and fields can be measured in standard deviations without overflow.
func (x *mixture) canScale(cav Cavity, sd float64) bool {
	scale := 1 / (cav.C * sd)
	return x.side != 0 && scale > 0 && !math.IsInf(scale, 0) && !math.IsInf((x.kinks[0]-cav.Mean)/sd, 0)
}

// marginMoments are (T8) for a loss that is 0 on one side of its only kink; fields and predictors are
// multiplied by side = 1 or -1, so that this is the right one. The proximal map of a row bends at the kink,
// z, and at z - steep/(c sd).
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
	for i, p := range x.p {
		steep, q, last := math.Abs(x.rows[i].Slopes[left]), x.rows[i].Curvatures[left], false
		from := to
		if steep > 0 {
			z := to.Z - steep*scale
			if last = x.rest != nil && isNegligible(z, to.Z, x.reach[i]); last {
				p, z = x.rest[i], math.Inf(-1)
			}
			from = normal.TailAt(z)
		}
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

// standardize expresses x in units of the Gaussian of that mean and sd >= 0; at
// sd = 0 it is infinite, but 0 where x is the mean.
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
	kinks []normal.Tail // where losses of slope 0 see them
	// whether the last map had ends, beside those, that are negligible, and that are not
	far, near bool
}

// mapSlope is a slope of a proximal map, keep, and pull = 1 - keep.
type mapSlope struct{ keep, pull float64 }

// response integrates the proximal map of one row's loss. Tails beyond reach count as none.
func (s *segmentIntegrator) response(l *Piecewise, reach float64) response {
	var a accumulator
	s.far, s.near = false, false
	var from normal.Tail // the start of the segment of that slope
	flat, slope := mapSlope{0, 1}, mapSlopeOf(l.Curvatures[0], s.C)
	for j, kink := range l.Breakpoints {
		below, above := l.slopeAt(j, kink), l.Slopes[j+1]
		to, next := s.see(j, kink, below, reach), mapSlopeOf(l.Curvatures[j+1], s.C)
		if j == 0 {
			a.begin(&to, slope)
		} else {
			a.extend(&from, &to, slope)
		}
		if from = to; above > below {
			from = s.see(j, kink, above, reach)
			a.bend(&to, slope, flat)
			a.extend(&to, &from, flat)
			slope = flat
		}
		a.bend(&from, slope, next)
		slope = next
	}
	a.end(&from, slope)
	a.base, _ = l.prox(s.C, s.Mean)
	a.shift *= s.sd
	a.variance *= s.Var
	return a.response
}

// see is the tail where kink j is seen from a side on which the loss has that slope: at infinity where it is
// negligible beside the kinks' own.
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

// isNegligible says whether the tail at z is so beside that at a kink on the same side of the mean.
func isNegligible(z, kink, reach float64) bool {
	return z*z > reach*reach && !(z*kink > 0 && z*z <= reach*reach+kink*kink)
}

// mapSlopeOf is that of the proximal map where the loss has curvature q.
func mapSlopeOf(q, c float64) mapSlope {
	if q == 0 {
		return mapSlope{1, 0}
	}
	return mapSlope{c / (c + q), q / (c + q)}
}

// setReach finds for every row how far a tail may lie, in standard deviations, before it is
// negligible beside the row without examples: P(x > t) <= exp(-t^2/2)/2. Where rows get steeper, none reaches
// farther than those before it.
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

const negligibleTail = 1e-17 // beside the row without examples

func nonZero(v float64) bool { return v != 0 }

// isZero says whether the loss is 0, as without examples.
func (l *Piecewise) isZero() bool {
	return !slices.ContainsFunc(l.Slopes, nonZero) && !slices.ContainsFunc(l.Curvatures, nonZero)
}

// marginSide is 1 where the multiples of a loss are 0 on the right of their only kink, -1 where that is so
// mirrored, else 0.
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

// accumulator sums over intervals (from, to] of the standard normal x = (h-m_c)/s, on each of which f has a
// constant slope. With f' that slope, Hoeffding's covariance formula gives
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v,
//
// a sum of positive terms over intervals and pairs of them. The mean of f less its value at x = 0 is the sum
// over the places z where f bends of the change of its slope there times E (|x|-|z|)+ on the side of z.
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
// base of the likeliest row, so that they keep their digits where all of them lie at one kink; where it has
// probability p, the variance of the means is at least p times their mean square.
type mixtureMoments struct {
	reference            float64
	mean, square         float64 // of the rows' means, less the reference
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
