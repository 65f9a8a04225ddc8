package solver

import (
	"context"
	"errors"
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
	g := &Gradient{Value: value, Kernel: a.byKernel(s.dualWeights()), Factor: a.byFactor()}
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
	a = newAdjoint(model, params, r, s)
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
