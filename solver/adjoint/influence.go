package adjoint

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/internal/linear"
	"bootbench/solver/site"
)

// Influence is the infinitesimal jackknife of the left-out error E: its derivative with respect to the mass
// w_i of an example in the data. The example has weight w_i v_i/V in the mean over examples, and w_i times
// its mean count in resamples:
//
//	D_i = v_i (e_i - E)/V + dE/dlog(mean count of i),   less its mean,
//
// e_i the left-out error of example i, v_i its importance weight (1 without) and V the sum of these. The
// square root of sum D_i^2 is the standard error of E over draws of the data (Jaeckel 1972; Efron and
// Tibshirani 1997, section 5); the standard error of the mean of e_i over examples would hold the predictors
// fixed. The second term takes one adjoint solve; a site's examples share its derivative. Counts must be
// Poisson or multinomial (approximated by Poisson).
func Influence(ctx context.Context, s *solver.Solution, test loss.Test) ([]float64, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	switch s.Problem.Law.(type) {
	case resample.Poisson, resample.Multinomial:
	default:
		return nil, badProblem("the infinitesimal jackknife is of the bootstrap, schemes poisson and " +
			"multinomial")
	}
	var bySite []float64
	moreDraws := func(distance float64) (loss.Loss, resample.CountDistribution, error) {
		return s.Problem.Loss, drawnMore(s, distance), nil
	}
	objective := Objective{Criterion: LeftOutError, Test: test}
	err := solved(ctx, s, objective, func(a *adjoint, _ float64) (err error) {
		bySite, err = a.along(moreDraws)
		return err
	})
	if err != nil {
		return nil, err
	}
	influence := deviations(s, test)
	for i, at := range s.Bound() {
		for _, example := range at.Examples {
			influence[example] += bySite[i] / float64(len(at.Examples))
		}
	}
	floats.AddConst(-floats.Sum(influence)/float64(len(influence)), influence)
	return influence, nil
}

// deviations are v_i (e_i - E)/V.
func deviations(s *solver.Solution, test loss.Test) []float64 {
	value, each := s.LeftOut(test)
	floats.AddConst(-value, each)
	floats.Mul(each, meanWeights(s))
	return each
}

// meanWeights are v_i/V, the weights of the examples in a mean.
func meanWeights(s *solver.Solution) []float64 {
	v := slices.Clone(s.Problem.Weights)
	if v == nil {
		v = slices.Repeat([]float64{1}, len(s.Problem.Y))
	}
	floats.Scale(1/floats.Sum(v), v)
	return v
}

// drawnMore is the law with mean counts times exp(logarithm).
func drawnMore(s *solver.Solution, logarithm float64) resample.CountDistribution {
	return resample.Poisson{Ratio: s.Problem.Law.Mean() * math.Exp(logarithm)}
}

// Interactions are the derivatives of the left-out errors e_j of single examples with respect to the weights
// w_i of others, N x N, row i, to first order in the response of the sites:
//
//	de_j/dlog w_i ~ (de_j/dm_c,j) G_ji x_i / b_j,   x_i = (dm_i/dlog w_i at a fixed cavity) / chi_i,
//
// times n v_j/V, 1 without weights. x_i is the change of the mean force of site i (T13), and G propagates it
// to the other cavities; variances contribute little. A factor corrects for higher orders: it fits the row
// sums to the training terms of the influences, which are exact. Examples at one site do not interact. The
// engine is held.
func Interactions(s *solver.Solution, test loss.Test, influence []float64) (blas64.General, error) {
	n := len(influence)
	if err := s.Check(); err != nil || test == nil || n != len(s.Problem.Y) {
		return blas64.General{}, cmp.Or(err,
			badProblem("a test loss and the influence of each example are needed"))
	}
	q := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	forces, err := meanSlopes(s)
	if err != nil {
		return q, err
	}
	slope := leftOutSlopes(s, test)
	floats.Mul(slope, meanWeights(s))
	floats.Scale(float64(n), slope)
	err = s.Read(func(engine linalg.Engine) error {
		chi, b := engine.Diag()
		g := make([]float64, s.Sites())
		for i, at := range s.Bound() {
			linalg.Row(engine, g, i)
			g[i] = 0
			force := forces[i] / (chi[i] * float64(len(at.Examples)))
			for _, example := range at.Examples {
				row := linear.Row(q, example)
				for j := range row {
					other := s.SiteOf(j)
					row[j] = slope[j] * g[other] * force / b[other]
				}
			}
		}
		return nil
	})
	if err == nil {
		scaleTo(s, q, test, influence)
	}
	return q, err
}

// meanSlopes are the derivatives of the sites' means with respect to log mean count, at fixed cavities.
func meanSlopes(s *solver.Solution) ([]float64, error) {
	slopes := make([]float64, s.Sites())
	for _, sign := range []float64{-1, 1} {
		sites, err := site.Bind(s.Bound(), s.Problem.Y, s.Problem.Loss, drawnMore(s, sign*gradientStep))
		if err != nil {
			return nil, badProblem("%w", err)
		}
		linalg.Parallel(len(sites), func(i int) {
			slopes[i] += sign * sites[i].Moments(s.Cavity[i]).Mean / (2 * gradientStep)
		})
	}
	return slopes, nil
}

// scaleTo fits the row sums of q, minus their mean, to the training terms of the influences.
func scaleTo(s *solver.Solution, q blas64.General, test loss.Test, influence []float64) {
	n, sums, each := float64(len(influence)), make([]float64, len(influence)), slices.Clone(influence)
	for i := range sums {
		sums[i] = floats.Sum(linear.Row(q, i))
	}
	floats.Sub(each, deviations(s, test))
	floats.Scale(n, each)
	floats.AddConst(-floats.Sum(sums)/n, sums)
	if factor := floats.Dot(sums, each) / floats.Dot(sums, sums); factor > 0 && !math.IsInf(factor, 1) {
		floats.Scale(factor, q.Data)
	}
}

// leftOutSlopes are the derivatives of the left-out errors with respect to the cavity means.
func leftOutSlopes(s *solver.Solution, test loss.Test) []float64 {
	slopes, sites := make([]float64, len(s.Problem.Y)), s.Bound()
	linalg.Parallel(len(sites), func(i int) {
		cavity, step := s.Cavity[i], gradientStep*math.Sqrt(s.Cavity[i].Var)
		if step == 0 {
			return
		}
		for _, sign := range []float64{-1, 1} {
			cavity.Mean = s.Cavity[i].Mean + sign*step
			sites[i].EachLeftOut(cavity, s.Problem.Y, test, func(example int, value float64) {
				slopes[example] += sign * value / (2 * step)
			})
		}
	})
	return slopes
}
