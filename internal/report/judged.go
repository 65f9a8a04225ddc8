package report

import (
	"cmp"
	"math"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// Judgement is an answer with the error on new rows, for one target, several classes or several targets.
type Judgement interface {
	Answer
	// Judged converts the answer to an estimate; Examples.Each and Points.OOBMean are of left-out rows.
	Judged() *Estimate
}

// Judged is Judgement.Judged.
func (e *Estimate) Judged() *Estimate { return e }

// withoutTheory is an estimate only from exact fits.
func withoutTheory(s Subject, q Quote, testLoss string, quality *calibration.Quality) *Estimate {
	e := &Estimate{Command: "estimate", Subject: s, Quote: q, Errors: noErrors, Quality: quality,
		Ensemble: Ensemble{BaggedError: unknown}}
	e.TestLoss = testLoss
	return e
}

// Judged implements Judgement.
func (c *CrossValidation) Judged() *Estimate {
	points := cmp.Or(c.Points, &Points{})
	e := withoutTheory(c.Subject, c.Quote, c.TestLoss, c.Quality)
	e.Points = &Points{Names: points.Names, Error: points.Error, OOBMean: points.Mean}
	e.Status, e.Examples.Each, e.Outcome = c.Status, points.Error, c.Outcome
	return e
}

// Judged is Judgement.Judged.
func (r *Retraining) Judged() *Estimate {
	points := cmp.Or(r.Points, &Points{})
	e := withoutTheory(r.Subject, r.Quote, r.TestLoss, r.Quality)
	e.Status, e.Points, e.Examples.Each, e.Outcome = r.Status, points, points.Error, r.Outcome
	return e
}

// Judged implements Judgement, with the fractions of wrong decisions.
func (c *Classes) Judged() *Estimate {
	e := withoutTheory(c.Subject, c.Quote, c.TestLoss, &calibration.Quality{Baseline: c.Baseline,
		Constant: c.Constant, Balanced: &c.Balanced, ExampleSE: c.ExampleSE})
	e.Status, e.Examples.Each, e.Outcome = c.Status, c.Points.Error, c.Outcome
	if r := c.Resampling; r != nil {
		e.Resampling = r.Resampling
		e.refinedBy(r.Resamples, c.OneClass)
	}
	return e
}

// Judged implements Judgement, with square errors in units of the variance of each target.
func (t *Targets) Judged() *Estimate {
	first := t.Targets[t.Names[0]].Judged()
	e := withoutTheory(t.Subject, t.Quote, first.TestLoss, &calibration.Quality{Baseline: 1,
		Constant: "its mean", ExampleSE: t.ExampleSE, RSquared: null.Of(1 - float64(t.Error)),
		RMSE: null.Of(math.Sqrt(float64(t.Error)))})
	e.Status, e.Examples.Each, e.Outcome, e.Resampling = t.Status, t.Each, t.Outcome, first.Resampling
	if first.Refined != nil {
		e.refinedBy(first.Refined.Resamples, 0)
	}
	return e
}

// refinedBy adds the number of resamples, and of those of one class.
func (e *Estimate) refinedBy(resamples, oneClass int) {
	if resamples > 0 && e.MonteCarloSE != nil {
		e.Refined = &Refined{Resamples: resamples, Method: "batch", OneClass: oneClass, TestError: e.Error,
			SE: *e.MonteCarloSE, Err632: unknown, Err632Plus: unknown, BaggedError: unknown,
			BaggedSE: unknown, EquivalentResamples: unknown, VarianceRatio: unknown,
			Points: &Points{Error: e.Examples.Each}}
	}
}
