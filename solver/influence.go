package solver

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
)

// Influence is the infinitesimal jackknife of the left-out error E: what it changes by with the
// weight w_i of an example among the data, which has mass w_i/n in the mean over examples and
// w_i times its mean count in resamples,
//
//	D_i = (e_i - E)/n + dE/dlog(mean count of i),   less its mean,
//
// e_i the left-out error of example i. The square root of sum D_i^2 is the standard error of E
// over draws of the data (Jaeckel 1972; Efron and Tibshirani 1997, section 5), where that of
// the mean of e_i takes the predictors as given. The second term is that of Gradient, for one
// adjoint solve; a site's examples share its derivative. Counts must be Poisson's or multinomial (taken
// for Poisson's), which training, the loss of the solution, knows nothing of.
func (s *Solution) Influence(ctx context.Context, training loss.Loss, test loss.Test) ([]float64, error) {
	switch s.law.(type) {
	case resample.Poisson, resample.Multinomial:
	default:
		return nil, badProblem("the infinitesimal jackknife is of the bootstrap, schemes poisson and multinomial")
	}
	a, value, release, err := s.adjointOf(ctx, Objective{Criterion: LeftOutError, Test: test}, 0)
	if err != nil {
		return nil, err
	}
	defer release()
	bySite, err := a.along(s, func(distance float64) (loss.Loss, resample.CountDistribution, error) {
		return training, resample.Poisson{Ratio: s.law.Mean() * math.Exp(distance)}, nil
	})
	if err != nil {
		return nil, err
	}
	_, influence := s.LeftOut(test)
	n := float64(len(influence))
	byExample := make([]float64, len(influence))
	for site, slope := range bySite {
		for _, i := range s.sites[site].examples {
			byExample[i] = slope / float64(len(s.sites[site].examples))
		}
	}
	for i, e := range influence {
		influence[i] = (e-value)/n + byExample[i]
	}
	floats.AddConst(-floats.Sum(influence)/n, influence)
	return influence, nil
}
