package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Want says whether an answer uses the theory, or exact fits.
type Want int

const (
	No Want = iota
	// the theory: unless it is slow and nothing needs it; exact fits: unless the loss has none
	IfPossible
	Yes
)

// or is the want, or what is decided where it is open.
func (w Want) or(decided Want) Want {
	if w == IfPossible {
		return decided
	}
	return w
}

// Question is what is asked about averages over resamples.
type Question struct {
	Scheme resample.Scheme
	Theory Want
	Exact  Want
	// Resamples is the number of exact fits, Seed their draws. With Accuracy, above 0, there are as many as
	// give the left-out error this relative standard error.
	Resamples int
	Seed      uint64
	Accuracy  float64
	Solve     solver.Settings
	Label     string // of the progress of the solve

	Metrics     []string  // measures of left-out predictions, by name, or "all"
	Level       float64   // of intervals
	Quantiles   []float64 // over resamples, of every prediction
	Covariances bool      // of predictions over resamples
	NoPoints    bool      // no values per example
	Intervals   Intervals // of predict
	Sets        bool      // of classes of new inputs
	// Verdict adds the expected error of the model of all examples, the study's measure of it, and warnings.
	Verdict bool

	singly bool // decided: exact fits alone are trained one by one, without any theory
}

// Retraining is what is asked about averages by retraining.
type Retraining struct {
	model.RetrainSettings // its Tests and MaxSkipped are the study's
	Method                model.RetrainMethod
	Scheme                resample.Scheme
	NoPoints              bool
}

// Chooser chooses a model of a data set.
type Chooser = func(context.Context, *dataset.Set) (model.Spec, error)

func checkMetrics(metrics []string) error {
	known := slices.Concat([]string{report.AllMetrics}, report.NumberMetrics, report.LabelMetrics)
	for _, m := range metrics {
		if !slices.Contains(known, m) {
			return fmt.Errorf("there is no metric %q, but %s", m, strings.Join(known, ", "))
		}
	}
	return nil
}

// A theory of at most quickTheory, in nanoseconds of one core, is never left out. A longer one is, if with it
// the answer costs more than worthTheory times the answer by exact fits alone.
const (
	quickTheory = 2e9
	worthTheory = 1.2
)

// settle decides what the question leaves open: whether the theory is solved, and whether exact fits alone
// start from a rough one. Without the theory, which does not hold where groups or blocks are drawn, nor for
// pairs of classes, exact fits must answer.
func settle(ctx context.Context, s *Study, q *Question) error {
	defer func() {
		if q.Theory == No {
			q.Exact = q.Exact.or(Yes)
		}
	}()
	if q.singly = s.Model.Spec.Pairs; q.singly || resample.IsDependent(q.Scheme) {
		q.Theory = No
	} else if why := q.NeedsTheory(s.Model.Loss); q.Theory == No && why != "" {
		return model.InputError(fmt.Errorf("exact resamples alone cannot answer: %s", why))
	} else if q.Theory != Yes && why == "" && longTheory(s, q.Scheme) {
		weigh(ctx, s, q)
	}
	q.Theory = q.Theory.or(Yes)
	return nil
}

// weigh decides by costs whether a long theory is solved, and how exact fits are trained without it.
func weigh(ctx context.Context, s *Study, q *Question) {
	c := s.Model.Cost(ctx, q.Scheme, resample.Resamples{Scheme: q.Scheme, Seed: q.Seed,
		Y: s.Model.Functions[0].Y})
	count := len(s.Model.Functions) * q.Resamples
	alone, singly := c.Alone(solves(s), count)
	if c.Around(solves(s), count) <= worthTheory*alone {
		q.Theory = q.Theory.or(Yes)
	}
	q.Theory = q.Theory.or(No)
	settings := model.RetrainSettings{Settings: fits.Settings{Resamples: q.Resamples}}
	q.singly = singly && q.Theory == No && q.Accuracy == 0 && loss.TraitsOf(s.Model.Loss).Margin &&
		model.CheckRetrain(s.Model, model.Single, q.Scheme, settings) == nil
}

// solves is the number of theories of all functions.
func solves(s *Study) int {
	if shares(s.Model) {
		return 1
	}
	return len(s.Model.Functions)
}

// theoryCost is the cost of the theory of all functions, in nanoseconds of one core.
func theoryCost(s *Study, law resample.CountDistribution) float64 {
	return float64(solves(s)) * s.Model.Cost(context.Background(), law, nil).Theory
}

// longTheory reports whether the theory may be left out for its time.
func longTheory(s *Study, law resample.CountDistribution) bool {
	return s.Model.Form() != model.ScaLAPACK && theoryCost(s, law) > quickTheory
}

// shares reports whether functions share one solve of the theory: d is the same for all targets of squares.
func shares(m *model.Model) bool {
	_, square := m.Loss.(loss.Square)
	return square && !m.Spec.Pairs
}

// NeedsTheory names the requested results that only the theory gives, or is "".
func (q *Question) NeedsTheory(l loss.Loss) string {
	switch {
	case loss.TraitsOf(l).Proximal == nil:
		return "the loss has no exact resamples"
	case q.Exact == No || resample.ProbZero(q.Scheme, 1) == 0:
		return "there are no exact resamples that leave an example out"
	case q.leavesOutFew():
		return "few exact resamples leave an example out"
	case len(q.Quantiles) > 0 || report.HasMetric(q.Metrics, report.Jackknife):
		return "Question.Quantiles and Question.Metrics jackknife are the theory's"
	}
	return ""
}

// LeastLeftOut is the number of resamples that must leave an example out, on average, for optional ones
// to refine a left-out error: with fewer some examples have none.
const LeastLeftOut = 10

// leavesOutFew reports whether fewer than LeastLeftOut resamples leave an example out. Schemes with periods,
// such as folds, leave every example out in each.
func (q *Question) leavesOutFew() bool {
	return q.Scheme.Period() == 1 && float64(q.Resamples)*resample.ProbZero(q.Scheme, 1) < LeastLeftOut
}

// Key is the exact resamples of a question, for keys of answers.
func (q *Question) Key() string {
	return fmt.Sprintf("%d resamples, wanted %d, accuracy %v seed %d", q.Resamples, q.Exact, q.Accuracy,
		q.Seed)
}

// hasWeights reports whether a scheme has real weights, which leave no example out.
func hasWeights(scheme resample.Scheme) bool {
	_, real := scheme.(resample.Bayesian)
	return real
}

// tests are the test losses of left-out predictions: the study's, and those for metrics and probabilities.
func (s *Study) tests(metrics []string) []loss.Test {
	var more []loss.Test
	switch labels := !s.Model.Set.AreNumbers(); {
	case labels && len(metrics) > 0:
		more = []loss.Test{loss.SquareTest{}, loss.ZeroOne{}}
	case labels:
		more = []loss.Test{loss.SquareTest{}}
	case len(metrics) > 0:
		more = []loss.Test{loss.SquareTest{}, loss.Absolute{}}
	}
	own := func(test loss.Test) bool { return test.Name() == s.Test.Name() }
	return append([]loss.Test{s.Test}, slices.DeleteFunc(more, own)...)
}
