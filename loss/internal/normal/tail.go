package normal

import "math"

// Tail is a point z with the integrals over the nearer tail, x beyond |z|: P = P(x > |z|), First = E(x-|z|)+
// and Second = E(x-|z|)+^2. Their relative errors are a few roundings.
type Tail struct {
	Z, P, First, Second float64
	Density             float64 // at z
}

// origin is the tail at 0.
var origin = Tail{0, 0.5, 1 / (math.Sqrt2 * math.SqrtPi), 0.5, 1 / (math.Sqrt2 * math.SqrtPi)}

// underflow is the |z| beyond which the density is negligible.
const underflow = 39

// The repeated integrals of the tail (see tailRatios) obey I_n' = -I_(n-1) and
//
//	I_(n-1) = (n+1) I_(n+1) + x I_n,   I_-1 = phi,
//
// so that I_2 and its slope give I_0 and phi too, by sums of positive terms. The table has the Taylor series
// of I_2 around the middle of each cell; the relative truncation error of it and its slope is below 1e-16.
const (
	cellsPerUnit = 32
	cellTerms    = 12
	tableEnd     = 9
	directEnd    = 1.5 // up to which the integrals are computed directly
)

var tailTable = newTailTable()

func newTailTable() *[tableEnd * cellsPerUnit][cellTerms]float64 {
	table := new([tableEnd * cellsPerUnit][cellTerms]float64)
	for cell := range table {
		a := &table[cell]
		x := (float64(cell) + 0.5) / cellsPerUnit
		t := computeTail(x, x)
		a[0], a[1], a[2] = t.Second/2, -t.First, t.P/2
		before, at := 0.0, t.Density // Taylor coefficients j-1 and j of phi
		for j := range cellTerms - 3 {
			a[j+3] = -at / float64((j+1)*(j+2)*(j+3))
			before, at = at, -(x*at+before)/float64(j+1)
		}
	}
	return table
}

// TailAt computes the tail at z, infinite values allowed; NaN gives NaN.
func TailAt(z float64) Tail {
	x := math.Abs(z)
	if !(x < tableEnd) {
		return computeTail(z, x)
	}
	p, first, second := tabulated(x)
	return Tail{z, p, first, second, first + x*p}
}

// tabulated are the integrals of the tail at 0 <= x < tableEnd; the density is first + x p.
func tabulated(x float64) (p, first, second float64) {
	cell := int(x * cellsPerUnit)
	a := &tailTable[cell]
	e := x - (float64(cell)+0.5)/cellsPerUnit
	even, odd := a[cellTerms-2], a[cellTerms-1] // in e^2, with their slopes: four short chains
	evenSlope, oddSlope, square := 0.0, 0.0, e*e
	for m := cellTerms - 4; m >= 0; m -= 2 {
		evenSlope, oddSlope = evenSlope*square+even, oddSlope*square+odd
		even, odd = even*square+a[m], odd*square+a[m+1]
	}
	half := even + e*odd
	first = -odd - 2*e*(evenSlope+e*oddSlope)
	return 2*half + x*first, first, 2 * half
}

// computeTail is the tail at z = +-x without the table.
func computeTail(z, x float64) Tail {
	if x > underflow {
		return Tail{Z: z}
	}
	pdf := PDF(x)
	if x < directEnd {
		p := CDF(-x)
		return Tail{z, p, pdf - x*p, (1+x*x)*p - x*pdf, pdf}
	}
	q0, q1, q2 := tailRatios(x)
	p := pdf * q0
	first := p * q1
	return Tail{z, p, first, 2 * first * q2, pdf}
}

// mirror is the tail at -z.
func (t Tail) mirror() Tail {
	t.Z = -t.Z
	return t
}

// Below is P(x < z).
func (t *Tail) Below() float64 {
	if t.Z > 0 {
		return 1 - t.P
	}
	return t.P
}

// Above is P(x > z).
func (t *Tail) Above() float64 {
	if t.Z < 0 {
		return 1 - t.P
	}
	return t.P
}

