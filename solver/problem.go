// Package solver computes averages over resamples of a kernel machine without
// retraining it: adaptive TAP with replicas (Malzahn and Opper 2003, [M03]).
//
// The predictor trained on a resample is f = argmin 1/2 f'K^-1 f + sum_i s_i l(f_i, y_i) (T1), and only the
// law of the counts s_i is known. For every site i, a distinct input, the rest of the model is a Gaussian
// cavity, and the sites are coupled by one Gaussian with precision parameters d, G = (K^-1 + diag(d))^-1. At
// a Solution both agree (T4-T6); all averages are read off it. Letters and names are in doc/names.md.
//
// Solve (solve.go) has two short drivers over common parts. For the square loss only d is iterated
// (precision.go) by the strategies of Settings.Steps (steps.go; mixed.go, the default), and one linear system
// follows (variance.go). For all others the cavities are iterated:
// iteration.go is the loop, fixedpoint.go one evaluation, sweeps.go (damped, Anderson) and newton.go (GMRES,
// with jacobian.go) are the strategies, and phases.go is the table of phases. sites.go maps cavities to site
// parameters and back, package site does so for one site. Package adjoint differentiates a Solution.
package solver

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver/site"
)

// Problem describes resampling and training: N examples on M sites, the distinct inputs. A solve changes only
// the scratch triangle of Gram.
type Problem struct {
	// M x M kernel matrix over the sites, amplitude, constant and jitter included
	Gram linalg.Kernel
	Site linalg.Sites // site of each example, length N; nil: example i is site i
	Y    []float64    // target of each example, length N
	// importance weight of each example, above 0 and the same for all of a site; nil: 1
	Weights []float64
	Loss    loss.Loss                  // training loss
	Law     resample.CountDistribution // law of the occupation numbers
}

// ErrProblem marks a problem that cannot be posed.
var ErrProblem = errors.New("bad problem")

func badProblem(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrProblem, fmt.Errorf(format, args...))
}

// check refuses ill-posed problems.
func (p *Problem) check() error {
	switch {
	case p.Gram == nil || p.Gram.N() == 0:
		return badProblem("no sites")
	case p.Loss == nil || p.Law == nil:
		return badProblem("no loss or no law of resampling")
	case len(p.Y) == 0:
		return badProblem("no examples")
	}
	if err := p.Site.Check(len(p.Y), p.Gram.N()); err != nil {
		return badProblem("%w", err)
	}
	if p.Weights != nil && len(p.Weights) != len(p.Y) {
		return badProblem("%d weights for %d examples", len(p.Weights), len(p.Y))
	}
	for i, y := range p.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return badProblem("target %d is %v", i+1, y)
		}
	}
	if err := cmp.Or(resample.Check(p.Law), p.Gram.Check()); err != nil {
		return badProblem("%w", err)
	}
	return nil
}

// sites binds the loss to the examples of each site.
func (p *Problem) sites() ([]site.Site, error) {
	sites, err := site.Group(p.Site, p.Y, p.Weights, p.Loss, p.Law, linalg.Diagonal(p.Gram))
	if err != nil {
		return nil, badProblem("%w", err)
	}
	return sites, nil
}
