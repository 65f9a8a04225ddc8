package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// MappedNormal is Weight times the distribution of f(h), h ~ N(Mean, SD^2), for a
// rising f. Where f is flat, the distribution has an atom. SD > 0.
type MappedNormal struct {
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
	curveReach   = 10   // standard deviations of the field beyond which nothing is looked for
	fieldError   = 1e-8 // of the standard deviation, of crossings, and of f between knots
	maxSteps     = 200  // of a search for a crossing
	newtonSteps  = 8    // of them from which on every other one bisects
	initialCells = 16   // of a spline
	maxHalvings  = 30   // of a cell around a bend
)

// tolerance is what fields may err by: more where the weight is small.
func (c MappedNormal) tolerance() float64 {
	return fieldError * c.SD * math.Min(1e4, 1/math.Sqrt(c.Weight))
}

// standard is h in standard deviations.
func (c MappedNormal) standard(h float64) float64 { return (h - c.Mean) / c.SD }

// crossing is where f crosses x; see invertibleMap. A search starts at near.
func (c MappedNormal) crossing(x float64, beyond bool, near point) point {
	if f, ok := c.f.(invertibleMap); ok {
		return f.crossing(x, beyond)
	}
	return c.search(x, beyond, near)
}

// search finds a crossing by Newton steps from near, which bisect where they leave the bracket,
// or the end of the curve's reach where it lies beyond.
func (c MappedNormal) search(x float64, beyond bool, near point) point {
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
func (c MappedNormal) mass(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	return c.Weight * normal.Prob(c.standard(c.lower(a)), c.standard(c.lower(b)))
}

// lower is the least field that is mapped to x or above.
func (c MappedNormal) lower(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return c.crossing(x, false, c.f.at(c.Mean)).h
}

// below is the curve's share of P(X <= x), and of the density there without atoms. The search begins
// at near; where it ends is returned.
func (c MappedNormal) below(x float64, near point) (share, density float64, at point) {
	at = c.crossing(x, true, near)
	field := normal.TailAt(c.standard(at.h))
	if at.slope > 0 {
		density = c.Weight * field.Density / (c.SD * at.slope)
	}
	return c.Weight * field.Below(), density, at
}

// average is the curve's share of the expectation of g, by Gauss-Legendre panels
// that end at the knots of a cubic spline and where f passes the breakpoints of g.
func (c MappedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	knots := c.knots()
	first, last := knots[0].h, knots[len(knots)-1].h
	var cuts []float64
	for _, k := range knots {
		cuts = append(cuts, k.h)
	}
	for _, x := range breaks {
		for _, beyond := range []bool{false, true} {
			if h := c.crossing(x, beyond, c.f.at(c.Mean)).h; first < h && h < last {
				cuts = append(cuts, h)
			}
		}
	}
	slices.Sort(cuts)
	sum, i := 0.0, 0
	for j := 1; j < len(cuts); j++ {
		for knots[i+1].h < cuts[j] {
			i++
		}
		q := cubic{knots[i], knots[i+1]}
		sum += quadrature.Panels(func(z float64) float64 { return g(q.at(c.Mean+c.SD*z)) * normal.PDF(z) },
			c.standard(cuts[j-1]), c.standard(cuts[j]), panelWidth)
	}
	return c.Weight * sum
}

// spline are the knots of a curve: h rises strictly, and f rises.
type spline []point

// knots are placed until the cubics between them follow f to the tolerance, or to
// the error of f itself.
func (c MappedNormal) knots() spline {
	var s spline
	tol := c.tolerance() + c.noise
	a := c.f.at(c.Mean - curveReach*c.SD)
	s.push(a)
	for i := range initialCells {
		b := c.f.at(c.Mean + (float64(2*(i+1))/initialCells-1)*curveReach*c.SD)
		s.refine(c.f, a, b, tol, maxHalvings)
		a = b
	}
	return s
}

// push appends a knot, in order also where rounding has it otherwise.
func (s *spline) push(k point) {
	if n := len(*s); n > 0 {
		last := (*s)[n-1]
		if !(k.h > last.h) {
			return
		}
		k.f = math.Max(k.f, last.f)
	}
	k.slope = math.Max(0, k.slope)
	*s = append(*s, k)
}

// refine adds knots after a, up to and with b, halving cells.
func (s *spline) refine(f risingMap, a, b point, tol float64, depth int) {
	mid := f.at(0.5 * (a.h + b.h))
	if depth == 0 || math.Abs(cubic{a, b}.at(mid.h)-mid.f) <= tol {
		s.push(b)
		return
	}
	s.refine(f, a, mid, tol, depth-1)
	s.refine(f, mid, b, tol, depth-1)
}

// cubic is the curve between two knots: Hermite's, with slopes cut to three
// times that of the chord, which keeps it rising.
type cubic struct{ a, b point }

func (q cubic) at(h float64) float64 {
	width, rise := q.b.h-q.a.h, q.b.f-q.a.f
	m0, m1 := math.Min(q.a.slope*width, 3*rise), math.Min(q.b.slope*width, 3*rise)
	t := (h - q.a.h) / width
	return q.a.f + t*(m0+t*(3*rise-2*m0-m1+t*(m0+m1-2*rise)))
}

// straight is f at reach standard deviations, straight beyond those of the curve.
func (c MappedNormal) straight(reach float64) float64 {
	end := c.f.at(c.Mean + math.Copysign(math.Min(curveReach, math.Abs(reach)), reach)*c.SD)
	if end.slope == 0 {
		return end.f
	}
	return end.f + end.slope*(c.Mean+reach*c.SD-end.h)
}