// Shortfall is E(z-x)+, the integral of Phi up to z.
func (t *Tail) Shortfall() float64 {
	if t.Z > 0 {
		return t.Z + t.First
	}
	return t.First
}

// SquaredShortfall is E((z-x)+)^2.
func (t *Tail) SquaredShortfall() float64 {
	if t.Z > 0 {
		return 1 + t.Z*t.Z - t.Second
	}
	return t.Second
}

// Excess is E(x-z)+, the integral of 1-Phi from z on.
func (t *Tail) Excess() float64 {
	if t.Z < 0 {
		return t.First - t.Z
	}
	return t.First
}

// narrow reports whether differences between the integrals at a < b would cancel.
func narrow(a, b *Tail, limit float64) bool {
	return (b.Z-a.Z)*(1+0.5*math.Abs(a.Z+b.Z)) < limit
}

// ProbBetween computes P(a < x < b), 0 if b <= a: from the nearer tail, or for a short interval from the
// Taylor series of phi at its middle.
func ProbBetween(a, b *Tail) float64 {
	switch {
	case !(a.Z < b.Z):
		return 0
	case narrow(a, b, 0.1):
		h, mid := b.Z-a.Z, 0.5*(a.Z+b.Z)
		m2, h2 := mid*mid, h*h
		return PDF(mid) * h * (1 + h2/24*(m2-1) + h2*h2/1920*((m2-6)*m2+3) +
			h2*h2*h2/322560*(((m2-15)*m2+45)*m2-15))
	case b.Z <= 0:
		return b.P - a.P
	case a.Z >= 0:
		return a.P - b.P
	}
	return 1 - a.P - b.P
}

// CDFIntegral computes the integral of Phi over [a, b], -Inf <= a <= b.
func CDFIntegral(a, b *Tail) float64 {
	switch {
	case a.Z == b.Z:
		return 0
	case narrow(a, b, 0.01):
		return five.integrate(CDF, a.Z, b.Z)
	}
	return b.Shortfall() - a.Shortfall()
}

// UpperIntegral computes the integral of 1-Phi over [a, b], a <= b <= Inf.
func UpperIntegral(a, b *Tail) float64 {
	from, to := b.mirror(), a.mirror()
	return CDFIntegral(&from, &to)
}

// ClippedVar computes the variance of min(max(x, a), b) for -Inf <= a < b <= Inf.
func ClippedVar(a, b *Tail) float64 {
	switch {
	case math.IsInf(a.Z, -1) && math.IsInf(b.Z, 1):
		return 1
	case math.IsInf(a.Z, -1):
		return b.VarBelow()
	case math.IsInf(b.Z, 1):
		return a.VarAbove()
	case a.Z < 0 && b.Z > 0:
		return ClippedVar(a, &origin) + ClippedVar(&origin, b) +
			2*CDFIntegral(a, &origin)*UpperIntegral(&origin, b)
	case b.Z > 0: // mirrored
		from, to := b.mirror(), a.mirror()
		a, b = &from, &to
	}
	// First and second moments of b minus the clipped x; b <= 0.
	var first, second float64
	width := b.Z - a.Z
	if narrow(a, b, 0.5) {
		first = five.integrate(CDF, a.Z, b.Z)
		second = 2 * five.integrate(func(x float64) float64 { return (b.Z - x) * CDF(x) }, a.Z, b.Z)
	} else {
		first = b.First - a.First
		second = b.Second - a.Second - 2*width*a.First
	}
	return second - first*first
}

// VarBelow is the variance of min(x, z), and VarAbove of max(x, z).
func (t *Tail) VarBelow() float64 { return t.varWithin(t.Z) }
func (t *Tail) VarAbove() float64 { return t.varWithin(-t.Z) }

// varWithin is the variance of min(x, z), z = t.Z or -t.Z.
func (t *Tail) varWithin(z float64) float64 {
	lesser := t.Second - t.First*t.First // of max(x, |z|), or of min(x, -|z|)
	if z <= 0 {
		return lesser
	}
	if t.First == 0 {
		return 1
	}
	return 1 - lesser - 2*(z+t.First)*t.First
}
