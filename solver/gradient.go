package solver

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Gradient is the derivative of an Objective at a solution by everything that the problem
// holds.
type Gradient struct {
	Value float64 // of the objective
	// Kernel is by the elements of the kernel matrix, M x M and symmetric: the objective changes by
	// sum_ij Kernel_ij dK_ij.
	Kernel blas64.General
	Loss   []float64 // along each of the paths through the training loss
	// Factor is by the logarithm of a factor of the training loss: of C, or of one over the noise.
	Factor float64
}

// Path is a way through the training losses: the loss at a distance from that of the
// problem, which is At(0).
type Path func(distance float64) (loss.Loss, error)

// Limits of the linear equations of the gradient.
const (
	// residual relative to their right side
	gradientTolerance = 1e-6
	gradientDepth     = 60   // products with the Jacobian before a restart
	gradientRestarts  = 20   // at most
	gradientWorst     = 0.05 // residual beyond which there is no gradient
)

// Gradient differentiates an objective through the fixed point (T4-T6) by its adjoint.
// With x the cavities, F(x) their image under a sweep and E the objective,
//
//	dE = (E_theta + lambda' F_theta) dtheta,   (I - F_x)' lambda = E_x'.
//
// One transposed linear system, 3M unknowns, serves all hyperparameters. It is solved by GMRES
// with products of G that are as Newton's method has them. The
// derivatives of a site by its own cavity are differences. The cost is 3 M^3 flops and some
// 20 products of 4 M^2, and four matrices of M^2 numbers.
//
// The solution must be that of ADATAP on a kernel matrix that is held whole,
// whose G has not been overwritten; its residual bounds the accuracy.
func (s *Solution) Gradient(ctx context.Context, o Objective, paths []Path) (*Gradient, error) {
	a, value, release, err := s.adjointOf(ctx, o)
	if err != nil {
		return nil, err
	}
	defer release()
	g := &Gradient{Value: value, Kernel: a.weights(a, s.dualWeights()), Factor: a.byFactor()}
	for _, path := range paths {
		slopes, err := a.along(s, func(distance float64) (loss.Loss, resample.CountDistribution, error) {
			l, err := path(distance)
			return l, s.law, err
		})
		if err != nil {
			return nil, err
		}
		g.Loss = append(g.Loss, floats.Sum(slopes))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if math.IsNaN(value) || math.IsNaN(g.Factor) || floats.HasNaN(g.Loss) ||
		floats.HasNaN(g.Kernel.Data) {
		err = errors.New("the gradient is not a number at this solution")
	}
	return g, err
}

// adjointOf solves the adjoint equations of an objective. Until release is called the engine is
// held.
func (s *Solution) adjointOf(ctx context.Context, o Objective) (a *adjoint, value float64, release func(),
	err error) {
	if _, whole := s.kernel.(linalg.Exclusive); !whole || s.Method != ADATAP {
		return nil, 0, nil, badProblem(
			"a gradient is for the method adatap on a kernel matrix that is held whole: take the exact engine")
	}
	r, err := s.readout(o)
	if err != nil {
		return nil, 0, nil, err
	}
	s.reading.Lock()
	engine, free, err := s.Hold()
	if err != nil {
		s.reading.Unlock()
		return nil, 0, nil, err
	}
	unlock := func() {
		free()
		s.reading.Unlock()
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	n := len(s.sites)
	if err := linalg.CheckMemory(4*8*int64(n)*int64(n), 0, "the gradient"); err != nil {
		return nil, 0, nil, err
	}
	model := newSiteModel(s.sites, engine, s.kernel, s.y)
	model.cancelled = func() bool { return ctx.Err() != nil }
	params := siteParams{s.SitePrecision, s.SiteMean, s.SiteVariance}
	a = newAdjoint(model, newCoupling(model, params), r, s)
	value = a.differentiate()
	if ctx.Err() != nil {
		return nil, 0, nil, ctx.Err()
	}
	return a, value, unlock, a.solve()
}

// outputs are what a site makes of its cavity: its parameters d, g, u, and its share in
// the averages.
type outputs struct {
	params [3]float64
	sums   averages
}

// adjoint is the transposed linear system. Its unknowns are derivatives of the objective by
// log c, by m_c in standard deviations of the cavity, and by log V_c of all sites, end to end.
type adjoint struct {
	coupling
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

func newAdjoint(model *siteModel, c coupling, r *readout, s *Solution) *adjoint {
	n, w := len(s.sites), &workspace{}
	a := &adjoint{coupling: c, model: model, readout: r, cavity: s.Cavity, params: make([][3]float64, n),
		slopes: make([][3][3]float64, n)}
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

// pull takes derivatives by the cavities that are read off G back to derivatives by G's
// elements, and by the site parameters: the transpose of what jacobian says.
func (a *adjoint) pull(x []float64) {
	n, at := len(a.cavity), a.averages()
	for i, cav := range a.cavity {
		// By c, c m_c and c^2 V_c; a V_c at its lower limit does not move.
		byC, byMean, byV := x[i], 0.0, 0.0
		if cav.Var > a.model.minVar[i] {
			byC -= x[n+i]*cav.Mean/math.Sqrt(cav.Var) + 2*x[2*n+i]
			byMean = x[n+i] / (cav.C * math.Sqrt(cav.Var))
			byV = x[2*n+i] / (cav.C * cav.C * cav.Var)
		}
		chi := at.chi[i]
		a.byM[i] = byMean / chi
		a.byV[i] = byV / (chi * chi)
		a.byChi[i] = (byC/cav.C + at.m[i]*byMean + 2*at.v[i]*byV/chi) / (chi * chi)
	}
	a.model.engine.MulVecOffDiag(a.move.G, a.byM)
	a.products(a.move.U, a.move.D, a.byV, a.byChi)
	for i, m := range at.m {
		a.move.D[i] -= m * a.move.G[i]
	}
}

// byFactor is the derivative by the logarithm of a factor C of all losses. The proximal map knows C/c
// alone (T3), so that moments and left-out losses move as under 1/c, and beside them d, g and u by the c
// that stands in them (T6).
func (a *adjoint) byFactor() (sum float64) {
	for i, p := range a.params {
		s := a.slopes[i][0]
		sum += (p[0]-s[0])*a.move.D[i] + (p[1]-s[1])*a.move.G[i] + (2*p[2]-s[2])*a.move.U[i] - a.right[i]
	}
	return sum
}

// dualWeights are g - d m: the mean predictor is k(x)'(g - d m), and a bias.
func (s *Solution) dualWeights() []float64 {
	weights := make([]float64, len(s.Mean))
	for i, m := range s.Mean {
		weights[i] = s.SiteMean[i] - s.SitePrecision[i]*m
	}
	return weights
}

// along are the derivatives of the objective where each site alone goes along a path through
// losses and distributions of counts.
func (a *adjoint) along(s *Solution, path func(distance float64) (loss.Loss, resample.CountDistribution,
	error)) ([]float64, error) {
	models := map[int]*siteModel{}
	for _, step := range []int{-1, 1} {
		moved := *a.model
		sites := append([]site(nil), s.sites...)
		l, law, err := path(float64(step) * gradientStep)
		if err != nil {
			return nil, err
		}
		if err := bindLoss(sites, s.y, l, law); err != nil {
			return nil, err
		}
		moved.sites = sites
		models[step] = &moved
	}
	parts := make([]float64, len(a.cavity))
	a.model.each(func(i int) {
		slope := difference(func(step int) outputs {
			return a.at(models[step], i, a.cavity[i], models[step].moments(i, a.cavity[i]))
		})
		parts[i] = a.slope.dot(slope.sums) + slope.params[0]*a.move.D[i] + slope.params[1]*a.move.G[i] +
			slope.params[2]*a.move.U[i]
	})
	return parts, nil
}
