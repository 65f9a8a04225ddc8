package loss

import "math"

// Prediction and Vote stand where a test loss does, to average the prediction
// itself and its sign. They ask nothing of the target.

// Prediction has the value f. LeftOut by it is the mean of the predictor over
// the resamples that leave an example out: the out-of-bag ensemble.
type Prediction struct{}

// Name is "prediction".
func (Prediction) Name() string { return "prediction" }

// Value is f.
func (Prediction) Value(f, _ float64) float64 { return f }

// Gaussian is the mean.
func (Prediction) Gaussian(mean, _, _ float64) float64 { return mean }

// Vote is 1 where f > 0, else 0. LeftOut by it is the share of the resamples
// without an example that vote for the positive class there.
type Vote struct{}

// Name is "vote".
func (Vote) Name() string { return "vote" }

// Value is 1 if f > 0, else 0.
func (Vote) Value(f, _ float64) float64 {
	if f > 0 {
		return 1
	}
	return 0
}

// Breakpoints is 0.
func (Vote) Breakpoints(float64) []float64 { return []float64{0} }

// Gaussian is Phi(mean/sqrt(variance)).
func (v Vote) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 {
		return v.Value(mean, y)
	}
	return stdCDF(mean / math.Sqrt(variance))
}
