package solver

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
)

// Limits of the linear equations of the gradient.
const (
	// residual relative to their right side
	gradientTolerance = 1e-6
	gradientDepth     = 60   // products with the Jacobian before a restart
	gradientRestarts  = 20   // at most
	gradientWorst     = 0.05 // residual beyond which there is no gradient
)

// adjoint is the transposed linear system. Its unknowns are derivatives of the objective by
// log c, by m_c in standard deviations of the cavity, and by log V_c of all sites, end to end.
type adjoint struct {
	jacobian        *jacobian
	model           *siteModel
	readout         *readout
	cavity          []loss.Cavity
	slope           averages        // of the objective, per example
	params          [][3]float64    // d, g, u of a site
	slopes          [][3][3]float64 // of these, by each of its coordinates
	lambda          []float64       // the solution
	right           []float64       // derivatives of the objective where the site parameters stay
	byM, byChi, byV []float64       // by sum_j G_ij g_j, and as factors of G o G and of G o C
	move            siteParams      // by d, g, u
}

func newAdjoint(model *siteModel, p siteParams, r *readout, s *Solution) *adjoint {
	n, w := len(s.sites), &workspace{}
	a := &adjoint{jacobian: newJacobian(w, n), model: model, readout: r, cavity: s.Cavity,
		params: make([][3]float64, n), slopes: make([][3][3]float64, n)}
	a.jacobian.sites = model
	a.jacobian.covariance = blas64.General{Rows: n, Cols: n, Stride: n, Data: w.vector(n * n)}
	a.jacobian.average(p)
	a.jacobian.couple(p)
	a.lambda, a.right = w.vector(3*n), w.vector(3*n)
	a.byM, a.byChi, a.byV = w.vector(n), w.vector(n), w.vector(n)
	a.move = siteParams{w.vector(n), w.vector(n), w.vector(n)}
	return a
}

// gradientStep is the step of differences of a site, in the logarithms of its parameters and
// in standard deviations of its cavity. Its averages bend on the scale of the coordinates, or
// of its distance to a kink in standard deviations; quadratures err by some 1e-10.
const gradientStep = 2e-4

// difference is the derivative at 0 of f, which is known at some steps, by central
// differences.
func difference(f func(step int) outputs) (slope outputs) {
	before, after := f(-1), f(1)
	const unit = 1 / (2 * gradientStep)
	for k := range slope.params {
		slope.params[k] = unit * (after.params[k] - before.params[k])
	}
	slope.sums = after.sums.plus(before.sums.times(-1)).times(unit)
	return slope
}

// at is what site i, of the given ones, makes of a cavity in which it has moments m.
func (a *adjoint) at(model *siteModel, i int, cav loss.Cavity, m loss.Moments) (out outputs) {
	response := model.response(i, cav.C, m)
	out.params[0] = cav.C * m.Shrinkage / response
	out.params[1], out.params[2] = matchMoments(cav, m, response)
	out.sums = a.readout.site(&model.sites[i], cav, m)
	return out
}

// differentiate computes the slopes of all sites and the right side, and returns the
// objective.
func (a *adjoint) differentiate() float64 {
	n := len(a.cavity)
	sums, bySite := make([]averages, n), make([][3]averages, n)
	a.model.each(func(i int) {
		cav := a.cavity[i]
		at := a.at(a.model, i, cav, a.model.moments(i, cav))
		sums[i], a.params[i] = at.sums, at.params
		sd := math.Sqrt(cav.Var)
		for k, moved := range [3]func(x float64) loss.Cavity{
			func(x float64) loss.Cavity { return loss.Cavity{C: cav.C * math.Exp(x), Mean: cav.Mean, Var: cav.Var} },
			func(x float64) loss.Cavity { return loss.Cavity{C: cav.C, Mean: cav.Mean + x*sd, Var: cav.Var} },
			func(x float64) loss.Cavity { return loss.Cavity{C: cav.C, Mean: cav.Mean, Var: cav.Var * math.Exp(x)} },
		} {
			slope := difference(func(step int) outputs {
				to := moved(float64(step) * gradientStep)
				return a.at(a.model, i, to, a.model.moments(i, to))
			})
			a.slopes[i][k], bySite[i][k] = slope.params, slope.sums
		}
	})
	var mean averages
	for _, part := range sums {
		mean = mean.plus(part)
	}
	perExample := 1 / float64(len(a.readout.y))
	value, slope := a.readout.combine(mean.times(perExample))
	a.slope = slope.times(perExample)
	for i := range bySite {
		for k := range bySite[i] {
			a.right[k*n+i] = a.slope.dot(bySite[i][k])
		}
	}
	return value
}

