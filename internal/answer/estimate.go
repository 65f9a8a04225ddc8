package answer

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// defaultResamples is the number of resamples if none is given: without resamples a decision has no error.
const defaultResamples = 200

// Estimate is the answer at the examples: the theory's averages, refined by exact resamples.
func (s *Study) Estimate(ctx context.Context, q Question) (*report.Answer, error) {
	if g, ok := q.Scheme.(resample.Generated); ok {
		return s.generating(ctx, "estimate", g, nil, q, nil, nil)
	}
	switch {
	case s.classes() && (hasWeights(q.Scheme) || neverAbsent(q.Scheme, s.Model.Set.N())):
		return nil, errNoneLeftOut
	case s.classes():
		q.Resamples, q.Exact, q.NoPoints = max(2, cmp.Or(q.Resamples, defaultResamples)), Yes, true
	default:
		if err := s.fitFirst(ctx); err != nil {
			return nil, err
		}
	}
	if err := settle(ctx, s, &q); err != nil {
		return nil, err
	}
	a, err := s.each(ctx, joining{q.Scheme, q.Seed, s.Model.Set.Groups, q.Metrics},
		func(p *part, onFit OnFit) (*report.Answer, error) { return p.estimate(ctx, &q, onFit) })
	if err != nil || !q.Verdict {
		return a, err
	}
	s.caution(a)
	if err := addRisk(ctx, s, a, &q); err != nil {
		return a, err
	}
	s.addMeasure(ctx, a, q.Seed, q.Level)
	return a, nil
}

// begin is the head of an answer about resamples, with what is known of the model and of them.
func (p *part) begin(command string, scheme resample.Scheme) *report.Answer {
	a := &report.Answer{Command: command, Subject: p.about(), TestLoss: p.study.Test.Name()}
	a.Resampling, a.Folds = Resampling(scheme, p.model.Set.N())
	a.Examples.Weights = p.model.Set.Weights
	addModel(&a.Findings, p.model, scheme)
	return a
}

func (p *part) estimate(ctx context.Context, q *Question, onFit OnFit) (*report.Answer, error) {
	began, alone := time.Now(), q.Theory == No
	a := p.begin("estimate", q.Scheme)
	if !q.singly {
		if err := p.solve(ctx, q); err != nil {
			return nil, err
		}
		addSolution(&a.Findings, p.solution)
	}
	a.Errors, a.Quote = p.around(math.NaN()), &report.Quote{}
	if alone {
		a.TestError, a.BaggedError = report.NumberOf(math.NaN()), report.NumberOf(math.NaN())
		a.Convergence, a.Status = report.NoTheory(), Complete
	} else if err := addTheory(ctx, p, q, a); err != nil {
		return nil, err
	}
	a.Time = p.study.Times
	a.Time.Solve = time.Since(began).Seconds()
	if err := addExact(ctx, p, q, a, onFit); err != nil {
		return nil, err
	}
	switch {
	case alone && a.Refined == nil:
		return nil, cmp.Or(ctx.Err(), errOnlyExact)
	case alone && !resample.IsDependent(q.Scheme):
		a.Time.Theory = theoryCost(p.study, q.Scheme) * 1e-9 / float64(runtime.GOMAXPROCS(0))
	}
	if len(q.Quantiles) > 0 && a.Points != nil && !alone {
		addQuantiles(p, a, q.Quantiles, func(i int) int { return p.model.Site[i] },
			func(i int) loss.Distribution { return p.solution.Distribution(p.model.Site[i]) })
	}
	if hasWeights(q.Scheme) {
		withoutErrors(a)
	}
	if ctx.Err() != nil { // some exact resamples may be missing
		a.Status = Cancelled
	}
	return a, nil
}

func withoutErrors(a *report.Answer) {
	a.Quote = &report.Quote{Error: unknown, ErrorSE: unknown}
	a.TestError, a.BaggedError = report.NumberOf(math.NaN()), report.NumberOf(math.NaN())
	a.Errors.Err632, a.Errors.Err632Plus = unknown, unknown
	a.VoteError, a.Quality, a.Metrics, a.Calibration = nil, nil, nil, nil
	if p := a.Points; p != nil {
		p.Error, p.OOBMean, p.OOBVote = nil, nil, nil
	}
	a.Notes = append(slices.Clone(a.Notes),
		"every resample has all rows, with random weights: none is left out, so there is no error on new "+
			"rows; cv has it")
}

