package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// fitsAround reports whether the fits to all data follow a solve: on a factor with a loss with kinks, for
// which Newton's method is slow.
func fitsAround(m *model.Model) bool {
	_, square := m.Loss.(loss.Square)
	return m.TrainedOnFactor() && !square
}

// fitFirst is fitFull before a solve, unless the fits follow that.
func (s *Study) fitFirst(ctx context.Context) error {
	if fitsAround(s.Model) {
		return nil
	}
	return s.fitFull(ctx)
}

// fitFull trains every function once on all data by the loss's trainer, unless that is done. It must precede
// a solve, whose scratch triangle it uses.
func (s *Study) fitFull(ctx context.Context) error {
	if s.full[0] != nil {
		return nil
	}
	defer func(began time.Time) { s.Times.Fit += time.Since(began).Seconds() }(time.Now())
	s.Progress("fit to all data", 0, 1)
	var models []*model.Model
	for k := range s.Model.Functions {
		models = append(models, s.Model.Of(k))
	}
	full, err := model.FullFits(ctx, models)
	if err == nil {
		s.full = full
	}
	return err
}

// fitAround trains the part on all data around its solution, or by the loss's trainer if that fails.
func (p *part) fitAround(ctx context.Context) (err error) {
	full := &p.study.full[p.number]
	if !fitsAround(p.model) || *full != nil {
		return nil
	}
	defer func(began time.Time) { p.study.Times.Fit += time.Since(began).Seconds() }(time.Now())
	*full, err = p.model.FullFit(ctx, p.solution)
	return err
}

// Solve solves the theory of the first function.
func (s *Study) Solve(ctx context.Context, q Question) error {
	if err := settle(ctx, s, &q); err != nil {
		return err
	}
	return s.part(0).solve(ctx, &q)
}

// solve solves the theory, on a kernel matrix of sufficient rank; roughly, if only exact resamples count.
func (p *part) solve(ctx context.Context, q *Question) (err error) {
	settings, label := q.Solve, cmp.Or(q.Label, "solve")
	if p.study.several() {
		label += " " + p.model.Function.Name
	}
	settings.Progress = func(sweep solver.Sweep) {
		done := 100 * math.Log(sweep.Residual) / math.Log(settings.Tolerance)
		p.study.Progress(fmt.Sprintf("%s: sweep %d, residual %.1e", label, sweep.Number, sweep.Residual),
			int(max(0, min(100, done))), 100)
	}
	p.study.Progress(label, 0, 100)
	if k, ok := q.Scheme.(resample.KFold); ok && k.Folds == k.N && q.Theory != No {
		// Given that an example is left out, all others are there: for the square loss this is exact.
		once := settings
		once.From = nil
		if p.left, err = p.model.Solve(ctx, resample.Bernoulli{Rate: 1}, once); err != nil {
			return err
		}
	}
	_, generated := q.Scheme.(resample.Generated)
	if first := p.study.Solution; p.number > 0 && shares(p.model) && first != nil && !generated {
		p.model = p.study.Model.Of(p.number) // whose rank may have been raised
		p.solution, err = first.Retarget(p.model.Y, q.Solve.Tolerance)
		return err
	}
	settled, solution, err := p.model.Settle(ctx, q.Scheme, settings)
	if err == nil && settled != p.model {
		settings.From, p.model = nil, settled
		if !p.study.several() || shares(settled) {
			p.study.Model, p.study.full = settled, make([][]float64, len(p.study.full))
			if !p.study.classes() {
				err = p.study.fitFirst(ctx)
			}
		}
	}
	switch {
	case err != nil || solution != nil:
	case q.Theory == No && (longTheory(p.study, q.Scheme) || !resample.IsDependent(q.Scheme)):
		solution, err = p.model.SolveRoughly(ctx, q.Scheme, settings)
	default:
		solution, err = p.model.Solve(ctx, q.Scheme, settings)
	}
	if err != nil {
		return err
	}
	if p.solution = solution; p.number == 0 {
		p.study.Solution = solution
	}
	if p.study.classes() {
		return nil
	}
	return p.fitAround(ctx)
}

// addConvergence adds to an answer how the part was solved, and how accurately.
func (p *part) addConvergence(a *report.Answer) {
	a.Method, a.Status = p.solution.Method.String(), p.solution.Status.String()
	a.Convergence = &report.Convergence{Engine: p.model.Form().String(), Solve: report.NewSolve(p.solution),
		Rank: p.model.Rank(), RankError: report.Number(p.model.RankError(p.solution))}
	if factor := p.model.Factor(); factor != nil {
		a.RankResidual, a.RankLargest = factor.Accuracy()
	}
}

// errOnlyExact: without exact resamples there is no answer.
var errOnlyExact = model.InputError(errors.New("there are no exact resamples, and the theory was not " +
	"solved, or does not hold where groups or blocks are drawn: exact resamples are needed"))

// Path asks a study questions that differ in the scheme. PathLength solves in a row each start from the last
// one. The next solve starts independently, so that answers depend neither on interruptions nor on shards,
// which have complete rows.
type Path struct {
	*Study
	Questions []Question
	next      int // number of the question that may start from the last solution
}

// PathLength is the number of solves that start from each other.
const PathLength = 5

// At is question number i with its start. Previous ones whose answers are known are solved again.
func (p *Path) At(ctx context.Context, i int) (Question, error) {
	switch {
	case i%PathLength == 0 || p.several():
		if p.Solution = nil; p.Model != p.built { // the solve changed its factor
			p.Model, p.full = p.built, make([][]float64, len(p.Model.Functions))
		}
	case p.next != i:
		last, err := p.At(ctx, i-1)
		if err == nil {
			err = p.Solve(ctx, last)
		}
		if err != nil {
			return last, err
		}
	}
	p.next = i + 1
	q := p.Questions[i]
	if s := p.Solution; s != nil && s.Status == solver.Converged {
		q.Solve.From = s
	}
	return q, nil
}
