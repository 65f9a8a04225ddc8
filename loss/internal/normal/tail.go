package normal

import (
	"math"

	"bootbench/loss/internal/quadrature"
)

// Tail is a point z with the integrals over the nearer tail, x beyond |z|:
// P = P(x > |z|), First = E(x-|z|)+ and Second = E(x-|z|)+^2, which costs one erfc
// and one exp for all of them. Their relative errors grow to 4e-16, 1e-14 and
// 5e-13 at |z| = TailStart; beyond, continued fractions keep them near rounding.
type Tail struct {
	Z, P, First, Second float64
}

// Origin is the tail at 0.
var Origin = Tail{0, 0.5, 1 / (math.Sqrt2 * math.SqrtPi), 0.5}

// underflow is where the density is 0 to all that is printed.
const underflow = 39

// TailAt computes the tail at z, infinite values allowed.
func TailAt(z float64) Tail {
	x := math.Abs(z)
	if x > underflow {
		return Tail{Z: z}
	}
	pdf := PDF(x)
	if x < TailStart {
		p := CDF(-x)
		return Tail{z, p, pdf - x*p, (1+x*x)*p - x*pdf}
	}
	q0, q1, q2 := TailRatios(x)
	p := pdf * q0
	first := p * q1
	return Tail{z, p, first, 2 * first * q2}
}

// Mirror is the tail at -z.
func (t Tail) Mirror() Tail {
	t.Z = -t.Z
	return t
}

// lossIntegral is E(z-x)+, the integral of Phi up to z.
func (t Tail) lossIntegral() float64 {
	if t.Z > 0 {
		return t.Z + t.First
	}
	return t.First
}

// narrow says whether differences between the integrals at a < b would cancel.
func narrow(a, b Tail, limit float64) bool {
	return (b.Z-a.Z)*(1+0.5*math.Abs(a.Z+b.Z)) < limit
}

// ProbBetween computes P(a < x < b), 0 where b <= a.
func ProbBetween(a, b Tail) float64 {
	switch {
	case !(a.Z < b.Z):
		return 0
	case narrow(a, b, 0.1):
		return Prob(a.Z, b.Z)
	case b.Z <= 0:
		return b.P - a.P
	case a.Z >= 0:
		return a.P - b.P
	}
	return 1 - a.P - b.P
}

// CDFIntegral computes the integral of Phi over [a, b], a <= b, where a may be
// -Inf. The integral of 1-Phi is CDFIntegral(b.Mirror(), a.Mirror()).
func CDFIntegral(a, b Tail) float64 {
	switch {
	case a.Z == b.Z:
		return 0
	case narrow(a, b, 0.01):
		return (b.Z - a.Z) * quadrature.Legendre5.Mean(CDF, a.Z, b.Z)
	}
	return b.lossIntegral() - a.lossIntegral()
}

// ClippedVar computes the variance of min(max(x, a), b) for a < b, either of which
// may be infinite.
func ClippedVar(a, b Tail) float64 {
	switch {
	case math.IsInf(a.Z, -1) && math.IsInf(b.Z, 1):
		return 1
	case math.IsInf(a.Z, -1):
		return b.clippedVarBelow()
	case math.IsInf(b.Z, 1):
		return a.Mirror().clippedVarBelow()
	case a.Z < 0 && b.Z > 0:
		return ClippedVar(a, Origin) + ClippedVar(Origin, b) + 2*CDFIntegral(a, Origin)*CDFIntegral(b.Mirror(), Origin)
	case b.Z > 0:
		a, b = b.Mirror(), a.Mirror()
	}
	// b less the clipped x has these first and second moments; b <= 0.
	var first, second float64
	width := b.Z - a.Z
	if narrow(a, b, 0.5) {
		first = width * quadrature.Legendre5.Mean(CDF, a.Z, b.Z)
		second = 2 * width * quadrature.Legendre5.Mean(func(x float64) float64 { return (b.Z - x) * CDF(x) }, a.Z, b.Z)
	} else {
		first = b.First - a.First
		second = b.Second - a.Second - 2*width*a.First
	}
	return second - first*first
}

// clippedVarBelow is the variance of min(x, z).
func (t Tail) clippedVarBelow() float64 {
	lesser := t.Second - t.First*t.First // of max(x, |z|), or of min(x, -|z|)
	if t.Z <= 0 {
		return lesser
	}
	if t.First == 0 {
		return 1
	}
	return 1 - lesser - 2*t.lossIntegral()*t.First
}
