package bootbench

import (
	"context"
	"errors"
	"math"

	"bootbench/internal/model"
	"bootbench/internal/predict"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
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

func (o Options) withDefaults(data *Data) Options {
	if o.Scheme == nil {
		o.Scheme = Poisson{Ratio: 1}
	}
	if o.Test == nil {
		o.Test = defaultTest(data)
	}
	if o.Level == 0 {
		o.Level = 0.95
	}
	return o
}

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
	m, s, fit, o, err := solve(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	left, each := s.LeftOut(o.Test)
	e := &Estimation{Error: left, SE: math.NaN(), Theory: s.ErrorEstimates(o.Test, fit), Errors: each,
		Mean: s.PerExample(s.Mean), SD: s.PerExample(s.Var), Warnings: append(m.Warnings(), s.Warnings...)}
	for i, v := range e.SD {
		e.SD[i] = math.Sqrt(v)
		e.Mean[i] += m.TargetMean
	}
	if _, exact := m.Loss.(loss.Proximal); !exact || o.Resamples < 0 {
		return e, nil
	}
	refined, err := refit.Refine(ctx, m, s, o.Scheme,
		refit.RefineSettings{Resamples: o.resamples(defaultResamples),
			Seed: o.Seed, Tests: []loss.Test{o.Test}})
	if err != nil {
		return nil, err
	}
	test := refined.TestError()
	e.Error, e.SE = test.Error, test.StandardError
	e.Contradicted = len(refined.Against(s).Contradictions()) > 0
	e.Warnings = append(e.Warnings, refined.Warnings...)
	return e, nil
}

func (o Options) resamples(byDefault int) int {
	if o.Resamples == 0 {
		return byDefault
	}
	return o.Resamples
}

// solve builds a model and solves its theory around the fit to all data.
func solve(ctx context.Context, spec Spec, o Options) (m *model.Model, s *solver.Solution, fit []float64,
	_ Options, err error) {
	if m, err = model.Build(spec); err != nil {
		return nil, nil, nil, o, err
	}
	o = o.withDefaults(spec.Set)
	if m, s, err = m.Settle(ctx, o.Scheme, solver.Settings{}); err != nil {
		return nil, nil, nil, o, err
	}
	if fit, err = m.FullFit(); err != nil {
		return nil, nil, nil, o, err
	}
	if s == nil {
		s, err = m.Solve(ctx, o.Scheme, solver.Settings{})
	}
	if err == nil {
		err = s.Status.Err()
	}
	return m, s, fit, o, err
}

// Prediction is what resamples predict at new inputs, and where new observations fall.
type Prediction struct {
	Mean, SD []float64 // over resamples, in units of the target
	// Lower and Upper hold a new target with the probability of Options.Level, by the jackknife+ after
	// bootstrap; nil for labels.
	Lower, Upper []float64
	// Probability is that of the label +1; nil for numbers.
	Probability []float64
}

// Predict computes the predictions of models trained on resamples at new inputs.
func Predict(ctx context.Context, spec Spec, inputs *Inputs, o Options) (*Prediction, error) {
	m, s, _, o, err := solve(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	at, err := predict.At(m, s, inputs)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Mean: at.Mean, SD: at.SD()}
	if _, labels := defaultTest(spec.Set).(loss.ZeroOne); labels {
		curve, err := predict.ProbabilitiesOf(m, s)
		if err != nil {
			return nil, err
		}
		p.Probability, err = curve.AtInputs(m, s, inputs, at)
		return p, err
	}
	intervals, err := predict.ObservationIntervals(m, s, inputs, o.Level, predict.PlainResiduals)
	for _, i := range intervals {
		p.Lower, p.Upper = append(p.Lower, i.Low+m.TargetMean), append(p.Upper, i.High+m.TargetMean)
	}
	return p, err
}

// Retraining is averages over models that were trained on resamples.
type Retraining = retrain.Result

// Retrain computes the same averages the honest way, by training on every resample, with Monte-Carlo standard
// errors.
func Retrain(ctx context.Context, spec Spec, o Options) (*Retraining, error) {
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults(spec.Set)
	if o.Resamples < 0 {
		return nil, errors.New("retraining needs resamples")
	}
	r, err := refit.Retrain(ctx, m, refit.AutoMethod, o.Scheme, refit.RetrainSettings{Seed: o.Seed,
		Settings: retrain.Settings{Resamples: o.Resamples, Tests: []loss.Test{o.Test}}})
	if err != nil {
		return nil, err
	}
	return r.Result, r.Status.Err()
}

// CrossValidate is Retrain under repeated cross-validation: every model lacks one of the folds.
func CrossValidate(ctx context.Context, spec Spec, folds, repeats int, o Options) (*Retraining, error) {
	scheme, err := resample.ByName("kfold", resample.Options{N: spec.Set.N(), Folds: folds})
	if err != nil {
		return nil, err
	}
	o.Scheme, o.Resamples = scheme, folds*repeats
	return Retrain(ctx, spec, o)
}
