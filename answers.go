package bootbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"bootbench/internal/answer"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/solver"
)

// Options say how data are redrawn and predictions judged. The zero value is the bootstrap, 200 exact
// resamples, the square test loss for numbers and the share of wrong labels for labels.
type Options struct {
	Scheme    Scheme // nil: Poisson{Ratio: 1}
	Resamples int    // exact resamples; 0 means 200 beside the theory and 1000 without; below 0 the theory alone
	Seed      uint64 // of the resamples
	Test      Test
	Level     float64 // of intervals, between 0 and 1; 0 means 0.95
}

// defaultResamples is the number of exact resamples beside the theory.
const defaultResamples = 200

// Estimation is how a model predicts examples that a resample leaves out, averaged over resamples.
type Estimation struct {
	// Error is the number to quote: that of the exact resamples if there are any, the theory's else; SE is its
	// standard error, NaN for the theory.
	Error, SE float64
	// Contradicted says that the exact resamples refute the theory.
	Contradicted bool
	// Theory has the theory's left-out error, the apparent error, .632 and .632+.
	Theory solver.ErrorEstimates
	// Mean and SD are, for each example, mean and standard deviation over resamples of the prediction there, in
	// units of the target; Errors its left-out error. They are the theory's.
	Mean, SD, Errors []float64
	Warnings         []string
}

// Estimate computes the error of models trained on resamples, and the mean and the spread of their
// predictions.
func Estimate(ctx context.Context, spec Spec, o Options) (*Estimation, error) {
	j, err := built[*answer.Job](spec, o.Test)
	if err != nil {
		return nil, err
	}
	r, err := j.Estimate(ctx, o.settings())
	if err != nil {
		return nil, err
	}
	a := r.(*report.Estimate)
	if !report.Done(a.Status) {
		if err := j.Solution.Status.Err(); err != nil {
			return nil, err
		}
	}
	e := &Estimation{Error: float64(a.Quote.Error), SE: math.NaN(),
		Contradicted: a.Status == report.Contradicted,
		Theory: solver.ErrorEstimates{LeftOut: float64(a.TestError), Apparent: float64(a.Apparent),
			NoInformation: float64(a.NoInformation), Err632: float64(a.Err632), Err632Plus: float64(a.Err632Plus)},
		Mean: a.Points.Mean, SD: roots(a.Points.Variance), Errors: a.Points.Error, Warnings: a.Warnings}
	if a.ErrorSE != nil {
		e.SE = float64(*a.ErrorSE)
	}
	return e, nil
}

// built is what answers questions about a specification, of the kind that a function is for.
func built[M answer.Machine](spec Spec, test Test) (M, error) {
	m, err := answer.Build(spec, test, false)
	of, suits := m.(M)
	if err == nil && !suits {
		err = fmt.Errorf("%w: Train and CrossValidate take all, EstimateClasses several classes, EstimateTargets "+
			"several targets, and the other functions one target", ErrInput)
	}
	return of, err
}

func (o Options) settings() answer.Settings {
	return answer.Settings{Scheme: cmp.Or[Scheme](o.Scheme, Poisson{Ratio: 1}), Level: cmp.Or(o.Level, 0.95),
		Method: answer.AutoMethod, Refine: answer.Refinement{Seed: o.Seed, Optional: o.Resamples == 0,
			Resamples: max(0, cmp.Or(o.Resamples, defaultResamples))}}
}

// Classes is how the joint decision of several classes errs on examples that a resample leaves out.
type Classes = report.Classes

// EstimateClasses is Estimate for several classes, each set against the others: the class of the largest
// field.
func EstimateClasses(ctx context.Context, spec Spec, o Options) (*Classes, error) {
	c, err := built[*answer.Classes](spec, o.Test)
	if err != nil {
		return nil, err
	}
	r, err := c.Estimate(ctx, o.settings())
	if err != nil {
		return nil, err
	}
	return r.(*Classes), nil
}

// PredictClasses are the classes of new inputs by a model of several classes, with their probabilities.
func PredictClasses(p *Trained, in *Inputs) (*report.ClassPrediction, error) {
	return answer.PredictClasses(p, in)
}

