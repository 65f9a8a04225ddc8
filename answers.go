package bootbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Options of estimates. The zero value means the bootstrap, 200 exact resamples, the square test loss for
// numbers and the fraction of wrong labels for labels.
type Options struct {
	Scheme    Scheme // nil: Poisson{Ratio: 1}
	Resamples int    // exact resamples; 0 means 200 with the theory and 1000 without; below 0 only the theory
	Seed      uint64 // of the resamples
	Test      Test
	Level     float64 // of intervals, between 0 and 1; 0 means 0.95
}

// defaultResamples is the number of exact resamples with the theory.
const defaultResamples = 200

// Estimation is the error of a model on examples that a resample leaves out, averaged over resamples.
type Estimation struct {
	// Error is the error to quote: that of the exact resamples if there are any, else the theory's. SE is its
	// standard error, over examples, or groups, and over resamples. MonteCarloSE is the part over resamples,
	// NaN for the theory.
	Error, SE, MonteCarloSE float64
	// Contradicted: the exact resamples refute the theory.
	Contradicted bool
	// Theory has the theory's left-out error, the apparent error, .632 and .632+.
	Theory solver.ErrorEstimates
	// Mean and SD are, for each example, mean and standard deviation over resamples of its prediction, in units
	// of the target; Errors are the left-out errors. They are the theory's.
	Mean, SD, Errors []float64
	Warnings         []string
}

// Estimate computes the error of models trained on resamples, and the mean and standard deviation of their
// predictions.
func Estimate(ctx context.Context, spec Spec, o Options) (*Estimation, error) {
	j, err := built[*answer.Job](ctx, spec, o)
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
	e := &Estimation{Error: float64(a.Quote.Error), SE: float64(a.Quote.ErrorSE), MonteCarloSE: math.NaN(),
		Contradicted: a.Status == report.Contradicted,
		Theory: solver.ErrorEstimates{LeftOut: float64(a.TestError), Apparent: float64(a.Apparent),
			NoInformation: float64(a.NoInformation), Err632: float64(a.Err632), Err632Plus: float64(a.Err632Plus)},
		Mean: a.Points.Mean, SD: roots(a.Points.Variance), Errors: a.Points.Error, Warnings: a.Warnings}
	if a.MonteCarloSE != nil {
		e.MonteCarloSE = float64(*a.MonteCarloSE)
	}
	return e, nil
}

// built is what answers questions about a specification, of the kind that a function is for.
func built[M answer.Machine](ctx context.Context, spec Spec, o Options) (of M, err error) {
	if err := given(ctx, spec.Set); err != nil {
		return of, err
	}
	if err := resample.CheckFor(o.settings().Scheme, spec.Set.N()); err != nil {
		return of, fmt.Errorf("%w: %w", ErrInput, err)
	}
	m, err := answer.Build(ctx, spec, o.Test, false)
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

// Classes is the error of the joint decision of several classes on examples that a resample leaves out.
type Classes = report.Classes

// EstimateClasses is Estimate for several classes, each against the others: the decision is the class of the
// largest field.
func EstimateClasses(ctx context.Context, spec Spec, o Options) (*Classes, error) {
	c, err := built[*answer.Classes](ctx, spec, o)
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
	switch {
	case p == nil || p.Encoding == nil:
		return nil, errNoTrained
	case in == nil:
		return nil, errNoInputs
	}
	return answer.PredictClasses(p, in)
}

// Targets are the answers for several targets; Judged converts each to an estimate.
type Targets = report.Targets

// EstimateTargets is Estimate for several targets of a regression, on one kernel matrix.
func EstimateTargets(ctx context.Context, spec Spec, o Options) (*Targets, error) {
	t, err := built[*answer.Targets](ctx, spec, o)
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
	switch {
	case p == nil || p.Encoding == nil:
		return nil, errNoTrained
	case in == nil:
		return nil, errNoInputs
	}
	return answer.PredictTargets(p, in, answer.Settings{Level: level})
}

func roots(variances []float64) []float64 {
	sd := make([]float64, len(variances))
	for i, v := range variances {
		sd[i] = math.Sqrt(math.Max(0, v)) // an unbiased estimate may be below 0
	}
	return sd
}

// Prediction is the predictions of resamples at new inputs, with intervals of new observations.
type Prediction struct {
	Mean, SD []float64 // over resamples, in units of the target
	// Lower and Upper contain a new target with probability Options.Level, by the jackknife+ after bootstrap;
	// nil for labels, and for too few examples.
	Lower, Upper []float64
	// Probability is that of the label +1; nil for numbers.
	Probability []float64
}

// Predict computes the predictions of models trained on resamples at new inputs, by the theory.
func Predict(ctx context.Context, spec Spec, inputs *Inputs, o Options) (*Prediction, error) {
	j, err := built[*answer.Job](ctx, spec, o)
	if err != nil {
		return nil, err
	}
	if inputs == nil {
		return nil, errNoInputs
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

// Retraining is averages over models trained on resamples.
type Retraining = fits.Result

// Retrain computes the same averages by training on every resample, with Monte-Carlo standard errors.
func Retrain(ctx context.Context, spec Spec, o Options) (*Retraining, error) {
	j, err := built[*answer.Job](ctx, spec, o)
	if err != nil {
		return nil, err
	}
	if o.Resamples < 0 {
		return nil, errors.New("retraining needs resamples")
	}
	r, err := model.Retrain(ctx, j.Model, model.AutoMethod, o.settings().Scheme, model.RetrainSettings{
		Seed: o.Seed, Settings: fits.Settings{Resamples: o.Resamples, Tests: []loss.Test{j.Test}}})
	if err != nil {
		return nil, err
	}
	return r.Result, r.Status.Err()
}

// Folds configure cross-validation.
type Folds = answer.Validation

// CrossValidation is the error of a model on examples that it was trained without.
type CrossValidation = report.CrossValidation

// CrossValidate trains exactly without each fold, and computes the error there: for several classes of the
// joint decision, for several targets the mean unexplained fraction of the variance. The zero Folds leave out
// every example by itself.
func CrossValidate(ctx context.Context, spec Spec, folds Folds, o Options) (*CrossValidation, error) {
	m, err := built[answer.Machine](ctx, spec, o)
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