// solve solves (I - F_x)' lambda = right, restarting GMRES with what is left, and leaves what pull makes of
// lambda.
func (a *adjoint) solve() error {
	krylov := newGMRES(&workspace{}, len(a.right), gradientDepth)
	right := krylov.norm(a.right)
	goal := gradientTolerance * right
	left, step := append([]float64(nil), a.right...), make([]float64, len(a.right))
	size := right
	for range gradientRestarts {
		if !(size > goal) {
			break
		}
		krylov.solve(step, left, a.mulResidual, goal/size)
		floats.Add(a.lambda, step)
		a.mulResidual(left, a.lambda)
		floats.SubTo(left, a.right, left)
		before := size
		if size = krylov.norm(left); !(size < before/2) {
			break
		}
	}
	if worst := gradientWorst * right; !(size <= worst) {
		return fmt.Errorf("the gradient's linear equations cannot be solved at this solution: %.2g of the right "+
			"side is left", size/right)
	}
	return nil
}

// mulResidual is dst = (I - F_x)' x.
func (a *adjoint) mulResidual(dst, x []float64) {
	a.pull(x)
	n := len(a.cavity)
	for i := range a.slopes {
		for k, slope := range a.slopes[i] {
			dst[k*n+i] = x[k*n+i] - slope[0]*a.move.D[i] - slope[1]*a.move.G[i] - slope[2]*a.move.U[i]
		}
	}
}

// pull applies the transpose of the read-off (see jacobian): derivatives with respect to cavities become
// derivatives with respect to G, and to the site parameters.
func (a *adjoint) pull(x []float64) {
	n, t := len(a.cavity), a.jacobian
	for i, cav := range a.cavity {
		// By c, c m_c and c^2 V_c; a V_c at its lower limit does not move.
		byC, byMean, byV := x[i], 0.0, 0.0
		if cav.Var > a.model.minVar[i] {
			byC -= x[n+i]*cav.Mean/math.Sqrt(cav.Var) + 2*x[2*n+i]
			byMean = x[n+i] / (cav.C * math.Sqrt(cav.Var))
			byV = x[2*n+i] / (cav.C * cav.C * cav.Var)
		}
		chi := t.chi[i]
		a.byM[i] = byMean / chi
		a.byV[i] = byV / (chi * chi)
		a.byChi[i] = (byC/cav.C + t.m[i]*byMean + 2*t.v[i]*byV/chi) / (chi * chi)
	}
	a.model.engine.MulVecOffDiag(a.move.G, a.byM)
	t.multiply(a.move.U, gblas.Lower, a.byV)
	t.multiply(a.move.D, gblas.Upper, a.byChi)
	floats.AddScaled(a.move.D, -2, a.move.U)
	for i, m := range t.m {
		a.move.D[i] -= m * a.move.G[i]
	}
	t.multiply(a.move.U, gblas.Upper, a.byV)
}

// byKernel is the derivative by the elements of K. With T = I - D G = K^-1 G, dG = T' dK T, and
// the derivative by G, read off as the cavities are,
//
//	T (-diag(byChi) + 2 diag(byV) G diag(u)) T' + (T byM) (T g)',   T g = g - D m,
//
// made symmetric.
func (a *adjoint) byKernel(weights []float64) blas64.General {
	t, engine := a.jacobian, a.model.engine
	n := len(a.cavity)
	d := engine.Precisions()
	_, b := engine.Diag()
	g, cov, dst := t.scaled, t.covariance, t.products
	mirror(cov)
	a.model.each(func(i int) { // R = (-diag(byChi) + 2 diag(byV) G diag(u)) T' instead of C
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
