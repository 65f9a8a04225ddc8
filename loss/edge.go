package loss

import "math"

// edge is a point z of the standard normal x, with the integrals over the
// nearer tail, x beyond |z|: tail = P, first = E(x-|z|)+, second = E(x-|z|)+^2.
// Their relative errors grow to 4e-16, 1e-14 and 5e-13 at |z| = tailStart, from
// where on continued fractions keep them near rounding.
type edge struct {
	z, tail, first, second float64
}

// origin is the edge at 0.
var origin = edge{0, 0.5, 1 / (math.Sqrt2 * math.SqrtPi), 0.5}

// edgeEnd is where the density underflows.
const edgeEnd = 39

// edgeAt is the edge at z, infinite values allowed.
func edgeAt(z float64) edge {
	x := math.Abs(z)
	if x > edgeEnd {
		return edge{z: z}
	}
	pdf := stdPDF(x)
	if x < tailStart {
		tail := stdCDF(-x)
		return edge{z, tail, pdf - x*tail, (1+x*x)*tail - x*pdf}
	}
	q0, q1, q2 := tailRatios(x)
	tail := pdf * q0
	first := tail * q1
	return edge{z, tail, first, 2 * first * q2}
}

// flip is the edge at -z.
func (e edge) flip() edge {
	e.z = -e.z
	return e
}

// below is E(z-x)+, the integral of Phi up to z.
func (e edge) below() float64 {
	if e.z > 0 {
		return e.z + e.first
	}
	return e.first
}

// narrow says whether differences between a < b would cancel.
func narrow(a, b edge, limit float64) bool {
	return (b.z-a.z)*(1+0.5*math.Abs(a.z+b.z)) < limit
}

// mass is Phi(b) - Phi(a), 0 where b <= a.
func mass(a, b edge) float64 {
	switch {
	case !(a.z < b.z):
		return 0
	case narrow(a, b, 0.1):
		return cutMass(a.z, b.z)
	case b.z <= 0:
		return b.tail - a.tail
	case a.z >= 0:
		return a.tail - b.tail
	}
	return 1 - a.tail - b.tail
}

// area is the integral of Phi over [a, b], a <= b, where a may be -Inf; the
// integral of 1-Phi is area(b.flip(), a.flip()).
func area(a, b edge) float64 {
	switch {
	case a.z == b.z:
		return 0
	case narrow(a, b, 0.01):
		return (b.z - a.z) * fivePoint(stdCDF, a.z, b.z)
	}
	return b.below() - a.below()
}

// spread is the variance of x clipped to [a, b], for a < b, either of which may
// be infinite.
func spread(a, b edge) float64 {
	switch {
	case math.IsInf(a.z, -1) && math.IsInf(b.z, 1):
		return 1
	case math.IsInf(a.z, -1):
		return b.spreadBelow()
	case math.IsInf(b.z, 1):
		return a.flip().spreadBelow()
	case a.z < 0 && b.z > 0:
		return spread(a, origin) + spread(origin, b) + 2*area(a, origin)*area(b.flip(), origin)
	case b.z > 0:
		a, b = b.flip(), a.flip()
	}
	// b - clipped x has these first and second moments; b <= 0.
	var first, second float64
	width := b.z - a.z
	if narrow(a, b, 0.5) {
		first = width * fivePoint(stdCDF, a.z, b.z)
		second = 2 * width * fivePoint(func(x float64) float64 { return (b.z - x) * stdCDF(x) }, a.z, b.z)
	} else {
		first = b.first - a.first
		second = b.second - a.second - 2*width*a.first
	}
	return second - first*first
}

// spreadBelow is the variance of min(x, z).
func (e edge) spreadBelow() float64 {
	lesser := e.second - e.first*e.first // of max(x, |z|), or of min(x, -|z|)
	if e.z <= 0 {
		return lesser
	}
	if e.first == 0 {
		return 1
	}
	return 1 - lesser - 2*e.below()*e.first
}
