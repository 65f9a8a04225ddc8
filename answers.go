package bootbench

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"bootbench/internal/answer"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/solver"
)

// Options of estimates. The zero value means the bootstrap of examples, or of groups and within strata if the
// data have them, or within classes if one has fewer than 30 examples; 200 exact resamples, the square test
// loss for numbers and the fraction of wrong labels for labels.
type Options struct {
	Scheme    Scheme // nil: Poisson{Ratio: 1}; with strata Multinomial
	Resamples int    // exact resamples; 0 means 200 with the theory and 1000 of Retrain
	// TheoryAlone trains no exact resamples. The decision between several classes, and groups, have no
	// theory.
	TheoryAlone bool
	Seed        uint64  // of the resamples
	Test        Test    // loss of left-out predictions
	Level       float64 // of intervals, between 0 and 1; 0 means 0.95
	Sets        bool    // of classes of new inputs, by Predict
}

// defaultResamples is the number of exact resamples with the theory, retrained the number without it.
const defaultResamples, retrained = 200, 1000

// Check is a finding about data or an answer: a code of doc/checks.md, its level (issue or tip), the number
// that triggers it, the text and a cure.
type Check = report.Check

// Quantity is a value with its standard error, and an interval of Options.Level.
type Quantity struct{ Value, SE, Lower, Upper float64 }

func quantity(value, se, lower, upper report.Number) *Quantity {
	return &Quantity{float64(value), float64(se), float64(lower), float64(upper)}
}

// Estimation is the error of models on examples that they were trained without, and their predictions. What
// is unknown is NaN or nil. For several targets the errors are the unexplained fraction of the variance,
// averaged over the targets.
type Estimation struct {
	// Error is the error to quote: of the model that training on all rows gives, with its standard error SE
	// and the interval from ErrorLower to ErrorUpper of Options.Level, by nested cross-validation, which
	// makes the choice of the hyperparameters Spec.Chosen again without each fold (CorrectedFor). Without
	// exact fits, of Retrain and of CrossValidate with blocks of time it is the left-out error, and the
	// bounds are NaN; so they are of two groups, whose errors are of one difference.
	Error, SE, ErrorLower, ErrorUpper float64
	CorrectedFor                      []string
	// Measured is what the model of all rows is expected to have on new rows by Spec.Measure: the area under
	// the ROC curve, the mean error of the two classes, the mean of -log of the probability of a row's label,
	// or the mean cost of a row; nil for the error. Threshold is the probability of the positive label from
	// which on this is predicted, and Error counts these labels; NaN: the sign of the field decides.
	Measured  *Quantity
	Threshold float64
	// LeftOut is the error of models of resamples, or without folds, on the examples that these lack: by
	// exact fits if there are any, else by the theory. MonteCarloSE is the part over resamples of its
	// standard error.
	LeftOut, LeftOutSE, MonteCarloSE float64
	// Baseline is the error of the best constant prediction; RSquared is for numbers, Balanced, the mean
	// error over the classes, for labels.
	Baseline, RSquared, Balanced float64
	// PValue belongs to the error of CrossValidate with Folds.Permutations.
	PValue float64
	// Contradicted: the exact resamples refute the theory.
	Contradicted bool
	// Theory has the left-out error of the theory (of Retrain: of retraining), the apparent error, .632 and
	// .632+.
	Theory solver.ErrorEstimates
	// Mean and SD are, for each example, mean and standard deviation over resamples of its prediction, in
	// units of the target, of exact resamples if there are any; of CrossValidate Mean is the prediction
	// without the example. Lower and Upper hold the predictions of a share Options.Level of the resamples,
	// by the theory. Errors are the left-out errors.
	Mean, SD, Lower, Upper, Errors []float64
	// Classes are several classes, Confusion counts their examples (rows: true class; columns: the majority
	// of left-out decisions, Class), and Probability has a list for each class.
	Classes     []string
	Confusion   [][]int
	Class       []string
	Probability map[string][]float64
	Targets     map[string]*Estimation // several targets, each in its units
	Columns     []ColumnEffect         // of the function Columns
	Checks      []Check                // the issues first
}

