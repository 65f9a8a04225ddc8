package normal

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// points and weights of the Gauss-Legendre rule on [-1, 1], exact for polynomials of degree 13.
var points, weights = func() (x, w [7]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

// Panels integrates f over [a, b] on equal panels no wider than width.
func Panels(f func(float64) float64, a, b, width float64) float64 {
	sum, n := 0.0, math.Ceil((b-a)/width)
	half := 0.5 * (b - a) / n
	for i := range int(n) {
		mid := a + half*float64(2*i+1)
		for j, x := range points {
			sum += half * weights[j] * f(mid+half*x)
		}
	}
	return sum
}