// Targets are the answers about several targets; Judged says of each what Estimation says of one.
type Targets = report.Targets

// EstimateTargets is Estimate for several targets of a regression, on one kernel matrix.
func EstimateTargets(ctx context.Context, spec Spec, o Options) (*Targets, error) {
	t, err := built[*answer.Targets](spec, o.Test)
	if err != nil {
		return nil, err
	}
	r, err := t.Estimate(ctx, o.settings())
	if err != nil {
		return nil, err
	}
	return r.(*Targets), nil
}

// PredictTargets predicts several targets of new inputs, with intervals of this level for new observations.
func PredictTargets(p *Trained, in *Inputs, level float64) (*report.TargetPredictions, error) {
	return answer.PredictTargets(p, in, answer.Settings{Level: level})
}

func roots(variances []float64) []float64 {
	sd := make([]float64, len(variances))
	for i, v := range variances {
		sd[i] = math.Sqrt(math.Max(0, v)) // an unbiased estimate may be below 0
	}
	return sd
}

// Prediction is what resamples predict at new inputs, and where new observations fall.
type Prediction struct {
	Mean, SD []float64 // over resamples, in units of the target
	// Lower and Upper hold a new target with the probability of Options.Level, by the jackknife+ after
	// bootstrap; nil for labels, and for too few examples.
	Lower, Upper []float64
	// Probability is that of the label +1; nil for numbers.
	Probability []float64
}

// Predict computes the predictions of models trained on resamples at new inputs, by the theory.
func Predict(ctx context.Context, spec Spec, inputs *Inputs, o Options) (*Prediction, error) {
	j, err := built[*answer.Job](spec, o.Test)
	if err != nil {
		return nil, err
	}
	settings := o.settings()
	settings.Refine.Resamples = 0
	r, err := j.Predict(ctx, inputs, settings)
	if err == nil {
		err = j.Solution.Status.Err()
	}
	if err != nil {
		return nil, err
	}
	a := r.(*report.Prediction)
	p := &Prediction{Mean: a.Points.Mean, SD: a.Points.SD, Probability: a.Points.Probability}
	if a.Interval.Interval == answer.Observation {
		p.Lower, p.Upper = a.Points.Lower, a.Points.Upper
	}
	return p, nil
}

// Retraining is averages over models that were trained on resamples.
type Retraining = retrain.Result

// Retrain computes the same averages the honest way, by training on every resample, with Monte-Carlo standard
// errors.
func Retrain(ctx context.Context, spec Spec, o Options) (*Retraining, error) {
	j, err := built[*answer.Job](spec, o.Test)
	if err != nil {
		return nil, err
	}
	if o.Resamples < 0 {
		return nil, errors.New("retraining needs resamples")
	}
	r, err := refit.Retrain(ctx, j.Model, refit.AutoMethod, o.settings().Scheme, refit.RetrainSettings{
		Seed: o.Seed, Settings: retrain.Settings{Resamples: o.Resamples, Tests: []loss.Test{j.Test}}})
	if err != nil {
		return nil, err
	}
	return r.Result, r.Status.Err()
}

// Folds say how data are split for cross-validation.
type Folds = answer.Validation

// CrossValidation is how a model predicts examples that it was trained without.
type CrossValidation = report.CrossValidation

// CrossValidate trains without every fold, exactly, and judges the predictions there: of several classes the
// joint decision, of several targets the mean share of the variance that is not explained. The zero value of
// Folds leaves out every example by itself.
func CrossValidate(ctx context.Context, spec Spec, folds Folds, o Options) (*CrossValidation, error) {
	m, err := answer.Build(spec, o.Test, false)
	if err != nil {
		return nil, err
	}
	folds.Seed, folds.Design.N = o.Seed, spec.Set.N()
	r, err := m.CrossValidate(ctx, folds)
	if err != nil {
		return nil, err
	}
	v := answer.AsValidation(r)
	if v.Status != answer.Complete {
		err = ctx.Err()
	}
	return v, err
}
