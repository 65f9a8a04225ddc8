package kernel

import (
	"errors"
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
	Coef0       float64   // of Poly
	LengthScale []float64 // of the length scale of each feature; nil but for kinds that depend on distance
	Amplitude   float64
	Constant    float64
	Jitter      float64
}

// Gradient takes the derivatives of a function by the elements of Gram, weights (M x M, symmetric, its
// derivative is sum_ij weights_ij dK_ij), to those by the hyperparameters, at 3 M^2 d flops and 8 M^2 bytes.
func (in *Inputs) Gradient(weights blas64.General) (*Gradient, error) {
	x, dense := in.train.(*densePoints)
	if !dense {
		return nil, errors.New("sparse inputs: Spec.Gradient takes derivatives by their Gram matrix")
	}
	if err := checkWeights(weights, in.N()); err != nil {
		return nil, err
	}
	g := in.contractAll(x, weights)
	for i := range in.N() {
		g.Jitter += row(weights, i)[i] * in.spec.Jitter
	}
	return g, nil
}

// checkWeights refuses derivatives that are not by all elements of a matrix of order m.
func checkWeights(weights blas64.General, m int) error {
	if weights.Rows != m || weights.Cols != m {
		return fmt.Errorf("derivatives by a %d x %d matrix, for one of order %d", weights.Rows, weights.Cols, m)
	}
	return nil
}

// contractAll takes symmetric derivatives by the covariances to those by the hyperparameters: one triangle,
// whose elements off the diagonal count twice. With Omega_qi = weights_qi A k'(r^2_qi) and z the scaled
// inputs,
//
//	dE/dlog L_k = -2 sum_qi Omega_qi (z_qk - z_ik)^2:
//
// one product with all features serves all length scales.
func (in *Inputs) contractAll(x *densePoints, weights blas64.General) *Gradient {
	m := in.N()
	omega := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	g := &Gradient{}
	x.gram(blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: omega.Data})
	parts := make([][2]Gradient, m)
	linalg.Parallel(m, func(q int) {
		k, w := row(omega, q), row(weights, q)
		parts[q] = [2]Gradient{in.contractRow(q, q, k[q:q+1], w[q:q+1]), in.contractRow(q, q+1, k[q+1:], w[q+1:])}
	})
	for _, part := range parts {
		g.add(part[0], 1)
		g.add(part[1], 2)
	}
	if in.spec.Kind.radial() {
		for q := range m {
			for j := range q {
				omega.Data[q*m+j] = omega.Data[j*m+q]
			}
		}
		g.LengthScale = x.byLengthScale(omega)
	}
	return g
}

// add adds a multiple of another gradient, but for the length scales and the jitter.
func (g *Gradient) add(part Gradient, times float64) {
	g.Gamma, g.Coef0 = g.Gamma+times*part.Gamma, g.Coef0+times*part.Coef0
	g.Amplitude, g.Constant = g.Amplitude+times*part.Amplitude, g.Constant+times*part.Constant
}

// contractRow sums over the covariances of point q with those from number from on, whose inner
// products are in k, and leaves Omega there.
func (in *Inputs) contractRow(q, from int, k, w []float64) (part Gradient) {
	s := in.spec
	if s.Kind.radial() && len(k) > 0 {
		p := in.pairsWith(in.train, q, from)
		p.squaredDistances(k, 0)
	}
	for j, r := range k {
		value, slope := s.derivative(r)
		part.Amplitude += w[j] * value
		part.Coef0 += w[j] * s.byCoef0(slope)
		k[j] = w[j] * slope * s.Amplitude
		part.Gamma += k[j] * r // r^2 is as gamma, and so is gamma x . x'
	}
	part.Amplitude *= s.Amplitude
	part.Constant = floats.Sum(w) * s.Constant
	return part
}

// byLengthScale is -2 sum_qi Omega_qi (z_qk - z_ik)^2 for all features k, z the scaled points.
func (p *densePoints) byLengthScale(omega blas64.General) []float64 {
	z, d := p.scaled, p.scaled.Cols
	product := blas64.General{Rows: omega.Rows, Cols: d, Stride: d, Data: make([]float64, omega.Rows*d)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, omega, z, 0, product)
	slopes := make([]float64, d)
	for q := range omega.Rows { // Omega is symmetric
		sum, from := floats.Sum(row(omega, q)), row(z, q)
		for k, v := range row(product, q) {
			slopes[k] += 4 * from[k] * (v - from[k]*sum)
		}
	}
	return slopes
}

// byCoef0 is the derivative of a covariance by the logarithm of Coef0, given that by the inner product.
func (s Spec) byCoef0(slope float64) float64 {
	if s.Kind != Poly || s.Coef0 == 0 {
		return 0
	}
	return s.Amplitude * s.Coef0 * slope / s.Gamma
}

// derivative is k and its derivative by what profile takes it of, v: the squared distance,
// or the inner product. Where the derivative is infinite, at a distance of 0, the finite
// zero of its product with v stands for it.
func (s Spec) derivative(v float64) (value, slope float64) {
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
	case RationalQuadratic:
		value = 1 / (1 + v/2)
		return value, -value * value / 2
	case Poly:
		base := s.Gamma*v + s.Coef0
		slope = s.Gamma * float64(s.Degree)
		if s.Degree > 1 {
			slope *= power(base, s.Degree-1)
		}
		return power(base, s.Degree), slope
	}
	return v, 1
}

// Gradient is Inputs.Gradient where only the Gram matrix k is known: of precomputed kernels,
// and of rbf ones of sparse inputs.
func (s Spec) Gradient(k *linalg.Sym, weights blas64.General) (*Gradient, error) {
	if s.Kind != RBF && s.Kind != Precomputed {
		return nil, fmt.Errorf("there are no derivatives by the scale of kernel %v for sparse inputs: take rbf, "+
			"or dense inputs", s.Kind)
	}
	if err := checkWeights(weights, k.N()); err != nil {
		return nil, err
	}
	g, s := &Gradient{}, s.WithDefaults(1)
	for i := range k.N() {
		w := row(weights, i)
		g.Jitter += s.Jitter * w[i]
		for j, v := range w {
			value := k.At(i, j)
			if j == i {
				value -= s.Jitter
			}
			value -= s.Constant
			g.Amplitude += v * value
			g.Constant += v * s.Constant
			if share := value / s.Amplitude; s.Kind == RBF && share > 0 {
				g.Gamma += v * value * math.Log(share) // k'(r^2) r^2 = k log k
			}
		}
	}
	return g, nil
}
