package solver

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
)

// Ensemble is the out-of-bag ensemble (bagging): for every example the average, over the resamples that leave
// it out, of the predictors trained on them. For a site of one example it is the cavity's mean, else the mean
// given the site's other examples. The ensemble's error is the averaged predictor's; Solution.LeftOut
// averages the errors. By Jensen's inequality the former is smaller for a convex test loss.
type Ensemble struct {
	// Mean and Vote are, per example, the mean prediction at its input and P(f > 0), the fraction of positive
	// ones.
	Mean, Vote []float64
	y, weights []float64
}

// OutOfBag is the ensemble of the predictors that leave an example out.
func (s *Solution) OutOfBag() Ensemble {
	e := Ensemble{y: s.Problem.Y, weights: s.Problem.Weights}
	_, e.Mean = s.LeftOut(loss.Prediction{})
	_, e.Vote = s.LeftOut(loss.Vote{})
	return e
}

// MeanLoss is the mean over examples of the test loss of the ensemble's mean. loss.ZeroOne judges its sign.
func (e Ensemble) MeanLoss(test loss.Test) float64 { return meanLoss(e.Mean, e.y, e.weights, test) }

// VoteError is the error rate of the ensemble's majority vote on labels -1, +1, a tie counting half.
func (e Ensemble) VoteError() float64 {
	lead := slices.Clone(e.Vote)
	floats.AddConst(-0.5, lead)
	return meanLoss(lead, e.y, e.weights, loss.ZeroOne{})
}

// meanLoss is the mean test loss of predictions f.
func meanLoss(f, y, weights []float64, test loss.Test) float64 {
	each := make([]float64, len(f))
	for i, v := range f {
		each[i] = test.Value(v, y[i])
	}
	return stat.Mean(each, weights)
}

// Votes are the fractions of all resamples with a positive predictor at each site, P(f_i > 0) + P(f_i = 0)/2.
// They measure the stability of the prediction, not the probability of the label.
func (s *Solution) Votes() []float64 {
	votes := make([]float64, len(s.sites))
	linalg.Parallel(len(votes), func(i int) { votes[i] = s.sites[i].Distribution(s.Cavity[i]).Vote() })
	return votes
}
