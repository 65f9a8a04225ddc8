// Package kernel computes covariances of inputs: Gram matrices over training inputs, and kernel vectors
// between them and new inputs.
//
// A covariance is A k(x, x') + B, where k is one of the kinds below, A the
// amplitude and B the constant. With r^2 = sum_j ((x_j - x'_j) / L_j)^2:
//
//	rbf         exp(-r^2 / 2), which is exp(-gamma |x - x'|^2) for gamma = 1 / (2 L^2)
//	matern12    exp(-r)
//	matern32    (1 + sqrt(3) r) exp(-sqrt(3) r)
//	matern52    (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)
//	rq          1 / (1 + r^2 / 2), the rational quadratic of exponent 1
//	linear      x . x'
//	poly        (gamma x . x' + coef0)^degree
//	precomputed the caller brings the matrix
//
// The jitter J is only added to the diagonal of a Gram matrix over training examples.
//
// Inputs are dense or sparse, one example a row. Error messages count rows and columns from 1.
package kernel

import "math"

// at is k and its derivative as functions of v: the squared distance r^2, or the inner product. An infinite
// derivative, at distance 0, is replaced by 0, the value of its product with v. s has its defaults, here and
// below.
func (s *Spec) at(v float64) (value, slope float64) {
	switch s.Kind {
	case RBF:
		value = math.Exp(-v / 2)
		return value, -value / 2
	case Matern12:
		r := math.Sqrt(v)
		if value = math.Exp(-r); r == 0 {
			return value, 0
		}
		return value, -value / (2 * r)
	case Matern32:
		t := math.Sqrt(3) * math.Sqrt(v)
		e := math.Exp(-t)
		return (1 + t) * e, -1.5 * e
	case Matern52:
		t := math.Sqrt(5) * math.Sqrt(v)
		if t > 1000 { // e is zero, and t^2 must not overflow first
			return 0, 0
		}
		e := math.Exp(-t)
		return (1 + t + t*t/3) * e, -5.0 / 6 * (1 + t) * e
	case RationalQuadratic:
		value = 1 / (1 + v/2)
		return value, -value * value / 2
	case Poly:
		base := s.Gamma*v + s.Coef0
		lower := power(base, s.Degree-1)
		return base * lower, s.Gamma * float64(s.Degree) * lower
	}
	return v, 1
}

// power is v^n for n >= 0 by repeated squaring.
func power(v float64, n int) float64 {
	result := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= v
		}
		if n > 1 {
			v *= v
		}
	}
	return result
}

// covariances maps squared distances or inner products to A k + B, in place, and returns the index of the
// first value that is not finite, or -1.
func (s *Spec) covariances(v []float64) int {
	bad := -1
	for j, of := range v {
		k, _ := s.at(of)
		k = s.Amplitude*k + s.Constant
		v[j] = k
		if k-k != 0 && bad < 0 {
			bad = j
		}
	}
	return bad
}
