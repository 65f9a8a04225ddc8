package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// mappedNormal is Weight times the distribution of f(h), h ~ N(Mean, SD^2), for a
// rising f. Where f is flat, the distribution has an atom. SD > 0.
type mappedNormal struct {
	Weight, Mean, SD float64
	f                risingMap
	noise            float64 // error of f
}

// risingMap is a function f of the field h that never falls. Several may be evaluated at once.
type risingMap interface {
	at(h float64) point
}

// invertibleMap is a rising map whose inverse is known.
type invertibleMap interface {
	risingMap
	// crossing is where f crosses x: its point at the least h with f(h) >= x, or for
	// beyond at the greatest with f(h) <= x.
	crossing(x float64, beyond bool) point
}

// Limits of a curve.
const (
	curveReach   = 10    // standard deviations of the field beyond which nothing is looked for
	fieldError   = 1e-8  // of the standard deviation, of crossings, and of f between knots
	maxSteps     = 200   // of a search for a crossing
	newtonSteps  = 8     // of them from which on every other one bisects
	averageError = 1e-10 // of averages, relative to the size of what is averaged
	maxHalvings  = 30    // of a panel around a bend
)

// tolerance is what fields may err by: more where the weight is small.
func (c mappedNormal) tolerance() float64 {
	return fieldError * c.SD * math.Min(1e4, 1/math.Sqrt(c.Weight))
}

// standard is h in standard deviations.
func (c mappedNormal) standard(h float64) float64 { return (h - c.Mean) / c.SD }

// crossing is where f crosses x; see invertibleMap. A search starts at near.
func (c mappedNormal) crossing(x float64, beyond bool, near point) point {
	if f, ok := c.f.(invertibleMap); ok {
		return f.crossing(x, beyond)
	}
	return c.search(x, beyond, near)
}

// search finds a crossing by Newton steps from near, which bisect where they leave the bracket,
// or the end of the curve's reach where it lies beyond.
func (c mappedNormal) search(x float64, beyond bool, near point) point {
	least, most, tol := c.Mean-curveReach*c.SD, c.Mean+curveReach*c.SD, c.tolerance()
	lo, hi := math.Inf(-1), math.Inf(1) // the bracket, as far as it is known
	p := near
	for step := range maxSteps {
		if p.f > x || !beyond && p.f == x {
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
		}
		switch {
		case next <= least && math.IsInf(lo, -1):
			next = least
		case next >= most && math.IsInf(hi, 1):
			next = most
		case !(lo < next && next < hi) || step > newtonSteps && step%2 == 0:
			next = 0.5 * (math.Max(least, lo) + math.Min(most, hi))
		}
		p = c.f.at(next)
	}
	return p
}

// mass is the curve's share of P(a <= X < b).
func (c mappedNormal) mass(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	return c.Weight * normal.Prob(c.standard(c.lower(a)), c.standard(c.lower(b)))
}

// lower is the least field that is mapped to x or above.
func (c mappedNormal) lower(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return c.crossing(x, false, c.f.at(c.Mean)).h
}

// below is the curve's share of P(X <= x), and of the density there without atoms. The search begins
// at near; where it ends is returned.
func (c mappedNormal) below(x float64, near point) (share, density float64, at point) {
	at = c.crossing(x, true, near)
	field := normal.TailAt(c.standard(at.h))
	if at.slope > 0 {
		density = c.Weight * field.Density / (c.SD * at.slope)
	}
	return c.Weight * field.Below(), density, at
}

// negative is the curve's share of P(X < 0) + P(X = 0)/2.
func (c mappedNormal) negative() float64 {
	middle := c.f.at(c.Mean)
	below := normal.CDF(c.standard(c.crossing(0, false, middle).h))
	return 0.5 * c.Weight * (below + normal.CDF(c.standard(c.crossing(0, true, middle).h)))
}

// average is the curve's share of the expectation of g, by adaptive Gauss-Legendre panels
// between where f passes the breakpoints of g.
func (c mappedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	cuts := []float64{-curveReach, curveReach}
	for z := 1 - curveReach; z < curveReach; z++ {
		cuts = append(cuts, float64(z))
	}
	for _, x := range breaks {
		for _, beyond := range []bool{false, true} {
			if z := c.standard(c.crossing(x, beyond, c.f.at(c.Mean)).h); math.Abs(z) < curveReach {
				cuts = append(cuts, z)
			}
		}
	}
	slices.Sort(cuts)
	value := func(z float64) float64 { return g(c.f.at(c.Mean + c.SD*z).f) }
	at := func(z float64) float64 { return value(z) * normal.PDF(z) }
	size, sum := 0.0, 0.0
	for _, z := range cuts {
		size = max(size, math.Abs(value(z))*normal.PDF(z))
	}
	for j := 1; j < len(cuts); j++ {
		if cuts[j-1] < cuts[j] {
			sum += quadrature.Adaptive(at, cuts[j-1], cuts[j], averageError*size, maxHalvings)
		}
	}
	return c.Weight * sum
}

// extended is f at reach standard deviations, on a tangent beyond those of the curve.
func (c mappedNormal) extended(reach float64) float64 {
	end := c.f.at(c.Mean + math.Copysign(math.Min(curveReach, math.Abs(reach)), reach)*c.SD)
	if end.slope == 0 {
		return end.f
	}
	return end.f + end.slope*(c.Mean+reach*c.SD-end.h)
}
