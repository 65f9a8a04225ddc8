package solver

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// coupling is what G says of the sites' influence on each other, as the adjoint needs it: matrices of
// order M.
type coupling struct{ *jacobian }

func newCoupling(model *siteModel, p siteParams) coupling {
	n, w := len(model.sites), &workspace{}
	t := newJacobian(w, n)
	t.sites = model
	t.covariance = blas64.General{Rows: n, Cols: n, Stride: n, Data: w.vector(n * n)}
	t.average(p)
	t.couple(p)
	return coupling{t}
}

// siteAverages are chi = diag(G), and mean and variance of the predictor.
type siteAverages struct{ chi, m, v []float64 }

func (c coupling) averages() siteAverages { return siteAverages{c.chi, c.m, c.v} }

// products are squared = (G o G) x and mixed = (G o G) y - 2 (G o C) x, C = G diag(u) G, without the
// diagonals.
func (c coupling) products(squared, mixed, x, y []float64) {
	c.multiply(squared, gblas.Lower, x)
	c.multiply(mixed, gblas.Upper, y)
	floats.AddScaled(mixed, -2, squared)
	c.multiply(squared, gblas.Upper, x)
}

// weights is the derivative by the elements of K. With T = I - D G = K^-1 G, dG = T' dK T, and
// the derivative by G, read off as the cavities are,
//
//	T (-diag(byChi) + 2 diag(byV) G diag(u)) T' + (T byM) (T g)',   T g = g - D m,
//
// made symmetric.
func (c coupling) weights(a *adjoint, weights []float64) blas64.General {
	t, engine := c.jacobian, a.model.engine
	n := len(a.cavity)
	d := engine.Precisions()
	_, b := engine.Diag()
	g, cov, dst := t.scaled, t.covariance, t.products
	mirror(cov)
	a.model.each(func(i int) { // R = (-diag(byChi) + 2 diag(byV) G diag(u)) T' in the place of C
		gi, ci := rowOf(g, i), rowOf(cov, i)
		for j := range gi {
			gi[j] /= t.root[j]
			v := gi[j]
			ci[j] = 2 * a.byV[i] * (v*t.root[j]*t.root[j] - ci[j]*d[j])
			if j == i {
				ci[j] -= a.byChi[i] * b[i]
			} else {
				ci[j] += a.byChi[i] * v * d[j]
			}
		}
	})
	blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, g, cov, 0, dst)
	pushed := make([]float64, n) // T byM
	engine.MulVecOffDiag(pushed, a.byM)
	for i := range pushed {
		pushed[i] = b[i]*a.byM[i] - d[i]*pushed[i]
	}
	a.model.each(func(i int) {
		row, ri := rowOf(dst, i), rowOf(cov, i)
		for j := range row {
			row[j] = ri[j] - d[i]*row[j] + pushed[i]*weights[j]
		}
	})
	symmetrize(dst)
	return dst
}

// mirror copies the lower triangle to the upper.
func mirror(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

// symmetrize replaces a by (a + a')/2.
func symmetrize(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			v := (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i]) / 2
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = v, v
		}
	}
}
