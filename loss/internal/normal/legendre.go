package normal

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// rule is a Gauss-Legendre rule on [-1, 1].
type rule struct{ x, w []float64 }

// The rules in use: exact for polynomials of degree 9 and 13.
var five, seven = legendre(5), legendre(7)

func legendre(n int) rule {
	r := rule{make([]float64, n), make([]float64, n)}
	quad.Legendre{}.FixedLocations(r.x, r.w, -1, 1)
	return r
}

// integrate computes the integral of f over [a, b].
func (r rule) integrate(f func(float64) float64, a, b float64) float64 {
	mid, half, sum := 0.5*(a+b), 0.5*(b-a), 0.0
	for i, x := range r.x {
		sum += r.w[i] * f(mid+half*x)
	}
	return half * sum
}

// Panels integrates f over [a, b] by seven points on equal panels no wider than width.
func Panels(f func(float64) float64, a, b, width float64) float64 {
	sum, n := 0.0, math.Ceil((b-a)/width)
	for i := range int(n) {
		sum += seven.integrate(f, a+(b-a)*float64(i)/n, a+(b-a)*float64(i+1)/n)
	}
	return sum
}
