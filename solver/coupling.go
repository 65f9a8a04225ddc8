package solver

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// coupling is what G says of the sites' influence on each other, as the adjoint needs it.
type coupling interface {
	// averages are chi = diag(G), and mean and variance of the predictor.
	averages() siteAverages
	// products are squared = (G o G) x and mixed = (G o G) y - 2 (G o C) x, C = G diag(u) G, without the
	// diagonals.
	products(squared, mixed, x, y []float64)
	// weights are the derivatives by the kernel matrix, given the solution of an adjoint and the weights
	// of the mean predictor.
	weights(a *adjoint, dual []float64) KernelWeights
}

type siteAverages struct{ chi, m, v []float64 }

// denseCoupling has the products as matrices.
type denseCoupling struct{ *jacobian }

func newDenseCoupling(model *siteModel, p SiteParams) denseCoupling {
	n, w := len(model.sites), &workspace{}
	t := newJacobian(w, n)
	t.sites = model
	t.covariance = blas64.General{Rows: n, Cols: n, Stride: n, Data: w.vector(n * n)}
	t.average(p)
	t.couple(p)
	return denseCoupling{t}
}

func (c denseCoupling) averages() siteAverages { return siteAverages{c.chi, c.m, c.v} }

func (c denseCoupling) products(squared, mixed, x, y []float64) {
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
func (c denseCoupling) weights(a *adjoint, weights []float64) KernelWeights {
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
	return KernelWeights{Elements: dst}
}

// thinCoupling computes every product from the factor of a kernel matrix of low rank.
type thinCoupling struct {
	siteAverages
	factor  *linalg.LowRankPlusDiag
	engine  linalg.FactorEngine
	product linalg.Crossed
	u       []float64
}

func newThinCoupling(factor *linalg.LowRankPlusDiag, engine linalg.FactorEngine, p SiteParams) *thinCoupling {
	n := len(p.D)
	chi, _ := engine.Diag()
	product := engine.Crossed(p.U)
	c := &thinCoupling{siteAverages{append([]float64(nil), chi...), make([]float64, n), product.Diagonal()},
		factor, engine, product, p.U}
	engine.MulVecOffDiag(c.m, p.G)
	for i, v := range chi {
		c.m[i] += v * p.G[i]
	}
	return c
}

func (c *thinCoupling) averages() siteAverages { return c.siteAverages }

func (c *thinCoupling) products(squared, mixed, x, y []float64) {
	c.product.MulVecOffDiag(squared, mixed, x, y)
}

// weights applies the matrix W of denseCoupling.weights to rank rows. With y = x T = x - (x o d) G,
//
//	x W = z T' + (x p) w'/2 + (x w) p'/2,   2 z = 2 y S,   z T' = z - (z G) o d,
//	y S = -y o byChi + (G (u o y)) o byV + (G (byV o y)) o u,
//
// p = T byM and w the dual weights.
func (c *thinCoupling) weights(a *adjoint, dual []float64) KernelWeights {
	d := c.engine.Precisions()
	pushed := make([]float64, len(d))
	c.engine.MulVecOffDiag(pushed, a.byM)
	for i, v := range pushed {
		pushed[i] = a.byM[i] - d[i]*(v+c.chi[i]*a.byM[i])
	}
	diagonal := c.diagonal(a, d)
	for i := range diagonal {
		diagonal[i] += pushed[i] * dual[i]
	}
	elements := c.factor.ColumnWeights(func(dst, x blas64.General) {
		work, image := like(x), like(x)
		c.push(image, x, d, work) // y
		turned := like(x)
		scaleRows(work, image, c.u)
		c.engine.MulRows(turned, work)
		scaleRows(dst, turned, a.byV)
		scaleRows(work, image, a.byV)
		c.engine.MulRows(turned, work)
		for r := range x.Rows {
			y, z, t := rowOf(image, r), rowOf(dst, r), rowOf(turned, r)
			for i := range z {
				z[i] += c.u[i]*t[i] - a.byChi[i]*y[i]
			}
		}
		c.engine.MulRows(turned, dst)
		sums := make([]float64, 2*x.Rows)
		for r := range x.Rows {
			sums[2*r], sums[2*r+1] = floats.Dot(rowOf(x, r), pushed)/2, floats.Dot(rowOf(x, r), dual)/2
		}
		a.model.share.Sum(sums)
		for r := range x.Rows {
			z, t := rowOf(dst, r), rowOf(turned, r)
			byP, byDual := sums[2*r], sums[2*r+1]
			for i := range z {
				z[i] += byP*dual[i] + byDual*pushed[i] - d[i]*t[i]
			}
		}
	}, diagonal)
	return KernelWeights{elements, c.factor.Pivots(), diagonal}
}

// push is dst = x - (x o d) G.
func (c *thinCoupling) push(dst, x blas64.General, d []float64, work blas64.General) {
	scaleRows(work, x, d)
	c.engine.MulRows(dst, work)
	for r := range x.Rows {
		floats.SubTo(rowOf(dst, r), rowOf(x, r), rowOf(dst, r))
	}
}

// diagonal is that of T (-diag(byChi) + 2 diag(byV) G diag(u)) T'.
func (c *thinCoupling) diagonal(a *adjoint, d []float64) []float64 {
	n := len(d)
	diagonal := make([]float64, n)
	for i, chi := range c.chi { // by the products that pull has taken
		squareV := a.move.U[i] + chi*chi*a.byV[i]
		both := a.move.D[i] + c.m[i]*a.move.G[i] + chi*(chi*a.byChi[i]-2*c.v[i]*a.byV[i])
		diagonal[i] = -a.byChi[i]*(1-2*d[i]*chi) - d[i]*d[i]*both +
			2*(a.byV[i]*chi*c.u[i]-d[i]*(c.u[i]*squareV+a.byV[i]*c.v[i]))
	}
	return diagonal
}

// like is a matrix of the same size.
func like(x blas64.General) blas64.General {
	return blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, x.Rows*x.Cols)}
}

// scaleRows multiplies every row of x by scale, element by element.
func scaleRows(dst, x blas64.General, scale []float64) {
	for r := range x.Rows {
		floats.MulTo(rowOf(dst, r), rowOf(x, r), scale)
	}
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
