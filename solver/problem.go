// Package solver computes averages over resamples of a kernel machine without
// retraining it: adaptive TAP with replicas (Malzahn and Opper 2003, [M03]).
//
// The predictor trained on a resample is f = argmin 1/2 f'K^-1 f + sum_i s_i
// l(f_i, y_i) (T1), and only the law of the counts s_i is known. Every site i, a
// distinct input, sees the rest of the model as a Gaussian cavity, and the
// sites see each other through one Gaussian with precision parameters d,
// G = (K^-1 + diag(d))^-1. A Solution is where both agree (T4-T6); all averages
// are read off it. Letters and names are in doc/names.md.
//
// Solve (solve.go) has two short drivers over common parts. For the square loss d is
// iterated alone (precision.go), and one linear system follows (variance.go). For all
// others the cavities are iterated: iteration.go is the loop, fixedpoint.go what one
// evaluation does, sweeps.go (damped, Anderson), newton.go (GMRES, with jacobian.go) and
// continuation.go are its strategies, and phases.go is the table of what is tried in
// turn. sites.go maps cavities to site parameters and back.
package solver

import (
	"errors"
	"fmt"
	"math"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Problem says what is resampled and trained: N examples on M sites, the
// distinct inputs. It is not changed by a solve, the scratch triangle of Gram
// apart.
type Problem struct {
	// M x M kernel matrix over the sites, amplitude, constant and jitter included
	Gram linalg.Kernel
	Site linalg.Sites               // site of each example, length N; nil: example i is site i
	Y    []float64                  // target of each example, length N, on every rank
	Loss loss.Loss                  // training loss
	Law  resample.CountDistribution // law of the occupation numbers
}

// ErrProblem marks a problem that cannot be posed.
var ErrProblem = errors.New("bad problem")

func badProblem(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrProblem, fmt.Errorf(format, args...))
}

// check refuses what no solve could make sense of.
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
	for i, y := range p.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return badProblem("target %d is %v", i+1, y)
		}
	}
	if err := resample.Check(p.Law); err != nil {
		return badProblem("%w", err)
	}
	if err := p.Gram.Check(); err != nil {
		return badProblem("%w", err)
	}
	return nil
}

// site is one distinct input with the examples that it holds.
type site struct {
	loss.Site
	examples []int
}

// eachLeftOut calls f with the left-out loss of every example, which is that of all of one target, and of
// an example alone that of the cavity, for every training loss (M03-45).
func (s *site) eachLeftOut(cav loss.Cavity, y []float64, test loss.Test, f func(example int, value float64)) {
	if len(s.examples) == 1 {
		f(s.examples[0], test.Gaussian(cav.Mean, cav.Var, y[s.examples[0]]))
		return
	}
	byTarget := map[float64]float64{}
	for copy, example := range s.examples {
		value, known := byTarget[y[example]]
		if !known {
			value = s.LeftOut(cav, copy, test)
			byTarget[y[example]] = value
		}
		f(example, value)
	}
}

// groupSites groups the examples by sites and binds the loss to each group.
func (p *Problem) groupSites() ([]site, error) {
	sites := make([]site, p.Gram.N())
	for example := range p.Y {
		at := p.Site.At(example)
		sites[at].examples = append(sites[at].examples, example)
	}
	for i := range sites {
		if len(sites[i].examples) == 0 {
			return nil, badProblem("site %d holds no example", i+1)
		}
	}
	if err := bindLoss(sites, p.Y, p.Loss, p.Law); err != nil {
		return nil, err
	}
	bound := make([]loss.Site, len(sites))
	for i := range sites {
		bound[i] = sites[i].Site
	}
	loss.Share(bound)
	return sites, nil
}

// bindLoss binds a loss and a law to sites whose examples are known; y are all targets.
func bindLoss(sites []site, y []float64, l loss.Loss, law resample.CountDistribution) error {
	law = resample.Cache(law)
	alone := map[float64]loss.Site{} // of one example, by its target
	for i := range sites {
		targets := make([]float64, len(sites[i].examples))
		for copy, example := range sites[i].examples {
			targets[copy] = y[example]
		}
		bound, known := alone[targets[0]]
		if !known || len(targets) > 1 {
			var err error
			if bound, err = l.Site(targets, law); err != nil {
				return fmt.Errorf("%w: site %d: %w", ErrProblem, i+1, err)
			}
		}
		if len(targets) == 1 {
			alone[targets[0]] = bound
		}
		sites[i].Site = bound
	}
	return nil
}