// estimationOf are the fields of an answer, with the checks of its data, nil for a part of it.
func estimationOf(a *report.Answer, data *Data) *Estimation {
	unknown := report.Number(math.NaN())
	number := func(v *report.Number) float64 { return float64(*cmp.Or(v, &unknown)) }
	if data != nil {
		a.Add(answer.CheckData(data)...)
	}
	around := cmp.Or(a.Errors, &report.Errors{Apparent: unknown, NoInformation: unknown, Err632: unknown,
		Err632Plus: unknown})
	quality, folds := cmp.Or(a.Quality, &report.Quality{}), cmp.Or(a.Validation, &report.Validation{})
	quote := cmp.Or(a.Quote, &report.Quote{Error: unknown, ErrorSE: unknown})
	e := &Estimation{Error: float64(quote.Error), SE: float64(quote.ErrorSE),
		ErrorLower: math.NaN(), ErrorUpper: math.NaN(),
		LeftOut: float64(quote.Error), LeftOutSE: float64(quote.ErrorSE),
		MonteCarloSE: number(quote.MonteCarloSE), Baseline: float64(quality.Baseline),
		RSquared: number(quality.RSquared), Balanced: number(quality.Balanced), PValue: number(folds.PValue),
		Threshold:    number(a.Threshold),
		Contradicted: a.Status == report.Contradicted,
		Theory: solver.ErrorEstimates{LeftOut: number(a.TestError), Apparent: float64(around.Apparent),
			NoInformation: float64(around.NoInformation), Err632: float64(around.Err632),
			Err632Plus: float64(around.Err632Plus)},
		Targets: mapped(a.Targets, func(one *report.Answer) *Estimation { return estimationOf(one, nil) }),
		Checks:  a.Checks}
	if t := a.Trained; t != nil {
		e.ErrorLower, e.ErrorUpper, e.CorrectedFor = number(quote.Lower), number(quote.Upper),
			t.CorrectedFor
		left := cmp.Or(t.OfResamples, &report.OfResamples{LeftOutError: unknown, LeftOutErrorSE: unknown})
		e.LeftOut, e.LeftOutSE = float64(left.LeftOutError), float64(left.LeftOutErrorSE)
	}
	if m := a.Measured; m != nil {
		e.Measured = quantity(m.Value, m.SE, m.Lower, m.Upper)
	}
	if p := a.Points; p != nil {
		e.Mean, e.SD, e.Lower, e.Upper, e.Errors, e.Class = p.Mean, answer.Deviations(p.Variance), p.Lower,
			p.Upper, p.Error, p.Class
		e.Probability = probabilities(p)
	}
	if r := a.Refined; r != nil && r.Points != nil && r.Points.Mean != nil {
		e.Mean, e.SD, e.Errors = r.Points.Mean, answer.Deviations(r.Points.Variance), r.Points.Error
	}
	if d := a.Decisions; d != nil {
		e.Classes, e.Confusion = d.Classes, d.Confusion
	}
	return e
}

// mapped is a map with other values; nil for none.
func mapped[V, W any](all map[string]V, of func(V) W) map[string]W {
	if len(all) == 0 {
		return nil
	}
	other := map[string]W{}
	for name, value := range all {
		other[name] = of(value)
	}
	return other
}

// probabilities are the probabilities of several classes.
func probabilities(p *report.Points) map[string][]float64 {
	return mapped(p.Probability.Of, func(of report.Numbers) []float64 { return of })
}

// Estimate computes the error of models trained on resamples, and the mean and standard deviation of their
// predictions: for several classes of the decision between them, for several targets of each.
func Estimate(ctx context.Context, spec Spec, o Options) (*Estimation, error) {
	s, err := built(ctx, spec, &o)
	if err != nil {
		return nil, err
	}
	switch {
	case o.TheoryAlone && len(spec.Set.Levels()) > 2:
		return nil, fmt.Errorf("%w: TheoryAlone: the decision between several classes has no theory",
			ErrInput)
	case o.TheoryAlone && resample.IsDependent(o.Scheme):
		return nil, fmt.Errorf("%w: TheoryAlone: the theory does not hold where groups are drawn", ErrInput)
	}
	q := o.question()
	q.Verdict = true
	a, err := s.Estimate(ctx, q)
	if err != nil {
		return nil, err
	}
	if !report.Done(a.Status) && s.Solution != nil {
		if err := s.Solution.Status.Err(); err != nil {
			return nil, err
		}
	}
	return estimationOf(a, spec.Set), nil
}

// built is the study of a specification; its scheme becomes the Scheme of the options.
func built(ctx context.Context, spec Spec, o *Options) (*answer.Study, error) {
	if err := given(ctx, spec.Set); err != nil {
		return nil, err
	}
	if o.Scheme == nil {
		var err error
		if o.Scheme, err = schemeOf(spec.Set); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInput, err)
		}
	}
	o.Level = cmp.Or(o.Level, 0.95)
	err := cmp.Or(resample.CheckFor(o.Scheme, spec.Set.N()), solver.CheckLevel(o.Level))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return answer.New(ctx, spec, o.Test)
}

