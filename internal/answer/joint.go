package answer

import (
	"context"
	"math"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
)

// Joint is what is asked of several classes, or of several targets, together: see Job.
type Joint interface {
	First() *Job             // of the first class or target
	Subject() report.Subject // of all
	Estimate(ctx context.Context, s Settings) (report.Joint, error)
	CrossValidate(ctx context.Context, v Validation) (report.Joint, error)
	Retrain(ctx context.Context, how Retraining) (report.Joint, error)
	LeaveOneOut(ctx context.Context, workers int) (report.Joint, error)
	Train(ctx context.Context) (*model.Predictor, error)
	// KeepFits has Estimate and Retrain keep exact fits.
	KeepFits(keep Keep)
}

// IsJoint reports whether a data set has several classes or targets.
func IsJoint(set *dataset.Set) bool { return set.Task == dataset.Several || set.Further != nil }

// First is Joint.First.
func (c *Classes) First() *Job { return c.Jobs[0] }

// KeepFits is Joint.KeepFits.
func (c *Classes) KeepFits(keep Keep) {
	for _, j := range c.Jobs {
		j.Keep = keep
	}
}

// KeepFits is Joint.KeepFits.
func (j Targets) KeepFits(keep Keep) { j.Keep = keep }

// Subject is Joint.Subject.
func (c *Classes) Subject() report.Subject {
	s := c.Jobs[0].Subject
	s.Labels, s.Positive, s.Notes = nil, "", c.Set.Notes
	return s
}

// First is Joint.First.
func (j Targets) First() *Job { return j.Job }

// Subject is Joint.Subject.
func (j Targets) Subject() report.Subject {
	s := j.Job.Subject
	for _, t := range j.Set.Further {
		s.Target += ", " + t.Name
	}
	s.TargetMean, s.Model = nil, nil
	return s
}

// PredictJoint is PredictByModel by a model of several classes or targets.
func PredictJoint(p *model.Predictor, in *dataset.Inputs, s Settings) (report.ByModel, error) {
	if p.Encoding.Task == dataset.Several {
		return PredictClasses(p, in)
	}
	return PredictTargets(p, in, s)
}

// AsEstimate is an answer of Estimate about several classes or targets as that about one by exact resamples
// alone: a row of a grid or a curve, and the end of a search.
func AsEstimate(r report.Joint) *report.Estimate {
	all, unknown := r.Together(), null.Float(math.NaN())
	e := &report.Estimate{Command: "estimate", Subject: *all.Subject, Quote: all.Quote,
		Errors: report.Errors{TestLoss: all.TestLoss, TestError: unknown, Apparent: unknown, NoInformation: unknown,
			Err632: unknown, Err632Plus: unknown},
		Ensemble: report.Ensemble{BaggedError: unknown}, Quality: all.Quality,
		Convergence: report.Convergence{Status: all.Status}, Warnings: all.Warnings, Cost: *all.Cost}
	e.Examples.Each, e.Resampling = all.Each, all.Resampling
	if all.Resamples > 0 && all.ErrorSE != nil {
		e.Refined = &report.Refined{Resamples: all.Resamples, Method: refit.Batch.String(),
			OneClass: all.OneClass, TestError: all.Error, SE: *all.ErrorSE, Err632: unknown, Err632Plus: unknown,
			BaggedError: unknown, BaggedSE: unknown, EquivalentResamples: unknown, VarianceRatio: unknown,
			Points: &report.Points{Error: all.Each}}
	}
	return e
}

// AsValidation is an answer of CrossValidate about several classes or targets as that about one.
func AsValidation(r report.Joint) *report.CrossValidation {
	all := r.Together()
	return &report.CrossValidation{Command: "cv", Subject: *all.Subject, Folds: all.Folds, Repeats: all.Repeats,
		FoldsOf: all.FoldsOf, TestLoss: all.TestLoss, Quote: report.Quote{Error: all.Error,
			ErrorSE: &all.Quality.ExampleSE}, ErrorSEOver: "examples", Draws: report.Draws{Status: all.Status},
		Quality: all.Quality, Points: &report.Points{Error: all.Each}, Warnings: all.Warnings, Cost: *all.Cost}
}
