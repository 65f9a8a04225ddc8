package solver

import (
	"math"

	"bootbench/linalg"
)

// Interval is a range of predictions.
//
// The intervals of this file say how far the predictor would move if it were trained on another resample:
// sampling variability of an estimator. They are not prediction intervals: a new target scatters about the
// predictor by noise that they know nothing of, and the predictor is biased by the kernel's smoothing. A
// level of 0.95 promises that 95% of the resamples' predictors lie within, no more.
type Interval struct{ Low, High float64 }

// CheckLevel refuses levels outside of (0, 1).
func CheckLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return badProblem("the level of an interval is %v, must lie in (0, 1)", level)
	}
	return nil
}

// NormalInterval is mean -+ z sd, z the standard normal quantile of (1+level)/2: the interval that holds a
// share level of a Gaussian law. variance >= 0; level as CheckLevel has it. The theory's law at new inputs is
// Gaussian (M03-48), so that this is the percentile interval there.
func NormalInterval(mean, variance, level float64) Interval {
	half := math.Sqrt2 * math.Erfinv(level) * math.Sqrt(variance)
	return Interval{mean - half, mean + half}
}

// PercentileIntervals lie between the quantiles (1-level)/2 and (1+level)/2 of
// the sites' laws (M03-60, M04-18), which need not be symmetric and may have
// atoms: at an end that is an atom the interval holds all of it.
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
