package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// gramPlain is Gram by the formulas, pair by pair: what the fast path must agree
// with.
func gramPlain(s Spec, x blas64.General) *linalg.Sym {
	k := linalg.ZeroSym(x.Rows)
	for i := 0; i < x.Rows; i++ {
		for j := i; j < x.Rows; j++ {
			k.Set(i, j, plain(s, row(x, i), row(x, j)))
		}
	}
	k.AddDiag(s.Jitter)
	return k
}

// plain is A k(x, z) + B by the formula of the kind.
func plain(s Spec, x, z []float64) float64 {
	s = s.WithDefaults(len(x))
	product, r2 := 0.0, 0.0
	for j := range x {
		product += x[j] * z[j]
		t := (x[j] - z[j]) / plainScale(s, j, len(x))
		r2 += t * t
	}
	var k float64
	r := math.Sqrt(r2)
	switch s.Kind {
	case RBF:
		k = math.Exp(-r2 / 2)
	case Matern12:
		k = math.Exp(-r)
	case Matern32:
		k = (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	case Matern52:
		k = (1 + math.Sqrt(5)*r + 5*r2/3) * math.Exp(-math.Sqrt(5)*r)
	case RationalQuadratic:
		k = math.Pow(1+r2/2, -1)
	case Linear:
		k = product
	case Poly:
		k = math.Pow(s.Gamma*product+s.Coef0, float64(s.Degree))
	}
	return s.Amplitude*k + s.Constant
}

// plainScale is the length scale of feature j out of d.
func plainScale(s Spec, j, d int) float64 {
	switch {
	case len(s.LengthScale) == 1:
		return s.LengthScale[0]
	case len(s.LengthScale) > 1:
		return s.LengthScale[j]
	case s.Gamma > 0:
		return 1 / math.Sqrt(2*s.Gamma)
	}
	return math.Sqrt(float64(d))
}
