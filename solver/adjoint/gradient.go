package adjoint

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/site"
)

// Gradient is the derivative of an Objective at a solution with respect to kernel and loss.
type Gradient struct {
	Value float64 // of the objective
	// Kernel is with respect to the kernel matrix, M x M and symmetric: the objective changes by sum_ij
	// Kernel_ij dK_ij.
	Kernel blas64.General
	Loss   []float64 // along each of the paths through the training loss
	// Factor is with respect to the logarithm of a factor of the training loss: of C, or of 1/noise.
	Factor float64
}

// Path is a curve of training losses: the loss at a distance from the problem's, which is at 0.
type Path func(distance float64) (loss.Loss, error)

// Differentiate differentiates an objective through the fixed point (T4-T6) by the adjoint method. With x the
// cavities, F(x) their image under a sweep and E the objective,
//
//	dE = (E_theta + lambda' F_theta) dtheta,   (I - F_x)' lambda = E_x'.
//
// One transposed linear system, 3M unknowns, serves all hyperparameters. It is solved by GMRES with the
// products of Newton's method. The derivatives of a site with respect to its cavity are finite differences.
// The cost is 3 M^3 flops, about 20 products of 4 M^2 flops, and four matrices of M^2 numbers.
//
// The solution must be of ADATAP on a dense kernel matrix, and its G not overwritten; its residual bounds the
// accuracy.
func Differentiate(ctx context.Context, s *solver.Solution, o Objective, paths []Path) (*Gradient, error) {
	var g *Gradient
	err := solved(ctx, s, o, func(a *adjoint, value float64) error {
		g = &Gradient{Value: value, Kernel: a.byKernel(), Factor: a.byFactor()}
		for _, path := range paths {
			slopes, err := a.along(func(distance float64) (loss.Loss, resample.CountDistribution, error) {
				l, err := path(distance)
				return l, s.Problem.Law, err
			})
			if err != nil {
				return err
			}
			g.Loss = append(g.Loss, floats.Sum(slopes))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if math.IsNaN(value) || math.IsNaN(g.Factor) || floats.HasNaN(g.Loss) ||
			floats.HasNaN(g.Kernel.Data) {
			return errors.New("the gradient is not a number at this solution")
		}
		return nil
	})
	return g, err
}

// byFactor is the derivative with respect to log C of a factor C of all losses. The proximal map depends on
// C/c only (T3): moments and left-out losses change as under 1/c, and d, g and u also by their explicit c
// (T6).
func (a *adjoint) byFactor() (sum float64) {
	for i, p := range a.params {
		s := a.slopes[i][0]
		sum += (p[0]-s[0])*a.byD[i] + (p[1]-s[1])*a.byG[i] + (2*p[2]-s[2])*a.byU[i] - a.right[i]
	}
	return sum
}

// training is a path through losses and distributions of counts.
type training func(distance float64) (loss.Loss, resample.CountDistribution, error)

// along are the derivatives of the objective along a path of one site's training, for each site.
func (a *adjoint) along(path training) ([]float64, error) {
	moved := map[int][]site.Site{}
	for _, step := range []int{-1, 1} {
		l, law, err := path(float64(step) * gradientStep)
		if err != nil {
			return nil, err
		}
		if moved[step], err = site.Bind(a.sites, a.readout.y, l, law); err != nil {
			return nil, badProblem("%w", err)
		}
	}
	parts := make([]float64, len(a.sites))
	a.each(func(i int) {
		slope := difference(func(step int) outputs {
			return a.readout.at(&moved[step][i], a.solution.Cavity[i])
		})
		d := slope.params
		parts[i] = a.slope.dot(slope.sums) + d[0]*a.byD[i] + d[1]*a.byG[i] + d[2]*a.byU[i]
	})
	return parts, nil
}
