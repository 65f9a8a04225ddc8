package solver

import (
	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
)

// Ensemble is the out-of-bag ensemble (bagging): for every example the average, over the resamples that leave
// it out, of the predictors trained on them. Where an example is alone at its input that is the cavity's
// mean, else the mean of the law that the site's other examples leave. Its error is that of the averaged
// predictor; Solution.LeftOut is the average of the predictors' errors. By Jensen's inequality the former is
// the lesser for a convex test loss.
type Ensemble struct {
	// Mean and Vote are, per example, the mean prediction at its input and the
	// share of positive ones, P(f > 0).
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

// MeanLoss is the test loss of the ensemble's mean for every example, and its mean
// over examples. loss.ZeroOne judges the sign of the mean.
func (e Ensemble) MeanLoss(test loss.Test) (mean float64, perExample []float64) {
	return meanLoss(e.Mean, e.y, e.weights, test)
}

// VoteError is the share of labels -1, +1 that the ensemble's majority vote
// misses, a tie counting half, and 0, 1/2 or 1 for every example.
func (e Ensemble) VoteError() (mean float64, perExample []float64) {
	lead := make([]float64, len(e.Vote))
	for i, share := range e.Vote {
		lead[i] = share - 0.5
	}
	return meanLoss(lead, e.y, e.weights, loss.ZeroOne{})
}

// meanLoss is the test loss of predictions f, each and on average.
func meanLoss(f, y, weights []float64, test loss.Test) (mean float64, each []float64) {
	each = make([]float64, len(f))
	for i, v := range f {
		each[i] = test.Value(v, y[i])
	}
	return stat.Mean(each, weights), each
}

// Votes are the shares of all resamples whose predictor is positive at the own sites, P(f_i > 0) + P(f_i =
// 0)/2: the class probabilities of the bootstrap vote. They say how sure the resamples are of a label, and
// are no estimate of the probability that an example there has it.
func (s *Solution) Votes() []float64 {
	votes := make([]float64, len(s.sites))
	linalg.Parallel(len(votes), func(i int) { votes[i] = s.sites[i].Distribution(s.Cavity[i]).Vote() })
	return votes
}
