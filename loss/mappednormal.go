package loss

import (
	"math"
	"slices"
	"sort"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// MappedNormal is Weight times the distribution of f(h), h ~ N(Mean, SD^2), for a
// rising f: the piecewise cubic through Knots, straight beyond them. Where f is
// flat between knots, the distribution has an atom. SD > 0.
type MappedNormal struct {
	Weight, Mean, SD float64
	Knots            []Knot
}

// Knot is a point of a curve: its value and slope at the field H. Along a curve H
// rises strictly, and F rises.
type Knot struct{ H, F, Slope float64 }

// Limits on the knots of a curve.
const (
	knotReach    = 10 // standard deviations that knots span
	initialCells = 16
	splineError  = 1e-8 // of the standard deviation, between knots
	maxHalvings  = 30   // of a cell around a bend
)

// newMappedNormal places knots until the cubics between them follow f to
// splineError, more where the weight is small, or to noise, the error of f itself.
func newMappedNormal(weight, mean, sd, noise float64, f func(h float64) (f, slope float64)) MappedNormal {
	c := MappedNormal{Weight: weight, Mean: mean, SD: sd}
	at := func(h float64) Knot {
		v, slope := f(h)
		return Knot{h, v, slope}
	}
	tol := splineError*sd*math.Min(1e4, 1/math.Sqrt(weight)) + noise
	a := at(mean - knotReach*sd)
	c.push(a)
	for i := range initialCells {
		b := at(mean + (float64(2*(i+1))/initialCells-1)*knotReach*sd)
		c.refine(at, a, b, tol, maxHalvings)
		a = b
	}
	return c
}

// push appends a knot, in order also where rounding has it otherwise.
func (c *MappedNormal) push(k Knot) {
	if n := len(c.Knots); n > 0 {
		last := c.Knots[n-1]
		if !(k.H > last.H) {
			return
		}
		k.F = math.Max(k.F, last.F)
	}
	k.Slope = math.Max(0, k.Slope)
	c.Knots = append(c.Knots, k)
}

// refine adds knots after a, up to and with b: it halves cells, and where the
// tangents of a cell cross on the curve, it tries a bend there.
func (c *MappedNormal) refine(at func(h float64) Knot, a, b Knot, tol float64, depth int) {
	mid := at(0.5 * (a.H + b.H))
	if depth == 0 || math.Abs(cubic{a, b}.at(mid.H)-mid.F) <= tol {
		c.push(b)
		return
	}
	cross := a.H + (b.F-a.F-b.Slope*(b.H-a.H))/(a.Slope-b.Slope)
	if width := 1e-3 * splineError * c.SD; a.H+2*width < cross && cross < b.H-2*width {
		l, r := at(cross-width), at(cross+width)
		if math.Abs(a.F+a.Slope*(l.H-a.H)-l.F) <= 0.1*tol && math.Abs(b.F+b.Slope*(r.H-b.H)-r.F) <= 0.1*tol {
			c.refine(at, a, l, tol, depth-1)
			c.push(r)
			c.refine(at, r, b, tol, depth-1)
			return
		}
	}
	c.refine(at, a, mid, tol, depth-1)
	c.refine(at, mid, b, tol, depth-1)
}

// cubic is the curve between two knots: Hermite's, with slopes cut to three
// times that of the chord, which keeps it rising.
type cubic struct{ a, b Knot }

// coefficients are the width of the cell, its rise and the slopes at its ends times
// the width.
func (q cubic) coefficients() (width, rise, m0, m1 float64) {
	width, rise = q.b.H-q.a.H, q.b.F-q.a.F
	return width, rise, math.Min(q.a.Slope*width, 3*rise), math.Min(q.b.Slope*width, 3*rise)
}

func (q cubic) at(h float64) float64 {
	width, rise, m0, m1 := q.coefficients()
	t := (h - q.a.H) / width
	return q.a.F + t*(m0+t*(3*rise-2*m0-m1+t*(m0+m1-2*rise)))
}

// slope is the derivative at h.
func (q cubic) slope(h float64) float64 {
	width, rise, m0, m1 := q.coefficients()
	t := (h - q.a.H) / width
	return math.Max(0, (m0+t*(2*(3*rise-2*m0-m1)+3*t*(m0+m1-2*rise)))/width)
}

// standard is h in standard deviations.
func (c MappedNormal) standard(h float64) float64 { return (h - c.Mean) / c.SD }

// field is the place where f crosses x: the least h with f(h) >= x, or for
// beyond the greatest with f(h) <= x.
func (c MappedNormal) field(x float64, beyond bool) float64 {
	past := func(f float64) bool { return f > x || (!beyond && f == x) }
	i := sort.Search(len(c.Knots), func(i int) bool { return past(c.Knots[i].F) })
	switch i {
	case 0:
		return c.Knots[0].fieldAt(x)
	case len(c.Knots):
		return c.Knots[i-1].fieldAt(x)
	}
	return cubic{c.Knots[i-1], c.Knots[i]}.fieldAt(x)
}

// fieldAt is where the cubic crosses x, by Newton steps that bisect where they
// leave the bracket.
func (q cubic) fieldAt(x float64) float64 {
	lo, hi := q.a.H, q.b.H
	h := lo + (x-q.a.F)/(q.b.F-q.a.F)*(hi-lo)
	for range 60 {
		miss := x - q.at(h)
		if miss < 0 {
			hi = h
		} else {
			lo = h
		}
		next := h + miss/q.slope(h)
		if !(lo <= next && next <= hi) {
			next = 0.5 * (lo + hi)
		}
		if math.Abs(next-h) <= 1e-15*(q.b.H-q.a.H) {
			return next
		}
		h = next
	}
	return h
}

// fieldAt is where the tangent at a knot crosses x.
func (k Knot) fieldAt(x float64) float64 {
	switch {
	case x == k.F:
		return k.H
	case k.Slope == 0:
		return math.Inf(int(math.Copysign(1, x-k.F)))
	}
	return k.H + (x-k.F)/k.Slope
}

// extrapolate is f at a field beyond all knots.
func (c MappedNormal) extrapolate(h float64) float64 {
	k := c.Knots[0]
	if h > k.H {
		k = c.Knots[len(c.Knots)-1]
	}
	if k.Slope == 0 {
		return k.F
	}
	return k.F + k.Slope*(h-k.H)
}

// mass is the curve's share of P(a <= X < b).
func (c MappedNormal) mass(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	return c.Weight * normal.Prob(c.standard(c.field(a, false)), c.standard(c.field(b, false)))
}

// cdf is the curve's share of P(X <= x).
func (c MappedNormal) cdf(x float64) float64 {
	return c.Weight * normal.CDF(c.standard(c.field(x, true)))
}

// density is the curve's share of the density at x, atoms left out.
func (c MappedNormal) density(x float64) float64 {
	h := c.field(x, false)
	i := sort.Search(len(c.Knots), func(i int) bool { return c.Knots[i].H >= h })
	if i == 0 || i == len(c.Knots) {
		return 0
	}
	slope := cubic{c.Knots[i-1], c.Knots[i]}.slope(h)
	if slope == 0 {
		return 0
	}
	return c.Weight * normal.PDF(c.standard(h)) / (c.SD * slope)
}

// average is the curve's share of the expectation of g, by Gauss-Legendre panels
// that end at the knots and where f passes the breakpoints of g.
func (c MappedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	first, last := c.Knots[0].H, c.Knots[len(c.Knots)-1].H
	var cuts []float64
	for _, k := range c.Knots {
		cuts = append(cuts, k.H)
	}
	for _, x := range breaks {
		for _, beyond := range []bool{false, true} {
			if h := c.field(x, beyond); first < h && h < last {
				cuts = append(cuts, h)
			}
		}
	}
	slices.Sort(cuts)
	sum, i := 0.0, 0
	for j := 1; j < len(cuts); j++ {
		for c.Knots[i+1].H < cuts[j] {
			i++
		}
		q := cubic{c.Knots[i], c.Knots[i+1]}
		sum += quadrature.Panels(func(z float64) float64 { return g(q.at(c.Mean+c.SD*z)) * normal.PDF(z) },
			c.standard(cuts[j-1]), c.standard(cuts[j]), panelWidth)
	}
	return c.Weight * sum
}
