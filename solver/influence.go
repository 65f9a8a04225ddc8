package solver

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Influence is the infinitesimal jackknife of the left-out error E: what it changes by with the
// weight w_i of an example among the data, which has mass w_i/n in the mean over examples and
// w_i times its mean count in resamples,
//
//	D_i = e_i/n + dE/dlog(mean count of i),   less its mean,
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
	a, _, release, err := s.adjointOf(ctx, Objective{Criterion: LeftOutError, Test: test})
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
		influence[i] = e/n + byExample[i]
	}
	floats.AddConst(-floats.Sum(influence)/n, influence)
	return influence, nil
}

// Interactions are the derivatives of the left-out errors e_j of single examples by the weights w_i of
// others, N x N, i by rows, to first order in the answer of the sites:
//
//	de_j/dlog w_i ~ (de_j/dm_c,j) G_ji x_i / b_j,   x_i = (dm_i/dlog w_i at a fixed cavity) / chi_i.
//
// x_i is by how much the mean force of site i moves (T13), and G carries that to the other cavities. (The
// same for the variances of forces and cavities changes nothing that matters.) What the first order leaves
// out is made up for by a factor: summed over j, the rows are fitted to the influences by training, which
// have all orders. Examples at one site do not interact here. The engine is held meanwhile.
func (s *Solution) Interactions(training loss.Loss, test loss.Test, influence []float64) (blas64.General,
	error) {
	n := len(s.y)
	q := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	var means [2][]float64
	for k, step := range []float64{-gradientStep, gradientStep} {
		sites := slices.Clone(s.sites)
		if err := bindLoss(sites, s.y, training,
			resample.Poisson{Ratio: s.law.Mean() * math.Exp(step)}); err != nil {
			return q, err
		}
		means[k] = make([]float64, len(sites))
		linalg.Parallel(len(sites), func(i int) { means[k][i] = sites[i].Moments(s.Cavity[i]).Mean })
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	engine, release, err := s.Hold()
	if err != nil {
		return q, err
	}
	defer release()
	slope := s.leftOutSlopes(test)
	chi, b := engine.Diag()
	g := make([]float64, len(s.sites))
	for i := range s.sites {
		engine.Row(g, i)
		g[i] = 0
		force := (means[1][i] - means[0][i]) / (2 * gradientStep * chi[i] * float64(len(s.sites[i].examples)))
		for _, example := range s.sites[i].examples {
			row := rowOf(q, example)
			for j := range row {
				at := s.siteOf(j)
				row[j] = slope[j] * g[at] * force / b[at]
			}
		}
	}
	s.scaleTo(q, test, influence)
	return q, nil
}

// scaleTo fits the sums of q's rows, less their mean, to the influences by training.
func (s *Solution) scaleTo(q blas64.General, test loss.Test, influence []float64) {
	value, each := s.LeftOut(test)
	n, sums := float64(len(each)), make([]float64, len(each))
	for i := range sums {
		sums[i] = floats.Sum(rowOf(q, i))
		each[i] = influence[i]*n - (each[i] - value)
	}
	floats.AddConst(-floats.Sum(sums)/n, sums)
	if factor := floats.Dot(sums, each) / floats.Dot(sums, sums); factor > 0 && !math.IsInf(factor, 1) {
		floats.Scale(factor, q.Data)
	}
}

// leftOutSlopes are the derivatives of the examples' left-out errors by the means of their cavities.
func (s *Solution) leftOutSlopes(test loss.Test) []float64 {
	slopes := make([]float64, len(s.y))
	linalg.Parallel(len(s.sites), func(i int) {
		cavity, step := s.Cavity[i], gradientStep*math.Sqrt(s.Cavity[i].Var)
		if step == 0 {
			return
		}
		for _, sign := range []float64{-1, 1} {
			cavity.Mean = s.Cavity[i].Mean + sign*step
			s.sites[i].eachLeftOut(cavity, s.y, test, func(example int, value float64) {
				slopes[example] += sign * value / (2 * step)
			})
		}
	})
	return slopes
}
