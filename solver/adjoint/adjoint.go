package adjoint

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/solver/internal/linear"
	"bootbench/solver/site"
)

// Limits of the linear equations.
const (
	tolerance = 1e-6 // residual relative to their right side
	depth     = 60   // products with the Jacobian before a restart
	restarts  = 20   // at most
	worst     = 0.05 // residual beyond which there is no gradient
)

// adjoint is the transposed linear system. Its unknowns are derivatives of the objective with respect to log
// c, m_c in standard deviations of the cavity, and log V_c of all sites, concatenated.
type adjoint struct {
	linear.Averages
	*linear.Products
	ctx             context.Context
	solution        *solver.Solution
	engine          linalg.Engine
	sites           []site.Site
	readout         *readout
	slope           averages        // of the objective, per example
	params          [][3]float64    // d, g, u of a site
	slopes          [][3][3]float64 // derivatives of params with respect to its coordinates
	lambda          []float64       // the solution
	right           []float64       // derivatives of the objective at fixed site parameters
	byM, byChi, byV []float64       // with respect to sum_j G_ij g_j; factors of G o G and of G o C
	byD, byG, byU   []float64       // with respect to the site parameters
}

// solved holds the engine, solves an objective's adjoint equations and calls f with the solution.
func solved(ctx context.Context, s *solver.Solution, o Objective,
	f func(a *adjoint, value float64) error) error {
	if ctx == nil {
		return badProblem("the context is nil: context.Background() is one")
	}
	r, err := newReadout(s, o)
	if err != nil {
		return err
	}
	if linalg.SymOf(s.Problem.Gram) == nil || s.Method != solver.ADATAP {
		return badProblem(
			"a gradient is for the method adatap on a kernel matrix that is held whole: take the exact " +
				"engine")
	}
	n := int64(s.Sites())
	if err := linalg.CheckMemory(4*8*n*n, 0, "the gradient"); err != nil {
		return err
	}
	return s.Read(func(engine linalg.Engine) error {
		a := newAdjoint(ctx, s, engine, r)
		value := a.differentiate()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.solve(); err != nil {
			return err
		}
		return f(a, value)
	})
}

func newAdjoint(ctx context.Context, s *solver.Solution, engine linalg.Engine, r *readout) *adjoint {
	n := s.Sites()
	a := &adjoint{Averages: linear.NewAverages(n), Products: linear.NewProducts(engine), ctx: ctx,
		solution: s, engine: engine, sites: s.Bound(), readout: r, params: make([][3]float64, n),
		slopes: make([][3][3]float64, n)}
	a.KeepCovariance()
	a.Average(engine, s.SiteMean, s.SiteVariance)
	a.Couple(s.SiteVariance)
	a.lambda, a.right = make([]float64, 3*n), make([]float64, 3*n)
	for _, v := range []*[]float64{&a.byM, &a.byChi, &a.byV, &a.byD, &a.byG, &a.byU} {
		*v = make([]float64, n)
	}
	return a
}

// each runs f for every site, in parallel, until ctx is cancelled.
func (a *adjoint) each(f func(i int)) {
	linalg.Parallel(len(a.sites), func(i int) {
		if a.ctx.Err() == nil {
			f(i)
		}
	})
}

// outputs are a site's functions of its cavity: its parameters d, g, u, and its terms of the averages.
type outputs struct {
	params [3]float64
	sums   averages
}

// gradientStep is the step of a site's differences, in the logarithms of its parameters and in standard
// deviations of its cavity. The averages vary on the scale of the coordinates, or of the distance to a kink
// in standard deviations; quadratures err by about 1e-10.
const gradientStep = 2e-4

// difference is the derivative of f at 0 by central differences.
func difference(f func(step int) outputs) (slope outputs) {
	before, after := f(-1), f(1)
	const unit = 1 / (2 * gradientStep)
	for k := range slope.params {
		slope.params[k] = unit * (after.params[k] - before.params[k])
	}
	slope.sums = after.sums.plus(before.sums.times(-1)).times(unit)
	return slope
}

// at computes a site's outputs in a cavity.
func (r *readout) at(s *site.Site, cav loss.Cavity) (out outputs) {
	m := s.Moments(cav)
	out.params[0], out.params[1], out.params[2] = s.Parameters(cav, m)
	out.sums = r.site(s, cav, m)
	return out
}

// differentiate computes the slopes of all sites and the right side, and returns the objective.
func (a *adjoint) differentiate() float64 {
	n := len(a.sites)
	sums, bySite := make([]averages, n), make([][3]averages, n)
	a.each(func(i int) {
		cav := a.solution.Cavity[i]
		at := a.readout.at(&a.sites[i], cav)
		sums[i], a.params[i] = at.sums, at.params
		sd := math.Sqrt(cav.Var)
		for k, moved := range [3]func(c loss.Cavity, x float64) loss.Cavity{
			func(c loss.Cavity, x float64) loss.Cavity { c.C *= math.Exp(x); return c },
			func(c loss.Cavity, x float64) loss.Cavity { c.Mean += x * sd; return c },
			func(c loss.Cavity, x float64) loss.Cavity { c.Var *= math.Exp(x); return c },
		} {
			slope := difference(func(step int) outputs {
				return a.readout.at(&a.sites[i], moved(cav, float64(step)*gradientStep))
			})
			a.slopes[i][k], bySite[i][k] = slope.params, slope.sums
		}
	})
	value, slope := a.readout.combine(meanOf(sums, a.readout.total))
	a.slope = slope.times(1 / a.readout.total)
	for i := range bySite {
		for k := range bySite[i] {
			a.right[k*n+i] = a.slope.dot(bySite[i][k])
		}
	}
	return value
}

