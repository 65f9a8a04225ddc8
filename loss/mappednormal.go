package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
)

// mappedNormal is Weight times the distribution of f(h), h ~ N(Mean, SD^2), for a rising f. SD > 0.
type mappedNormal struct {
	Weight, Mean, SD float64
	fieldMap
	noise float64 // error of f
}

// fieldMap is a function f of the field h that never falls. Several of its points may be computed at once.
type fieldMap struct {
	at      func(h float64) point
	inverse func(x float64) point // where f has the value x; nil: by search
}

// Limits of a curve.
const (
	curveReach   = 10    // standard deviations of the field beyond which nothing is looked for
	fieldError   = 1e-8  // of the standard deviation, of crossings, and of f between knots
	maxSteps     = 200   // of a search for a crossing
	newtonSteps  = 8     // of them from which on every other one bisects
	averageError = 1e-10 // of averages, relative to the size of what is averaged
)

// tolerance is what fields may err by: more where the weight is small.
func (c mappedNormal) tolerance() float64 {
	return fieldError * c.SD * math.Min(1e4, 1/math.Sqrt(c.Weight))
}

// standard is h in standard deviations.
func (c mappedNormal) standard(h float64) float64 { return (h - c.Mean) / c.SD }

// crossing is the point where f has the value x, or the end of the curve's reach where that lies beyond. A
// search goes from near by Newton steps, which bisect where they leave the bracket.
func (c mappedNormal) crossing(x float64, near point) point {
	if c.inverse != nil {
		return c.inverse(x)
	}
	least, most, tol := c.Mean-curveReach*c.SD, c.Mean+curveReach*c.SD, c.tolerance()
	lo, hi := math.Inf(-1), math.Inf(1) // the bracket, as far as it is known
	p := near
	for step := range maxSteps {
		if p.f > x {
			hi = p.h
		} else {
			lo = p.h
		}
		next := p.h + (x-p.f)/p.slope
		switch {
		case p.slope > 0 && (math.Abs(next-p.h) <= tol || math.Abs(x-p.f) <= c.noise):
			return point{math.Min(math.Max(least, next), most), x, p.slope}
		case hi-lo <= tol || hi <= least || lo >= most:
			return point{p.h, x, p.slope}
		case next <= least && math.IsInf(lo, -1):
			next = least
		case next >= most && math.IsInf(hi, 1):
			next = most
		case !(lo < next && next < hi) || step > newtonSteps && step%2 == 0:
			next = 0.5 * (math.Max(least, lo) + math.Min(most, hi))
		}
		p = c.at(next)
	}
	return p
}

// middle is the curve's point at its mean.
func (c mappedNormal) middle() point { return c.at(c.Mean) }

// mass is the curve's share of P(a <= X < b).
func (c mappedNormal) mass(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	return c.Weight * normal.Prob(c.reaches(a), c.reaches(b))
}

// reaches is the field in standard deviations that is mapped to x.
func (c mappedNormal) reaches(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return c.standard(c.crossing(x, c.middle()).h)
}

// below is the curve's share of P(X <= x), and of the density there. The search begins at near; where it ends
// is returned.
func (c mappedNormal) below(x float64, near point) (share, density float64, at point) {
	at = c.crossing(x, near)
	field := normal.TailAt(c.standard(at.h))
	if at.slope > 0 {
		density = c.Weight * field.Density / (c.SD * at.slope)
	}
	return c.Weight * field.Below(), density, at
}

// average is the curve's share of the expectation of g, by adaptive panels between where f passes the
// breakpoints of g.
func (c mappedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	cuts := []float64{-curveReach, curveReach}
	for z := 1 - curveReach; z < curveReach; z++ {
		cuts = append(cuts, float64(z))
	}
	for _, x := range breaks {
		if z := c.reaches(x); math.Abs(z) < curveReach {
			cuts = append(cuts, z)
		}
	}
	slices.Sort(cuts)
	value := func(z float64) normal.Terms { return normal.Terms{1: g(c.at(c.Mean + c.SD*z).f)} }
	size := 0.0
	for _, z := range cuts {
		size = max(size, math.Abs(value(z)[1])*normal.PDF(z))
	}
	return c.Weight * normal.Integrate(value, cuts, averageError*size)[1]
}
