package solver

import (
	"math"

	"bootbench/linalg"
)

// Interval is a range of predictions.
//
// The intervals of this file describe the variability of the predictor over resamples: at level 0.95 they
// hold 95% of the resamples' predictors. They are not prediction intervals: these would include the noise of
// a new target and the bias of the kernel's smoothing.
type Interval struct{ Low, High float64 }

// CheckLevel refuses levels outside (0, 1).
func CheckLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return badProblem("the level of an interval is %v, must lie in (0, 1)", level)
	}
	return nil
}

// NormalInterval is mean -+ z sd, z the standard normal quantile of (1+level)/2: the central interval of
// probability level of a Gaussian law. variance >= 0, 0 < level < 1. At new inputs the theory's law is
// Gaussian (M03-48), and this is the percentile interval.
func NormalInterval(mean, variance, level float64) Interval {
	half := math.Sqrt2 * math.Erfinv(level) * math.Sqrt(variance)
	return Interval{mean - half, mean + half}
}

// PercentileIntervals lie between the quantiles (1-level)/2 and (1+level)/2 of the sites' laws (M03-60,
// M04-18), which may be asymmetric and have atoms: an end at an atom includes it.
func (s *Solution) PercentileIntervals(level float64) ([]Interval, error) {
	if err := CheckLevel(level); err != nil {
		return nil, err
	}
	all := make([]Interval, len(s.sites))
	linalg.Parallel(len(all), func(i int) {
		law := s.Distribution(i)
		all[i] = Interval{law.Quantile((1 - level) / 2), law.Quantile((1 + level) / 2)}
	})
	return all, nil
}