func addTheory(ctx context.Context, p *part, q *Question, a *report.Answer) (err error) {
	r := fits.OfTheory(p.solution, p.left, p.study.tests(q.Metrics)).In(p.model.Function)
	p.addConvergence(a)
	p.addAverages(a, q.Scheme, r, nil)
	var probabilities *Probabilities
	if p.labels() {
		if probabilities, err = ProbabilitiesOf(p.model, p.solution); err != nil {
			return err
		}
		a.AddROC(calibration.ROC(r.OutOfBag, p.model.Y, p.model.Set.Weights))
	}
	a.Metrics, a.Calibration = p.measure(q.Metrics, r, probabilities)
	if err := addJackknife(ctx, p, q, a); err != nil {
		return err
	}
	if !q.NoPoints {
		a.Points, a.Level = p.allPoints(r), q.Level
		if hasPosterior(p.model) {
			variances, err := p.solution.PosteriorVariances()
			if err != nil {
				return err
			}
			floats.Scale(p.model.Unit*p.model.Unit, variances)
			a.Points.Posterior = perExample(p, variances)
		}
		intervals, err := p.solution.PercentileIntervals(q.Level)
		if err != nil {
			return err
		}
		p.setIntervals(a.Points, perExample(p, intervals))
	}
	apparent := a.Apparent
	if p.study.classes() { // where it is not computed
		apparent = 0
	}
	requireNumbers(a, *a.TestError, apparent, *a.BaggedError)
	return nil
}

// addJackknife adds the jackknife's standard error if requested, or a warning if it cannot be computed.
func addJackknife(ctx context.Context, p *part, q *Question, a *report.Answer) error {
	if !report.HasMetric(q.Metrics, report.Jackknife) || a.Metrics == nil || p.study.classes() {
		return nil
	}
	influence, err := p.influence(ctx)
	if err == nil {
		a.Metrics.Jackknife, a.Examples.Influence = report.NumberOf(floats.Norm(influence, 2)), influence
	} else if ctx.Err() == nil {
		a.Add(notComputed("no jackknife: %v", err))
	}
	return ctx.Err()
}

// addExact adds the estimates from exact resamples, if there are any. Without the theory they are the answer.
func addExact(ctx context.Context, p *part, q *Question, a *report.Answer, onFit OnFit) error {
	alone := q.Theory == No
	if q.Exact == IfPossible && q.leavesOutFew() {
		return nil
	}
	if len(q.Quantiles) > 0 {
		onFit = p.exact.Add
	}
	r, err := p.refine(ctx, q, blas64.General{}, onFit, &a.Findings)
	if err != nil || r == nil {
		return err
	}
	if left := r.Tests[0]; !isNumber(left.Error) {
		a.Add(report.NotNumbers.Check(left.Error, closer,
			"the exact resamples gave no number to refine with: "+tooFarApart))
		return nil
	}
	exact := r.Averages.In(p.model.Function)
	left := &exact.Tests[0]
	a.Refined, _ = refined(p, r, exact, q)
	around := p.around(left.Error)
	a.Refined.Err632, a.Refined.Err632Plus = around.Err632, around.Err632Plus
	if len(a.Refined.Contradicts) > 0 && report.Done(a.Status) {
		a.Status = report.Contradicted
		a.Add(report.Contradicts.Check(float64(a.Refined.VarianceRatio),
			"quote the exact resamples, as the answer does", "exact resamples contradict the theory: %s",
			strings.Join(a.Refined.Contradicts, ", and ")))
	}
	p.judge(a, left, exact.OutOfBag, report.NumberOf(left.SE), p.model.Set.Groups)
	p.addStability(a, q.Scheme, exact)
	if alone && p.labels() {
		a.AddROC(calibration.ROC(exact.OutOfBag, p.model.Y, p.model.Set.Weights))
	}
	if q.NoPoints {
		return nil
	}
	a.Refined.Points = p.points(exact)
	if alone {
		if !p.labels() {
			a.Refined.Points.OOBMean = exact.OutOfBag
		}
		points := *a.Refined.Points
		points.Names, points.Target.Numbers = p.model.Set.RowNames, p.targets()
		a.Points = &points
	}
	return nil
}

// caution adds the checks of left-out errors, of each of several targets.
func (s *Study) caution(a *report.Answer) {
	for _, name := range a.Names {
		one := a.Targets[name]
		one.Add(judgement(one.Quote, nil, one.Quality, s.Model.Set)...)
		a.AddOf(name, &one.Findings)
	}
	if a.Names == nil && a.Quote != nil {
		a.Add(judgement(a.Quote, nil, a.Quality, s.Model.Set)...)
	}
}
