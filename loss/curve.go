package loss

import (
	"math"
	"sort"
)

// MappedNormal is Weight times the law of f(h), h ~ N(Mean, SD^2), for a rising f: the
// piecewise cubic with values F and slopes Slope at the fields H, straight
// beyond them. H rises strictly, F rises, and SD > 0. Where F has equal
// neighbours, f is flat between them and the law has an atom.
type MappedNormal struct {
	Weight, Mean, SD float64
	H, F, Slope      []float64
}

// Limits on the knots of a curve.
const (
	curveReach = 10   // standard deviations that knots span
	curveCells = 16   // to begin with
	curveError = 1e-8 // of the standard deviation, between knots
	curveDepth = 30   // halvings of a cell around a bend
)

// newCurve puts knots until the cubics between them follow f to curveError, or
// to noise, the error of f itself.
func newCurve(weight, mean, sd, noise float64, f func(h float64) (f, slope float64)) MappedNormal {
	c := MappedNormal{Weight: weight, Mean: mean, SD: sd}
	a := knotOf(f, mean-curveReach*sd)
	c.push(a)
	for i := range curveCells {
		b := knotOf(f, mean+(float64(2*(i+1))/curveCells-1)*curveReach*sd)
		c.refine(f, a, b, curveError*sd+noise, curveDepth)
		a = b
	}
	return c
}

// knot is a point of a curve.
type knot struct{ h, f, slope float64 }

func knotOf(at func(h float64) (f, slope float64), h float64) knot {
	f, slope := at(h)
	return knot{h, f, slope}
}

// push appends a knot, in order also where rounding has it otherwise.
func (c *MappedNormal) push(k knot) {
	if n := len(c.H); n > 0 {
		if !(k.h > c.H[n-1]) {
			return
		}
		k.f = math.Max(k.f, c.F[n-1])
	}
	c.H, c.F, c.Slope = append(c.H, k.h), append(c.F, k.f), append(c.Slope, math.Max(0, k.slope))
}

// refine adds knots after a, up to and with b.
func (c *MappedNormal) refine(f func(h float64) (f, slope float64), a, b knot, allowance float64, depth int) {
	mid := knotOf(f, 0.5*(a.h+b.h))
	off := cubic{a, b}.at(mid.h) - mid.f
	if depth == 0 || math.Abs(off) <= allowance {
		c.push(b)
		return
	}
	c.refine(f, a, mid, allowance, depth-1)
	c.refine(f, mid, b, allowance, depth-1)
}

// cubic is the curve between two knots: Hermite's, with slopes cut to three
// times that of the chord, which keeps it rising.
type cubic struct{ a, b knot }

func (q cubic) at(h float64) float64 {
	width := q.b.h - q.a.h
	rise := q.b.f - q.a.f
	m0, m1 := math.Min(q.a.slope*width, 3*rise), math.Min(q.b.slope*width, 3*rise)
	t := (h - q.a.h) / width
	return q.a.f + t*(m0+t*(3*rise-2*m0-m1+t*(m0+m1-2*rise)))
}

// slope is the derivative at h.
func (q cubic) slope(h float64) float64 {
	width := q.b.h - q.a.h
	rise := q.b.f - q.a.f
	m0, m1 := math.Min(q.a.slope*width, 3*rise), math.Min(q.b.slope*width, 3*rise)
	t := (h - q.a.h) / width
	return math.Max(0, (m0+t*(2*(3*rise-2*m0-m1)+3*t*(m0+m1-2*rise)))/width)
}

// cell is the cubic between knots i and i+1.
func (c MappedNormal) cell(i int) cubic {
	return cubic{knot{c.H[i], c.F[i], c.Slope[i]}, knot{c.H[i+1], c.F[i+1], c.Slope[i+1]}}
}

// standard is h in standard deviations.
func (c MappedNormal) standard(h float64) float64 { return (h - c.Mean) / c.SD }

// field is the place where f crosses x: the least h with f(h) >= x, or for
// beyond the greatest with f(h) <= x.
func (c MappedNormal) field(x float64, beyond bool) float64 {
	last := len(c.F) - 1
	// The first knot that is at x, or beyond.
	i := sort.Search(len(c.F), func(i int) bool { return c.F[i] > x || (!beyond && c.F[i] == x) })
	switch {
	case i == 0:
		return ray(c.H[0], c.F[0], c.Slope[0], x)
	case i > last:
		return ray(c.H[last], c.F[last], c.Slope[last], x)
	}
	q := c.cell(i - 1)
	lo, hi := q.a.h, q.b.h
	for range 60 {
		mid := 0.5 * (lo + hi)
		if v := q.at(mid); v > x || (!beyond && v == x) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return 0.5 * (lo + hi)
}

// ray is where the line of that slope through (h, f) crosses x.
func ray(h, f, slope, x float64) float64 {
	switch {
	case x == f:
		return h
	case slope == 0:
		return math.Inf(int(math.Copysign(1, x-f)))
	}
	return h + (x-f)/slope
}

// extrapolate is f at a field beyond all knots.
func (c MappedNormal) extrapolate(h float64) float64 {
	i := 0
	if h > c.H[0] {
		i = len(c.H) - 1
	}
	if c.Slope[i] == 0 {
		return c.F[i]
	}
	return c.F[i] + c.Slope[i]*(h-c.H[i])
}

// mass is the curve's share of P(a <= X < b).
func (c MappedNormal) mass(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	return c.Weight * cutMass(c.standard(c.field(a, false)), c.standard(c.field(b, false)))
}

// upTo is the curve's share of P(X <= x).
func (c MappedNormal) upTo(x float64) float64 {
	return c.Weight * stdCDF(c.standard(c.field(x, true)))
}

// density is the curve's share of the density at x, atoms left out.
func (c MappedNormal) density(x float64) float64 {
	h := c.field(x, false)
	i := sort.SearchFloat64s(c.H, h)
	if i == 0 || i == len(c.H) {
		return 0
	}
	slope := c.cell(i - 1).slope(h)
	if slope == 0 {
		return 0
	}
	return c.Weight * stdPDF(c.standard(h)) / (c.SD * slope)
}

// average is the curve's share of the expectation of g, by Gauss-Legendre panels
// that end at the knots and where f passes the bends of g.
func (c MappedNormal) average(g func(f float64) float64, bends []float64) float64 {
	cuts := append([]float64(nil), c.H...)
	for _, x := range bends {
		for _, beyond := range []bool{false, true} {
			if h := c.field(x, beyond); c.H[0] < h && h < c.H[len(c.H)-1] {
				cuts = append(cuts, h)
			}
		}
	}
	sort.Float64s(cuts)
	sum, i := 0.0, 0
	for j := 1; j < len(cuts); j++ {
		for c.H[i+1] < cuts[j] {
			i++
		}
		q := c.cell(i)
		sum += panels(func(z float64) float64 { return g(q.at(c.Mean+c.SD*z)) * stdPDF(z) },
			c.standard(cuts[j-1]), c.standard(cuts[j]))
	}
	return c.Weight * sum
}
