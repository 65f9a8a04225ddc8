// Package kernel turns inputs into covariances: Gram matrices over training
// inputs, and kernel vectors between them and new inputs.
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
// The jitter J belongs to the diagonal of a Gram matrix over training examples and to nothing else.
//
// Inputs are row-major, one example a row. Error messages count rows and columns from 1.
package kernel

import "math"

// tile is the number of entries that pass through all stages of the map
// together: 4 KiB, which stay in the first cache.
const tile = 512

// cancelled bounds the share of |x|^2 + |x'|^2 below which a squared distance
// is taken from the raw rows. Above it rounding in the fast form, a few units in
// the last place of the norms, is a few 1e-14 of the squared distance.
const cancelled = 1.0 / 64

// pairs says which points the inner products in a row belong to: one point x
// with each of a list of points x'. Kinds without a distance leave it zero.
type pairs struct {
	norm   float64                 // |x|^2, scaled
	norms  []float64               // |x'|^2, scaled
	direct func(other int) float64 // |x - x'|^2, scaled, from the raw rows
}

// covariances turns the inner products k of scaled points into covariances, in place. It returns the
// first place in k where the result is not finite, or -1. The defaults of s are written out, here and below.
func (s Spec) covariances(k []float64, p pairs) int {
	for lo := 0; lo < len(k); lo += tile {
		part := k[lo:min(lo+tile, len(k))]
		if s.Kind.radial() {
			p.squaredDistances(part, lo)
		}
		s.profile(part)
		if j := s.affine(part); j >= 0 {
			return lo + j
		}
	}
	return -1
}

// squaredDistances turns the products with the points from..from+len-1 of the list into squared distances, |x
// - x'|^2 = |x|^2 + |x'|^2 - 2 x . x', in place. Where that cancels or overflows, the difference of the raw
// rows is summed instead; what still overflows becomes NaN.
func (p *pairs) squaredDistances(products []float64, from int) {
	others := p.norms[from : from+len(products)]
	for j, product := range products {
		sum := p.norm + others[j]
		r2 := sum - 2*product
		if !(r2 > cancelled*sum && r2 <= math.MaxFloat64) {
			r2 = p.direct(from + j)
		}
		products[j] = r2
	}
}

// profile applies k, as a function of the squared distance or of the inner product, to every element.
func (s Spec) profile(v []float64) {
	switch s.Kind {
	case RBF:
		for j, r2 := range v {
			v[j] = math.Exp(-r2 / 2)
		}
	case Matern12:
		for j, r2 := range v {
			v[j] = math.Exp(-math.Sqrt(r2))
		}
	case Matern32:
		for j, r2 := range v {
			v[j] = matern32(r2)
		}
	case Matern52:
		for j, r2 := range v {
			v[j] = matern52(r2)
		}
	case RationalQuadratic:
		for j, r2 := range v {
			v[j] = 1 / (1 + r2/2)
		}
	case Poly:
		for j, product := range v {
			v[j] = power(s.Gamma*product+s.Coef0, s.Degree)
		}
	}
}

// matern32 is (1 + t) exp(-t), t = sqrt(3) r.
func matern32(r2 float64) float64 {
	t := math.Sqrt(3) * math.Sqrt(r2)
	return (1 + t) * math.Exp(-t)
}

// matern52 is (1 + t + t^2/3) exp(-t), t = sqrt(5) r. Beyond t = 1000 the
// exponential is zero, and t^2 must not overflow first.
func matern52(r2 float64) float64 {
	t := math.Sqrt(5) * math.Sqrt(r2)
	if t > 1000 {
		return 0
	}
	return (1 + t + t*t/3) * math.Exp(-t)
}

// power is v^n for n >= 1 by repeated squaring.
func power(v float64, n int) float64 {
	result := 1.0
	for {
		if n&1 == 1 {
			result *= v
		}
		if n >>= 1; n == 0 {
			return result
		}
		v *= v
	}
}

// affine replaces every element v by A v + B and returns the first place where that is not finite, or -1.
func (s Spec) affine(v []float64) int {
	a, b := s.Amplitude, s.Constant
	bad := -1
	for j, k := range v {
		k = a*k + b
		v[j] = k
		if k-k != 0 && bad < 0 {
			bad = j
		}
	}
	return bad
}
