package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// Gradient holds the derivatives of a function of the Gram matrix by the logarithms of the
// hyperparameters of its covariance function.
type Gradient struct {
	Gamma       float64   // of kinds that have a length scale for all features, and of Poly
	LengthScale []float64 // of the length scale of each feature; nil but for kinds that depend on distance
	Amplitude   float64
	Constant    float64
	Jitter      float64
}

// Gradient takes the derivatives of a function by the elements of Gram, weights (M x M,
// symmetric, its derivative is sum_ij weights_ij dK_ij), to those by the
// hyperparameters. With Omega_ij = weights_ij A k'(r^2_ij) and z the scaled inputs,
//
//	dE/dlog L_k = -2 sum_ij Omega_ij (z_ik - z_jk)^2 = 4 sum_i z_ik ((Omega z)_ik - z_ik (Omega 1)_i):
//
// one product with all features serves all length scales. It costs 4 M^2 d flops and 8 M^2
// bytes.
func (in *Inputs) Gradient(weights blas64.General) (*Gradient, error) {
	if weights.Rows != in.m || weights.Cols != in.m {
		return nil, fmt.Errorf("derivatives by a %d x %d matrix, for one of order %d", weights.Rows, weights.Cols, in.m)
	}
	m, s := in.m, in.spec
	omega := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, in.train.scaled, in.train.scaled, 0, omega)
	byGamma, byAmplitude, byConstant, byJitter := make([]float64, m), make([]float64, m), make([]float64, m), make([]float64, m)
	linalg.Parallel(m, func(i int) {
		k, w := row(omega, i), row(weights, i)
		if s.Kind.radial() {
			p := in.pairsWith(&in.train, i, 0)
			p.squaredDistances(k, 0)
		}
		byConstant[i], byJitter[i] = floats.Sum(w), w[i]
		for j, r := range k {
			value, slope := s.derivative(r, in.d)
			byAmplitude[i] += w[j] * value
			k[j] = w[j] * slope * s.amplitude()
			byGamma[i] += k[j] * r
		}
	})
	g := &Gradient{
		Gamma:     floats.Sum(byGamma), // r^2 is as gamma, and so is gamma x . x'
		Amplitude: floats.Sum(byAmplitude) * s.amplitude(), Constant: floats.Sum(byConstant) * s.Constant, Jitter: floats.Sum(byJitter) * s.Jitter,
	}
	if s.Kind.radial() {
		g.LengthScale = in.byLengthScale(omega)
	}
	return g, nil
}

// byLengthScale is 4 sum_i z_ik ((Omega z)_ik - z_ik (Omega 1)_i) for all features k.
func (in *Inputs) byLengthScale(omega blas64.General) []float64 {
	z := in.train.scaled
	product := blas64.General{Rows: in.m, Cols: in.d, Stride: in.d, Data: make([]float64, in.m*in.d)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, omega, z, 0, product)
	slopes := make([]float64, in.d)
	for i := range in.m {
		sum, from := floats.Sum(row(omega, i)), row(z, i)
		for k, v := range row(product, i) {
			slopes[k] += 4 * from[k] * (v - from[k]*sum)
		}
	}
	return slopes
}

// derivative is k and its derivative by what profile takes it of, v: the squared distance,
// or the inner product. Where the derivative is infinite, at a distance of 0, the finite
// zero of its product with v stands for it.
func (s Spec) derivative(v float64, d int) (value, slope float64) {
	r := math.Sqrt(math.Max(v, 0))
	switch s.Kind {
	case RBF:
		value = math.Exp(-v / 2)
		return value, -value / 2
	case Matern12:
		value = math.Exp(-r)
		if r == 0 {
			return value, 0
		}
		return value, -value / (2 * r)
	case Matern32: // (1+t) e^-t, t^2 = 3 v
		return matern32(v), -1.5 * math.Exp(-math.Sqrt(3)*r)
	case Matern52: // (1+t+t^2/3) e^-t, t^2 = 5 v
		t := math.Sqrt(5) * r
		return matern52(v), -5.0 / 6 * (1 + t) * math.Exp(-t)
	case Poly:
		gamma, base := s.gamma(d), s.gamma(d)*v+s.Coef0
		slope = gamma * float64(s.degree())
		if s.degree() > 1 {
			slope *= power(base, s.degree()-1)
		}
		return power(base, s.degree()), slope
	}
	return v, 1
}

// Gradient is Inputs.Gradient where only the Gram matrix k is known: of precomputed kernels,
// and of rbf ones of sparse inputs, k'(r^2) r^2 = k log k.
func (s Spec) Gradient(k *linalg.Sym, weights blas64.General) (*Gradient, error) {
	if s.Kind != RBF && s.Kind != Precomputed {
		return nil, fmt.Errorf("there are no derivatives by the scale of kernel %v for sparse inputs: take rbf, or dense inputs", s.Kind)
	}
	if weights.Rows != k.N() || weights.Cols != k.N() {
		return nil, fmt.Errorf("derivatives by a %d x %d matrix, for one of order %d", weights.Rows, weights.Cols, k.N())
	}
	g := &Gradient{}
	for i := range k.N() {
		w := row(weights, i)
		g.Jitter += s.Jitter * w[i]
		for j, v := range w {
			value := k.At(i, j) - s.Constant
			if j == i {
				value -= s.Jitter
			}
			g.Amplitude += v * value
			g.Constant += v * s.Constant
			if share := value / s.amplitude(); s.Kind == RBF && share > 0 {
				g.Gamma += v * value * math.Log(share)
			}
		}
	}
	return g, nil
}