// schemeOf is the bootstrap of data, over their groups and within their strata. Classes are strata if one is
// small, and if draws within them are possible.
func schemeOf(data *Data) (Scheme, error) {
	design, bootstrap := designOf(data), resample.Options{Ratio: 1}
	if design.Group == nil && design.Stratum == nil {
		within := design
		within.Stratum, _, _ = answer.SmallClass(data)
		if s, err := within.Of(Multinomial{}.Name(), bootstrap); err == nil && within.Stratum != nil {
			return s, nil
		}
	}
	if design.Stratum != nil {
		return design.Of(Multinomial{}.Name(), bootstrap)
	}
	return design.Of(Poisson{}.Name(), bootstrap)
}

// designOf are the groups and strata of data.
func designOf(data *Data) Design {
	return Design{N: data.N(), Group: data.Groups, Stratum: data.Strata}
}

func (o Options) question() answer.Question {
	q := answer.Question{Scheme: o.Scheme, Level: o.Level, Theory: answer.IfPossible, Sets: o.Sets,
		Exact: answer.Yes, Seed: o.Seed, Resamples: cmp.Or(o.Resamples, defaultResamples)}
	switch {
	case o.TheoryAlone:
		q.Theory, q.Exact, q.Resamples = answer.Yes, answer.No, 0
	case o.Resamples == 0:
		q.Exact = answer.IfPossible
	}
	return q
}

// Prediction is the predictions at new inputs, in units of the target.
type Prediction struct {
	// Mean is the prediction: of the trained model for numbers with the square loss and for a Trained, else
	// the mean over resamples. BootstrapMean is the mean over resamples and SD the standard deviation; both
	// are nil for a Trained.
	Mean, BootstrapMean, SD []float64
	// Lower and Upper contain a new target with probability Options.Level; nil for labels, infinite for too
	// few examples. With the square loss they are the jackknife+ of the trained model, scaled by the
	// posterior's standard deviation, so that they are wide where the data say little. Other losses have the
	// jackknife+ after bootstrap, and a Trained of another loss its prediction and a quantile of left-out
	// errors. Of groups that are too few for quantiles they are Student's.
	Lower, Upper []float64
	// Support is the largest kernel of the new input with a row of the data, of the kernel with itself, the
	// constant taken off: below 0.1 the input lies outside the data. It is nil for a kernel that does not
	// fall with distance, and for a Trained that holds a part of the rows.
	Support []float64
	// Positive is the probability of the label +1 of two classes, and Probability the one of each of several.
	Positive    []float64
	Class       []string // nil for numbers
	Probability map[string][]float64
	// Sets are, for each input, the classes that its label is among with probability Options.Level: with
	// Options.Sets, or of a Trained that knows left-out scores of its classes.
	Sets    [][]string
	Targets map[string]*Prediction // several targets
	Checks  []Check                // the issues first
}

// predictionOf are the fields of an answer.
func predictionOf(a *report.Answer) *Prediction {
	p := &Prediction{Checks: a.Checks, Targets: mapped(a.Targets, predictionOf)}
	if at := a.Points; at != nil {
		p.Mean, p.SD, p.Positive, p.Class, p.Probability = at.Mean, at.SD, at.Probability.Positive, at.Class,
			probabilities(at)
		p.Support, p.Sets = at.Support, at.Set
		if p.BootstrapMean = at.BootstrapMean; p.BootstrapMean == nil && at.SD != nil {
			p.BootstrapMean = at.Mean
		}
		if a.Interval != nil && a.Interval.Interval == answer.Observation {
			p.Lower, p.Upper = at.Lower, at.Upper
		}
	}
	return p
}

// Predict computes predictions at new inputs with intervals (see Prediction), and their variation over
// resamples by the theory, or by exact resamples where groups are drawn; of several classes the errors of a
// model that is trained once.
func Predict(ctx context.Context, spec Spec, inputs *Inputs, o Options) (*Prediction, error) {
	s, err := built(ctx, spec, &o)
	if err != nil {
		return nil, err
	}
	if inputs == nil {
		return nil, errNoInputs
	}
	q := o.question()
	if !resample.IsDependent(o.Scheme) {
		q.Theory, q.Exact = answer.Yes, answer.No
	}
	a, err := s.Predict(ctx, inputs, q)
	if err == nil && s.Solution != nil {
		err = s.Solution.Status.Err()
	}
	if err != nil {
		return nil, err
	}
	return predictionOf(a), nil
}

