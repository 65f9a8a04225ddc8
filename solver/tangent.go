package solver

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// slopeStep is the step of the differences in a site's answer. Newton's method needs
// its derivative to some digits only.
const slopeStep = 1e-5

// smallestScale keeps u^1/2 away from zero, so that G can be had back from G
// diag(u)^1/2; its square adds nothing.
const smallestScale = 1e-70

// tangent is the derivative of a sweep: of the cavities that are read off G with
// respect to those that the sites answered to. With A_ij = G_ij/chi_i, j != i,
// C = G diag(u) G the covariance of the predictor and V its diagonal, a change of
// the site parameters changes what T6 says of the cavities by
//
//	c_i:              sum_j A_ij^2 dd_j
//	c_i m_c:          sum_j A_ij (dg_j - m_j dd_j) + m_i sum_j A_ij^2 dd_j
//	c_i^2 V_c:        sum_j A_ij^2 du_j - 2/chi_i^2 sum_j G_ij (C_ij - V_i G_ij/chi_i) dd_j.
//
// The site's own parameters have dropped out: its cavity is the model without it.
type tangent struct {
	sites                *respondents
	slopes               [][3][3]float64 // of d, g, u of a site in its log c, m_c, log V_c
	products             blas64.General  // below the diagonal G o C, above it G o G
	scaled               blas64.General  // G diag(u)^1/2
	next                 cavities
	chi, c               []float64
	mean                 []float64
	spread               []float64
	root                 []float64 // u^1/2, kept away from zero
	moved                parameters
	byD, byG, byU, cross []float64
}

func newTangent(s *respondents) *tangent {
	n := len(s.sites)
	square := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	t := &tangent{sites: s, slopes: make([][3][3]float64, n), products: square(), scaled: square(), next: newCavities(n), moved: newParameters(n)}
	for _, v := range []*[]float64{&t.chi, &t.c, &t.mean, &t.spread, &t.root, &t.byD, &t.byG, &t.byU, &t.cross} {
		*v = make([]float64, n)
	}
	return t
}

// take is the derivative at the cavities at, to which the sites answer p, where G
// stands, and where it says next.
func (t *tangent) take(at, next cavities, p parameters) {
	s := t.sites
	copy(t.next, next)
	chi, b := s.engine.Diag()
	copy(t.chi, chi)
	for i := range chi {
		t.c[i] = cavityPrecision(chi[i], b[i])
	}
	s.engine.MulVecOffDiag(t.mean, p.g)
	s.engine.MulVecSquaredOffDiag(t.spread, p.u)
	for i, x := range chi {
		t.mean[i] += x * p.g[i]
		t.spread[i] += x * x * p.u[i]
	}
	for j, u := range p.u {
		t.root[j] = math.Max(math.Sqrt(u), smallestScale)
	}
	s.each(func(i int) {
		x := [3]float64{at.logC()[i], at.mean()[i], at.logV()[i]}
		from := [3]float64{p.d[i], p.g[i], p.u[i]}
		for k := range x {
			t.slopes[i][k] = t.slope(i, x, k, from)
		}
	})
	s.engine.CopyG(t.scaled)
	s.each(func(i int) {
		row := rowOf(t.scaled, i)
		for j, r := range t.root {
			row[j] *= r
		}
	})
	linalg.LowerGram(t.products, t.scaled)
	s.each(func(i int) {
		row, products := rowOf(t.scaled, i), rowOf(t.products, i)
		for j, v := range row {
			g := v / t.root[j]
			if j < i {
				products[j] *= g
			} else {
				products[j] = g * g
			}
		}
		products[i] = 0
	})
}

func rowOf(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }

// slope is the change of d, g, u of site i, which are from at x, with its coordinate
// k.
func (t *tangent) slope(i int, x [3]float64, k int, from [3]float64) [3]float64 {
	x[k] += slopeStep
	d, g, u := t.sites.respond(i, t.sites.cavityOf(x[0], x[1], x[2]))
	return [3]float64{(d - from[0]) / slopeStep, (g - from[1]) / slopeStep, (u - from[2]) / slopeStep}
}

func (t *tangent) half(uplo gblas.Uplo) blas64.Symmetric {
	return blas64.Symmetric{Uplo: uplo, N: t.products.Rows, Stride: t.products.Stride, Data: t.products.Data}
}

// defect is dst = x - F'x, F' the derivative.
func (t *tangent) defect(dst, x []float64) {
	s := t.sites
	in, out := cavities(x), cavities(dst)
	for i := range t.slopes {
		d := &t.slopes[i]
		a, b, c := in.logC()[i], in.mean()[i], in.logV()[i]
		t.moved.d[i] = d[0][0]*a + d[1][0]*b + d[2][0]*c
		t.moved.g[i] = d[0][1]*a + d[1][1]*b + d[2][1]*c - t.mean[i]*t.moved.d[i]
		t.moved.u[i] = d[0][2]*a + d[1][2]*b + d[2][2]*c
	}
	multiply := func(dst []float64, uplo gblas.Uplo, x []float64) {
		blas64.Symv(1, t.half(uplo), vector(x), 0, vector(dst))
	}
	multiply(t.byD, gblas.Upper, t.moved.d)
	multiply(t.byU, gblas.Upper, t.moved.u)
	multiply(t.cross, gblas.Lower, t.moved.d)
	s.engine.MulVecOffDiag(t.byG, t.moved.g)
	for i, chi := range t.chi {
		c, mean, variance := t.c[i], t.next.mean()[i], math.Exp(t.next.logV()[i])
		scale := s.scale(variance)
		logC := t.byD[i] / (chi * chi * c)
		field := t.byG[i]/(chi*c) + t.mean[i]*logC - mean*scale*logC
		logV := 0.0
		if variance > s.floor[i] {
			logV = (t.byU[i]-2*(t.cross[i]-t.spread[i]/chi*t.byD[i]))/(chi*chi*c*c*variance) - 2*logC
		}
		out.logC()[i] = in.logC()[i] - logC
		out.mean()[i] = in.mean()[i] - (field/scale - 0.5*mean*logV*variance/(scale*scale))
		out.logV()[i] = in.logV()[i] - logV
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
