package loss

import "math"

// stdPDF is the standard normal density phi(x).
func stdPDF(x float64) float64 {
	return math.Exp(-0.5*x*x) / (math.Sqrt2 * math.SqrtPi)
}

// stdCDF is the standard normal distribution function Phi(x), with its relative
// accuracy kept in the lower tail.
func stdCDF(x float64) float64 {
	return 0.5 * math.Erfc(-x/math.Sqrt2)
}

// logStdCDF is log Phi(x), also where Phi itself underflows.
func logStdCDF(x float64) float64 {
	switch {
	case x > 0:
		return math.Log1p(-stdCDF(-x))
	case x > -tailStart:
		return math.Log(stdCDF(x))
	}
	q0, _, _ := tailRatios(-x)
	return -0.5*x*x - 0.5*math.Log(2*math.Pi) + math.Log(q0)
}

// tailStart is where tailRatios has converged to rounding.
const tailStart = 4

// tailRatios are I_n(x)/I_(n-1)(x), n = 0, 1, 2, of the repeated tail integrals
// I_-1 = phi, I_n(x) = integral of I_(n-1) from x to infinity, for x >=
// tailStart. From (n+1) I_(n+1) + x I_n = I_(n-1) the ratios are the continued
// fraction q_n = 1/(x + (n+1) q_(n+1)), of positive terms only. It is entered,
// with the fixed point of its own step, where rounding hides the error: the
// deeper, the smaller x. With q_n = a/b the step needs no division.
func tailRatios(x float64) (q0, q1, q2 float64) {
	if x > 1e8 { // where b below might overflow, and 1 + 3/x^2 is 1
		return 1 / x, 1 / x, 1 / x
	}
	deep := math.Ceil(10 + 480/(x*x))
	a, b := 2.0, x+math.Sqrt(x*x+4*deep)
	for n := deep; n > 3; n-- {
		a, b = b, x*b+n*a
	}
	c := x*b + 3*a
	d := x*c + 2*b
	return d / (x*d + c), c / d, b / c
}

// cutMass is Phi(b) - Phi(a), or 0 where b <= a, without cancellation: from the
// nearer tail, from the sum of two erf, or for a short interval from the Taylor
// series of phi at its middle.
func cutMass(a, b float64) float64 {
	if b <= a {
		return 0
	}
	h, mid := b-a, 0.5*(a+b)
	switch {
	case h*(1+math.Abs(mid)) < 0.1:
		m2, h2 := mid*mid, h*h
		return stdPDF(mid) * h * (1 + h2/24*(m2-1) + h2*h2/1920*((m2-6)*m2+3) +
			h2*h2*h2/322560*(((m2-15)*m2+45)*m2-15))
	case a > 0:
		return stdCDF(-a) - stdCDF(-b)
	case b < 0:
		return stdCDF(b) - stdCDF(a)
	}
	return 0.5 * (math.Erf(b/math.Sqrt2) - math.Erf(a/math.Sqrt2))
}

// cutMoments are the integrals of phi, x phi and x^2 phi over [a, b], infinite
// ends allowed; all 0 where b <= a.
func cutMoments(a, b float64) (m0, m1, m2 float64) {
	if b <= a {
		return 0, 0, 0
	}
	m0 = cutMass(a, b)
	m2 = m0 + timesPDF(a) - timesPDF(b)
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
	case math.Abs(a) <= math.Abs(b): // phi(a) - phi(b), from its larger term
		m1 = -stdPDF(a) * math.Expm1(-0.5*(b-a)*(b+a))
	default:
		m1 = stdPDF(b) * math.Expm1(0.5*(b-a)*(b+a))
	}
	return m0, m1, m2
}

// timesPDF is x phi(x), 0 at infinity.
func timesPDF(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x * stdPDF(x)
}

// fivePoint is the mean of f over [a, b] by the five-point Gauss-Legendre rule.
func fivePoint(f func(float64) float64, a, b float64) float64 {
	const (
		x1, w1 = 0.5384693101056831, 0.4786286704993665
		x2, w2 = 0.9061798459386640, 0.2369268850561891
		w0     = 128.0 / 225
	)
	mid, half := 0.5*(a+b), 0.5*(b-a)
	pair := func(x float64) float64 { return f(mid-half*x) + f(mid+half*x) }
	return 0.5 * (w0*f(mid) + w1*pair(x1) + w2*pair(x2))
}
