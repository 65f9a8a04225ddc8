package answer

import (
	"context"
	"math"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/resample"
)

// Retrain judges the joint decision by training every class against the others on every resample, the honest
// way.
func (c *Classes) Retrain(ctx context.Context, how Retraining) (*report.Classes, error) {
	r := c.report("retrain")
	var f fields
	for _, j := range c.Jobs {
		settings := how.refit(j.Test)
		settings.OnFit = f.keep(j)
		settings.MaxSkipped = 0 // the decision takes all classes
		result, err := refit.Retrain(ctx, j.Model, how.Method, how.Scheme, settings)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		r.OneClass += result.OneClass
	}
	r.Resampling = &report.ClassResampling{Resampling: Resampling(how.Scheme, c.Set.N()), Resamples: len(f[0]),
		Seed: how.Seed}
	plan := resample.Resamples{Scheme: how.Scheme, Seed: how.Seed, Y: c.ones()}
	return r, c.judge(ctx, r, f, plan)
}

// LeaveOneOut judges the joint decision by exact fits without each example.
func (c *Classes) LeaveOneOut(ctx context.Context, workers int) (*report.Classes, error) {
	r, err := c.CrossValidate(ctx, Validation{Design: resample.Design{N: c.Set.N()}, Workers: workers})
	if err == nil {
		r.Command = "loo"
	}
	return r, err
}

// AsEstimate is an answer about several classes as an estimate by exact resamples alone: a row of a grid or a
// curve, and the end of a search.
func AsEstimate(r *report.Classes) *report.Estimate {
	unknown := null.Float(math.NaN())
	e := &report.Estimate{Command: "estimate", Subject: r.Subject, Quote: r.Quote,
		Errors: report.Errors{TestLoss: r.TestLoss, TestError: unknown, Apparent: unknown, NoInformation: unknown,
			Err632: unknown, Err632Plus: unknown},
		Ensemble: report.Ensemble{BaggedError: unknown}, Quality: jointQuality(r),
		Convergence: report.Convergence{Status: r.Status}, Warnings: r.Warnings, Cost: r.Cost}
	e.Examples.Each = r.Points.Error
	if r.Resampling != nil && r.ErrorSE != nil {
		e.Resampling = r.Resampling.Resampling
		e.Refined = &report.Refined{Resamples: r.Resampling.Resamples, Method: refit.Batch.String(),
			OneClass: r.OneClass, TestError: r.Error, SE: *r.ErrorSE, Err632: unknown, Err632Plus: unknown,
			BaggedError: unknown, BaggedSE: unknown, EquivalentResamples: unknown, VarianceRatio: unknown,
			Points: &report.Points{Error: r.Points.Error}}
	}
	return e
}

// AsValidation is an answer of CrossValidate about several classes as that of two.
func AsValidation(r *report.Classes) *report.CrossValidation {
	return &report.CrossValidation{Command: "cv", Subject: r.Subject, Folds: r.Folds, Repeats: r.Repeats,
		FoldsOf: r.FoldsOf, TestLoss: r.TestLoss, Quote: report.Quote{Error: r.Error, ErrorSE: &r.ExampleSE},
		ErrorSEOver: "examples", RepeatsSE: *r.ErrorSE, Draws: report.Draws{Status: r.Status},
		Quality: jointQuality(r),
		Points:  &report.Points{Error: r.Points.Error}, Warnings: r.Warnings, Cost: r.Cost}
}

func jointQuality(r *report.Classes) *calibration.Quality {
	return &calibration.Quality{Baseline: r.Baseline, Constant: r.Constant, Balanced: &r.Balanced,
		ExampleSE: r.ExampleSE}
}
