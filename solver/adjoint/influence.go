package adjoint

import (
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
	"bootbench/solver/internal/site"
)

// Influence is the infinitesimal jackknife of the left-out error E: what it changes by with the
// mass w_i of an example among the data, which has w_i v_i/V of the mean over examples and
// w_i times its mean count in resamples,
//
//	D_i = v_i (e_i - E)/V + dE/dlog(mean count of i),   less its mean,
//
// e_i the left-out error of example i, v_i its importance weight (1 without) and V the sum of these. The
// square root of sum D_i^2 is the standard error of E over draws of the data (Jaeckel 1972; Efron and
// Tibshirani 1997, section 5), where that of the mean of e_i takes the predictors as given. The second term
// is that of Gradient, for one adjoint solve; a site's examples share its derivative. Counts must be
// Poisson's or multinomial (taken for Poisson's).
func Influence(ctx context.Context, s *solver.Solution, test loss.Test) ([]float64, error) {
	switch s.Problem.Law.(type) {
	case resample.Poisson, resample.Multinomial:
	default:
		return nil, badProblem("the infinitesimal jackknife is of the bootstrap, schemes poisson and multinomial")
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

// meanWeights are v_i/V, those of the examples in a mean.
func meanWeights(s *solver.Solution) []float64 {
	v := slices.Clone(s.Problem.Weights)
	if v == nil {
		v = slices.Repeat([]float64{1}, len(s.Problem.Y))
	}
	floats.Scale(1/floats.Sum(v), v)
	return v
}

// drawnMore is the law whose mean counts are larger by a factor with this logarithm.
func drawnMore(s *solver.Solution, logarithm float64) resample.CountDistribution {
	return resample.Poisson{Ratio: s.Problem.Law.Mean() * math.Exp(logarithm)}
}

// Interactions are the derivatives of the left-out errors e_j of single examples by the weights w_i of
// others, N x N, i by rows, to first order in the answer of the sites:
//
//	de_j/dlog w_i ~ (de_j/dm_c,j) G_ji x_i / b_j,   x_i = (dm_i/dlog w_i at a fixed cavity) / chi_i,
//
// times n v_j/V, 1 without weights. x_i is by how much the mean force of site i moves (T13), and G carries
// that to the other cavities. (The same for the variances of forces and cavities changes nothing that
// matters.) What the first order leaves out is made up for by a factor: summed over j, the rows are fitted to
// the influences by training, which have all orders. Examples at one site do not interact here. The engine is
// held meanwhile.
func Interactions(s *solver.Solution, test loss.Test, influence []float64) (blas64.General, error) {
	n := len(influence)
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

// meanSlopes are the derivatives of the sites' means by the logarithm of their mean counts, at fixed
// cavities.
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

// scaleTo fits the sums of q's rows, less their mean, to the influences by training.
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

// leftOutSlopes are the derivatives of the examples' left-out errors by the means of their cavities.
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
