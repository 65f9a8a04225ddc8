// Package normal computes what the losses need of the standard normal distribution x ~ N(0, 1): its
// distribution function, relatively accurate in the tails unlike gonum's distuv, the variance of a clipped
// normal, and averages by Gauss-Legendre and trapezoidal rules.
package normal

import "math"

// PDF computes the density phi(x).
func PDF(x float64) float64 {
	return math.Exp(-0.5*x*x) * (1 / (math.Sqrt2 * math.SqrtPi))
}

// CDF computes the distribution function Phi(x) to full relative accuracy, also in the lower tail.
func CDF(x float64) float64 {
	return 0.5 * math.Erfc(-x/math.Sqrt2)
}

// LogCDF computes log Phi(x), also if Phi underflows.
func LogCDF(x float64) float64 {
	switch {
	case x > 0:
		return math.Log1p(-CDF(-x))
	case x > -tailStart:
		return math.Log(CDF(x))
	}
	q0, _, _ := tailRatios(-x)
	return -0.5*x*x - 0.5*math.Log(2*math.Pi) + math.Log(q0)
}

// Hazard computes phi(x)/Phi(x), the slope of LogCDF.
func Hazard(x float64) float64 {
	if x > -tailStart {
		return PDF(x) / CDF(x)
	}
	q0, _, _ := tailRatios(-x)
	return 1 / q0
}

// tailStart is the least x for which tailRatios converges to rounding.
const tailStart = 4

// tailRatios computes q_n = I_n(x)/I_(n-1)(x), n = 0, 1, 2, of the repeated integrals of the tail (the
// functions i^n erfc of Abramowitz and Stegun 7.2): I_-1 = phi, I_n(x) = integral of I_(n-1) from x to
// infinity, for x >= tailStart. q_0 is Mills' ratio. By the recurrence (n+1) I_(n+1) + x I_n = I_(n-1) the
// ratios are the continued fraction q_n = 1/(x + (n+1) q_(n+1)), whose terms are positive. It starts from the
// fixed point of its step, at a depth, larger for smaller x, at which the error is below rounding. With q_n =
// a/b the step needs no division.
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

// Prob computes P(a < x < b) = Phi(b) - Phi(a), or 0 if b <= a, without cancellation.
func Prob(a, b float64) float64 {
	from, to := TailAt(a), TailAt(b)
	return ProbBetween(&from, &to)
}