// solve solves (I - F_x)' lambda = right by restarted GMRES, and leaves pull of lambda.
func (a *adjoint) solve() error {
	krylov := linear.NewGMRES(len(a.right), depth)
	right := linear.Norm(a.right)
	goal := tolerance * right
	left, step := append([]float64(nil), a.right...), make([]float64, len(a.right))
	size := right
	for range restarts {
		if !(size > goal) {
			break
		}
		krylov.Solve(step, left, a.mulResidual, goal/size)
		floats.Add(a.lambda, step)
		a.mulResidual(left, a.lambda)
		floats.SubTo(left, a.right, left)
		before := size
		if size = linear.Norm(left); !(size < before/2) {
			break
		}
	}
	if !(size <= worst*right) {
		return fmt.Errorf("the gradient's linear equations cannot be solved at this solution: %.2g of the "+
			"right side is left", size/right)
	}
	return nil
}

// mulResidual is dst = (I - F_x)' x.
func (a *adjoint) mulResidual(dst, x []float64) {
	a.pull(x)
	n := len(a.sites)
	for i := range a.slopes {
		for k, slope := range a.slopes[i] {
			dst[k*n+i] = x[k*n+i] - slope[0]*a.byD[i] - slope[1]*a.byG[i] - slope[2]*a.byU[i]
		}
	}
}

// pull applies the transpose of the read-off (see solver's jacobian): derivatives with respect to cavities
// become derivatives with respect to G, and to the site parameters.
func (a *adjoint) pull(x []float64) {
	n := len(a.sites)
	for i, cav := range a.solution.Cavity {
		// With respect to c, c m_c and c^2 V_c; a V_c at its lower limit does not change.
		byC, byMean, byV := x[i], 0.0, 0.0
		if cav.Var > a.sites[i].MinVariance {
			byC -= x[n+i]*cav.Mean/math.Sqrt(cav.Var) + 2*x[2*n+i]
			byMean = x[n+i] / (cav.C * math.Sqrt(cav.Var))
			byV = x[2*n+i] / (cav.C * cav.C * cav.Var)
		}
		chi := a.Chi[i]
		a.byM[i] = byMean / chi
		a.byV[i] = byV / (chi * chi)
		a.byChi[i] = (byC/cav.C + a.Mean[i]*byMean + 2*a.Var[i]*byV/chi) / (chi * chi)
	}
	linalg.MulVecOffDiag(a.engine, a.byG, a.byM)
	a.MulCross(a.byU, a.byV)
	a.MulSquared(a.byD, a.byChi)
	floats.AddScaled(a.byD, -2, a.byU)
	for i, m := range a.Mean {
		a.byD[i] -= m * a.byG[i]
	}
	a.MulSquared(a.byU, a.byV)
}

// byKernel is the derivative with respect to the elements of K. With T = I - D G = K^-1 G, dG = T' dK T, and
// the derivative with respect to G, read off as the cavities are,
//
//	T (-diag(byChi) + 2 diag(byV) G diag(u)) T' + (T byM) (T g)',   T g = g - D m,
//
// symmetrised.
func (a *adjoint) byKernel() blas64.General {
	d := a.engine.Precisions()
	_, b := a.engine.Diag()
	g, cov, dst := a.Scaled, a.Covariance, a.Pairs
	mirror(cov)
	a.each(func(i int) { // R = (-diag(byChi) + 2 diag(byV) G diag(u)) T' instead of C
		gi, ci := linear.Row(g, i), linear.Row(cov, i)
		for j := range gi {
			gi[j] /= a.Root[j]
			v := gi[j]
			ci[j] = 2 * a.byV[i] * (v*a.Root[j]*a.Root[j] - ci[j]*d[j])
			if j == i {
				ci[j] -= a.byChi[i] * b[i]
			} else {
				ci[j] += a.byChi[i] * v * d[j]
			}
		}
	})
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, g, cov, 0, dst)
	pushed := make([]float64, len(d)) // T byM
	linalg.MulVecOffDiag(a.engine, pushed, a.byM)
	for i := range pushed {
		pushed[i] = b[i]*a.byM[i] - d[i]*pushed[i]
	}
	weights := a.dualWeights()
	a.each(func(i int) {
		row, ri := linear.Row(dst, i), linear.Row(cov, i)
		for j := range row {
			row[j] = ri[j] - d[i]*row[j] + pushed[i]*weights[j]
		}
	})
	symmetrize(dst)
	return dst
}

// dualWeights are g - d m: the mean predictor is k(x)'(g - d m) plus a bias.
func (a *adjoint) dualWeights() []float64 {
	s := a.solution
	weights := append([]float64(nil), s.SiteMean...)
	for i, m := range s.Mean {
		weights[i] -= s.SitePrecision[i] * m
	}
	return weights
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