// Retrain computes the averages of Estimate by training on every resample, with Monte-Carlo standard errors.
func Retrain(ctx context.Context, spec Spec, o Options) (*Estimation, error) {
	s, err := built(ctx, spec, &o)
	if err != nil {
		return nil, err
	}
	how := answer.Retraining{Scheme: o.Scheme}
	how.Seed, how.Resamples = o.Seed, cmp.Or(o.Resamples, retrained)
	a, err := s.Retrain(ctx, how, nil)
	if err != nil {
		return nil, err
	}
	if !report.Done(a.Status) {
		return nil, cmp.Or(ctx.Err(), context.Canceled)
	}
	return estimationOf(a, spec.Set), nil
}

// Folds configure cross-validation. The zero value leaves out every example by itself, or every group.
type Folds struct {
	Folds   int // their number; 0: one for each example, or group
	Repeats int // random partitions into folds; 0 means 1
	// Given is the fold of each example, from 0; nil: with Folds 0 the data's, if they have folds.
	Given []int
	// Design has groups that are left out together, strata of the folds, and blocks of time, each predicted
	// by the ones before it. The zero value means the data's.
	Design Design
	// Permutations of the targets give a p-value.
	Permutations int
	// Choose, if set, chooses a model without each fold, as the function Choose does; the error is corrected
	// for that choice.
	Choose func(context.Context, *Data) (Spec, error)
}

// CrossValidate trains exactly without each fold, and computes the error there: for several classes of the
// joint decision, for several targets the mean unexplained fraction of the variance. Of a model that the same
// rows chose (Spec.Chosen) Error is corrected for that, and LeftOut is the error of the folds.
func CrossValidate(ctx context.Context, spec Spec, folds Folds, o Options) (*Estimation, error) {
	s, err := built(ctx, spec, &o)
	if err != nil {
		return nil, err
	}
	v := answer.Validation{Folds: folds.Folds, Single: folds.Folds == 0, Repeats: folds.Repeats,
		Given: folds.Given, Design: folds.Design, Permutations: folds.Permutations, Seed: o.Seed,
		Choose: folds.Choose, Anew: "a model chosen"}
	if v.Choose != nil {
		v.Corrects = answer.CorrectsChoice
	}
	if own := &v.Design; own.Group == nil && own.Stratum == nil && own.Block == 0 {
		*own = designOf(spec.Set)
	}
	if v.Given == nil && v.Folds == 0 {
		v.Given = spec.Set.Folds
	}
	v.Design.N = spec.Set.N()
	a, err := s.Validate(ctx, v, o.Level)
	if err != nil {
		return nil, err
	}
	if a.Status != answer.Complete {
		err = ctx.Err()
	}
	return estimationOf(a, spec.Set), err
}

// ColumnEffect is the error without a column of the data, and with its values permuted among the rows, minus
// the error with it, in units of the test loss; of several targets their mean, and of each.
type ColumnEffect struct {
	Column            string // its name
	Features          int    // that it became
	Without, Permuted Quantity
	Targets           map[string]*ColumnEffect
}

func effectOf(c *report.ColumnEffect) *ColumnEffect {
	of := func(d *report.Difference) Quantity { return *quantity(d.Value, d.StandardError, d.Low, d.High) }
	return &ColumnEffect{Column: c.Column, Features: c.Features, Without: of(c.Without),
		Permuted: of(c.Permuted), Targets: mapped(c.Targets, effectOf)}
}

// Columns judges the model without each column, and with the column permuted, by exact fits without the same
// folds, with the hyperparameters that it has: Estimation.Columns, the most important first. Error is the one
// with all columns; with Spec.Measure the differences are of the measure, of 1 - auc for the area under the
// ROC curve. It makes up to 900 fits for each column, in batches. When ctx ends, finished columns count.
func Columns(ctx context.Context, spec Spec, o Options) (*Estimation, error) {
	s, err := built(ctx, spec, &o)
	if err != nil {
		return nil, err
	}
	r, err := s.Columns(ctx, o.Seed, o.Level)
	if err != nil {
		return nil, err
	}
	if r.Status != answer.Complete {
		err = ctx.Err()
	}
	a := &report.Answer{Quote: r.Quote, Trained: r.Trained, Measured: r.Measured, Outcome: r.Outcome}
	e := estimationOf(a, spec.Set)
	for k := range r.Columns {
		e.Columns = append(e.Columns, *effectOf(&r.Columns[k]))
	}
	return e, err
}
