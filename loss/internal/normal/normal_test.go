package normal

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// integral is the integral of f over [a, b] by 30-point Gauss-Legendre panels
// no longer than step: exact to rounding for Gaussians of unit width or more in
// steps of 1.
func integral(f func(float64) float64, a, b, step float64) float64 {
	if !(b > a) {
		return 0
	}
	panels := math.Ceil((b - a) / step)
	sum := 0.0
	for i := 0.0; i < panels; i++ {
		sum += quad.Fixed(f, a+(b-a)*i/panels, a+(b-a)*(i+1)/panels, 30, quad.Legendre{}, 0)
	}
	return sum
}

// gauss is the density, written out again for the tests.
func gauss(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// relative fails unless got agrees with want to tol, relative to want.
func relative(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %.17g, want %.17g (tolerance %g relative)", what, got, want, tol)
	}
}

// TestNormalFunctions holds Phi and log Phi to quadrature.
// Down in the tail Phi(x) = phi(x) times the integral of exp(x t - t^2/2) over
// t > 0. Tolerance: phi itself carries x^2 roundings.
func TestNormalFunctions(t *testing.T) {
	for _, x := range []float64{-60, -37, -30, -12, -5, -4.01, -4, -3.99, -1, -0.1, 0} {
		mills := integral(func(u float64) float64 { return math.Exp(x*u - u*u/2) }, 0, 12/(1-x/10),
			0.2/(1-x/10))
		want := -x*x/2 - math.Log(2*math.Pi)/2 + math.Log(mills)
		relative(t, "log Phi", LogCDF(x), want, 1e-13)
		if x > -37 {
			relative(t, "Phi", CDF(x), gauss(x)*mills, 1e-12)
		}
		if x < 0 {
			relative(t, "Phi(-x)", CDF(-x), 1-CDF(x), 1e-15)
			if x > -30 {
				relative(t, "log Phi(-x)", LogCDF(-x), math.Log1p(-gauss(x)*mills), 1e-12)
			}
		}
	}
	relative(t, "phi", PDF(1.25), gauss(1.25), 1e-15)
}

// TestTailRatios builds I_0, I_1, I_2 by quadrature from the last, of
// I_n(x) = phi(x) times the integral of t^n/n! exp(-x t - t^2/2) over t > 0. Tails by the table
// lose the rounding of the density's exponent besides.
func TestTailRatios(t *testing.T) {
	ratios := func(x float64) (moment [3]float64) {
		for n := range moment {
			moment[n] = integral(func(u float64) float64 {
				return math.Pow(u, float64(n)) * math.Exp(-x*u-u*u/2)
			}, 0, math.Min(60/x, 13), math.Min(1/x, 1))
		}
		return moment
	}
	for _, x := range []float64{0, 1. / 32, 0.3, 1.4999, 1.51, 4, 8.99} {
		tail, moment := TailAt(-x), ratios(x)
		for n, got := range []float64{tail.P, tail.First, tail.Second} {
			relative(t, fmt.Sprintf("tail %d at %g", n, x), got, gauss(x)*moment[n], 1e-14+2e-16*x*x)
		}
		relative(t, "density", tail.Density, gauss(x), 1e-15*(1+x*x))
	}
	if p := Prob(2, 1); p != 0 {
		t.Errorf("mass of an empty interval %g", p)
	}
	if nan := TailAt(math.NaN()); !math.IsNaN(nan.P) {
		t.Errorf("tail of no number: %+v", nan)
	}
	for _, x := range []float64{4, 4.5, 6, 10, 25, 300, 1e9, 1e90} {
		moment := ratios(x)
		q0, q1, q2 := tailRatios(x)
		relative(t, "q0", q0, moment[0], 1e-14)
		relative(t, "q1", q1, moment[1]/moment[0], 1e-14)
		relative(t, "q2", q2, moment[2]/moment[1]/2, 1e-14)
	}
}

// TestTails holds the variance of a clipped normal to quadrature, from narrow
// intervals to wide, in the middle and in the tail. In the tail both lose the
// rounding of z^2/2 in the exponent, 1e-14 at z = 12.
func TestTails(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][2]float64{
		{-inf, inf}, {-inf, -7}, {-inf, -1}, {-inf, 0}, {-inf, 2}, {-inf, 9}, {3, inf}, {-3, inf}, {-1, 2},
		{-1e-4, 1e-4},
		{-1e-3, 0.5}, {1, 1.001}, {-5, -4.9}, {-5, -4.91}, {-9, -6}, {4, 7}, {0.2, 0.7}, {-12, -11.99},
		{-8, 12},
		{3, 3.02}, {-0.02, 0.03},
	} {
		lo, hi := math.Max(c[0], -13), math.Min(c[1], 13)
		ref := lo // the nearer end, so that nothing cancels in the tail
		if math.Abs(hi) < math.Abs(lo) {
			ref = hi
		}
		moment := func(n float64) float64 {
			f := func(x float64) float64 {
				return math.Pow(math.Min(hi, math.Max(lo, x))-ref, n) * gauss(x)
			}
			reach := math.Max(13, math.Max(math.Abs(lo), math.Abs(hi))+3)
			return integral(f, -reach, lo, 0.5) + integral(f, lo, hi, 0.5) + integral(f, hi, reach, 0.5)
		}
		first := moment(1)
		a, b := TailAt(c[0]), TailAt(c[1])
		relative(t, fmt.Sprint("spread on ", c), ClippedVar(&a, &b), moment(2)-first*first, 1e-12)
		relative(t, fmt.Sprint("mass on ", c), ProbBetween(&a, &b), integral(gauss, lo, hi, 0.5), 1e-13)
		if !math.IsInf(c[1], 1) {
			phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
			relative(t, fmt.Sprint("area on ", c), CDFIntegral(&a, &b), integral(phi, lo, hi, 0.5), 1e-12)
		}
	}
}
