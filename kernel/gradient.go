package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// Gradient converts the derivatives of a function with respect to the elements of Gram, weights (M x M,
// symmetric, dE = sum_ij weights_ij dK_ij), to those with respect to the logarithms of the numbers of the
// Spec, returned in their fields, at 3 M^2 d flops and 8 M^2 bytes. With Omega_qi = weights_qi A k'(r^2_qi)
// and z the scaled inputs,
//
//	dE/dlog L_k = -2 sum_qi Omega_qi (z_qk - z_ik)^2:
//
// one product with all features serves all length scales. Only one triangle is summed, off-diagonal elements
// twice.
func (in *Inputs) Gradient(weights blas64.General) Spec {
	m := in.N()
	omega := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	in.train.gram(blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: omega.Data})
	parts := make([]Spec, m)
	linalg.Parallel(m, func(q int) {
		k, w := row(omega, q)[q:], row(weights, q)[q:]
		in.train.squaredDistances(k, in.train, q, q)
		parts[q].add(in.spec.contract(k[:1], w[:1]), 1)
		parts[q].add(in.spec.contract(k[1:], w[1:]), 2)
	})
	g := Spec{Kind: in.spec.Kind}
	for q, part := range parts {
		g.add(part, 1)
		g.Jitter += row(weights, q)[q] * in.spec.Jitter
	}
	switch len(in.spec.LengthScale) {
	case 0:
	case 1:
		g.LengthScale = []float64{-2 * g.Gamma}
	default:
		for q := range m {
			for j := range q {
				omega.Data[q*m+j] = omega.Data[j*m+q]
			}
		}
		g.LengthScale = in.train.byLengthScale(omega)
	}
	return g
}

// add adds a multiple of another gradient, except for the length scales and the jitter.
func (s *Spec) add(part Spec, times float64) {
	s.Gamma, s.Coef0 = s.Gamma+times*part.Gamma, s.Coef0+times*part.Coef0
	s.Amplitude, s.Constant = s.Amplitude+times*part.Amplitude, s.Constant+times*part.Constant
}

// contract sums over squared distances or inner products v, and overwrites them with Omega.
func (s *Spec) contract(v, w []float64) (part Spec) {
	for j, r := range v {
		value, slope := s.at(r)
		part.Amplitude += w[j] * s.Amplitude * value
		v[j] = w[j] * slope * s.Amplitude
		part.Gamma += v[j] * r // r^2, or gamma x . x', is proportional to gamma
	}
	if s.Coef0 != 0 { // the slope is with respect to x . x'
		part.Coef0 = floats.Sum(v) * s.Coef0 / s.Gamma
	}
	part.Constant = floats.Sum(w) * s.Constant
	return part
}

// byLengthScale is -2 sum_qi Omega_qi (z_qk - z_ik)^2 for all features k, z the scaled points.
func (p *points) byLengthScale(omega blas64.General) []float64 {
	slopes, sums := make([]float64, p.raw.D()), make([]float64, omega.Rows)
	for q := range sums {
		sums[q] = floats.Sum(row(omega, q))
	}
	if p.columns != nil {
		for k := range slopes {
			rows, values := p.columns.Row(k)
			for a, q := range rows {
				inner := -values[a] * sums[q]
				for b, i := range rows {
					inner += omega.Data[int(q)*omega.Stride+int(i)] * values[b]
				}
				slopes[k] += 4 * values[a] * inner
			}
		}
		return slopes
	}
	z, d := blas64.General(p.scaled.X), len(slopes)
	product := blas64.General{Rows: omega.Rows, Cols: d, Stride: d, Data: make([]float64, omega.Rows*d)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, omega, z, 0, product)
	for q := range omega.Rows { // Omega is symmetric
		from := row(z, q)
		for k, v := range row(product, q) {
			slopes[k] += 4 * from[k] * (v - from[k]*sums[q])
		}
	}
	return slopes
}

// Gradient is Inputs.Gradient of a precomputed kernel whose completed matrix is k.
func (s Spec) Gradient(k *linalg.Sym, weights blas64.General) Spec {
	g := Spec{Kind: s.Kind}
	for i := range k.N() {
		for j, w := range row(weights, i) {
			g.Amplitude += w * (k.At(i, j) - s.Constant)
			g.Constant += w * s.Constant
		}
		g.Jitter += row(weights, i)[i] * s.Jitter
	}
	g.Amplitude -= g.Jitter
	return g
}
