package answer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// around are the errors around a left-out error in units of the target, NaN for none.
func (p *part) around(leftOut float64) *report.Errors {
	if p.study.classes() || p.study.full[p.number] == nil {
		unknown := report.Number(math.NaN())
		return &report.Errors{Apparent: unknown, NoInformation: unknown, Err632: unknown, Err632Plus: unknown}
	}
	unit := p.model.Unit
	scaled := func(v []float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), unit, v) }
	e := solver.Combine632(leftOut, p.study.Test, scaled(p.model.Y),
		scaled(p.perExample(p.study.full[p.number])),
		p.model.Set.Weights)
	return &report.Errors{Apparent: report.Number(e.Apparent), NoInformation: report.Number(e.NoInformation),
		Err632: report.Number(e.Err632), Err632Plus: report.Number(e.Err632Plus)}
}

// judge quotes a left-out error, compares it with a baseline, and ranks labels by their left-out predictions,
// nil if these are unknown. monteCarlo is its standard error over resamples; nil: none.
func (p *part) judge(a *report.Answer, left *fits.TestError, outOfBag []float64, monteCarlo *float64) {
	a.Quality = p.quality(left.Test, left.Error, left.Examples, outOfBag)
	raiseSE(a.Quality, left, p.model.Set.Groups)
	var se *report.Number
	if monteCarlo != nil {
		se = report.NumberOf(*monteCarlo)
	}
	quote := report.NewQuote(left.Test.Name(), report.Number(left.Error), a.Quality, se)
	a.Quote, a.Examples.Each, a.OutOfBag = &quote, left.Examples, outOfBag
}

// mostRaised bounds the standard error by the jackknife, relative to the spread over examples. Of errors with
// steps, as of few labels, the jackknife is too large; the standard deviation over tables was at most 1.4
// times the spread.
const mostRaised = 2

// raiseSE makes the standard error over data sets that of the jackknife where this is larger: the spread over
// examples lacks what the training rows, which they share, contribute. It is for single rows, not groups.
func raiseSE(q *report.Quality, left *fits.TestError, groups []int) {
	if q != nil && groups == nil && left.DataSE > float64(q.ExampleSE) {
		q.ExampleSE = min(report.Number(left.DataSE), mostRaised*q.ExampleSE)
	}
}

// quality compares a left-out error with a baseline. Its standard error is over groups, if there are any.
func (p *part) quality(test loss.Test, mean float64, perExample, outOfBag []float64) *report.Quality {
	q := calibration.NewQuality(test, report.Number(mean), p.targets(), perExample, p.model.Set.Weights,
		p.labelled())
	if q != nil {
		q.ExampleSE, q.Effective = calibration.StandardError(perExample, p.model.Set.Weights,
			p.model.Set.Groups)
	}
	if q != nil && p.labels() {
		calibration.Rank(q, outOfBag, p.model.Y, p.model.Set.Weights)
	}
	return q
}

// redraws reports whether resamples of a scheme stand for other data: draws with replacement do. Folds, and
// subsamples without replacement, share most rows, and real weights leave none out.
func redraws(scheme resample.Scheme) bool {
	return slices.Contains([]string{resample.Poisson{}.Name(), resample.Multinomial{}.Name()}, scheme.Name())
}

// addStability adds how much left-out predictions change with the resample.
func (p *part) addStability(a *report.Answer, scheme resample.Scheme, r *fits.Averages) {
	if !redraws(scheme) {
		return
	}
	if p.labels() {
		a.Stability = meanKnown(r.Disagreement, p.model.Set.Weights)
	} else if a.Stability = meanKnown(r.OutOfBagVar, p.model.Set.Weights); a.Stability != nil {
		*a.Stability = report.Number(math.Sqrt(math.Max(0, float64(*a.Stability))))
	}
}

// meanKnown is the weighted mean of the values that are known, nil if none is.
func meanKnown(values, weights []float64) *report.Number {
	sum, total := 0.0, 0.0
	for i, v := range values {
		if w := calibration.WeightOf(weights, i); isNumber(v) {
			sum, total = sum+w*v, total+w
		}
	}
	if total == 0 {
		return nil
	}
	return report.NumberOf(sum / total)
}

// measure are the requested metrics of left-out predictions, nil for none, and the reliability of their
// probabilities; nil if an example was never left out, or there are no probabilities.
func (p *part) measure(metrics []string, r *fits.Averages, of *Probabilities) (m *report.Metrics,
	reliability *report.Reliability) {
	var probability []float64
	if of != nil {
		probability = numbers(of.LeftOut)
		reliability = calibration.NewReliability(of.Method, probability, p.model.Y, p.model.Set.Weights)
	}
	if numbers(r.OutOfBag) != nil {
		m = p.metrics(metrics, p.targets(), p.model.Set.Weights, r.OutOfBag, probability,
			func(test loss.Test) []float64 { return testOf(r, test).Examples })
	}
	return m, reliability
}

// metrics are the requested metrics, nil for none, of mean predictions, probabilities of labels and expected
// losses.
func (p *part) metrics(wanted []string, y, weights, mean, probability []float64,
	expected func(loss.Test) []float64) *report.Metrics {
	if len(wanted) == 0 {
		return nil
	}
	if !p.labels() {
		mean = nil
	}
	m := calibration.NewMetrics(y, weights, expected, mean, probability)
	m.Only(wanted)
	return m
}

// numbers are values if all are known, else nil.
func numbers(values []float64) []float64 {
	if floats.HasNaN(values) {
		return nil
	}
	return values
}

// points are the averages at the examples.
func (p *part) points(r *fits.Averages) *report.Points {
	points := &report.Points{Mean: p.perExample(r.Mean), Variance: p.perExample(r.Variance),
		Error: r.Tests[0].Examples, MeanSE: p.perExample(r.MeanSE), VarianceSE: p.perExample(r.VarianceSE)}
	if p.labels() {
		points.Vote = p.perExample(r.Vote)
	}
	return points
}

// PerExample spreads the predictions of an exact fit of function k onto the examples, in units of the target.
func (s *Study) PerExample(k int, f []float64) []float64 {
	p := s.part(k)
	return p.inUnit(p.perExample(f[:s.Model.Sites()]))
}

// addQuantiles adds quantiles over resamples to the theory's points and the refined ones. place is the output
// of an exact fit, and law the law of its theory, at a point.
func addQuantiles(p *part, points *report.Points, refined *report.Refined, levels []float64,
	place func(int) int, law func(int) loss.Distribution) {
	lists := func(of func(point int) func(q float64) float64) []report.Numbers {
		lists := make([]report.Numbers, len(levels))
		for k := range lists {
			lists[k] = make([]float64, len(points.Mean))
		}
		linalg.Parallel(len(points.Mean), func(point int) {
			quantile := of(point)
			for k, q := range levels {
				lists[k][point] = quantile(q)*p.model.Unit + p.model.Function.Mean
			}
		})
		return lists
	}
	points.QuantileLevels, points.Quantiles = levels, lists(func(point int) func(q float64) float64 {
		return law(point).Quantile
	})
	if refined == nil || refined.Points == nil {
		return
	}
	refined.Points.QuantileLevels = levels
	refined.Points.Quantiles = lists(func(point int) func(q float64) float64 {
		values := p.exact.At(place(point))
		return func(q float64) float64 { return stat.Quantile(q, stat.Empirical, values, nil) }
	})
}

// Resampling describes the resampling of n examples, and its folds.
func Resampling(scheme resample.Scheme, n int) (r *report.Resampling, folds int) {
	r = &report.Resampling{
		Scheme: scheme.Name(), Ratio: scheme.Mean(),
		Distinct:        float64(n) * (1 - resample.ProbZero(scheme, 1)),
		Is632Applicable: solver.Is632Applicable(scheme),
	}
	if designed, ok := scheme.(resample.Designed); ok {
		r.Design, scheme, r.Distinct = designed.Design.String(), designed.Scheme, 0
		for i := range n {
			r.Distinct += 1 - resample.ProbAbsent(designed, i)
		}
	}
	if bayesian, ok := scheme.(resample.Bayesian); ok {
		r.Ratio = bayesian.Shape
	}
	if kfold, ok := scheme.(resample.KFold); ok {
		folds = kfold.Folds
	}
	return r, folds
}

// requireNumbers changes the status of an answer, and adds a warning, if errors or points are not finite.
func requireNumbers(status *string, f *report.Findings, points *report.Points, errors ...report.Number) {
	sum := 0.0
	if points != nil {
		sum = floats.Sum(points.Mean) + floats.Sum(points.Variance)
	}
	for _, e := range errors {
		sum += float64(e)
	}
	if report.Done(*status) && !isNumber(sum) {
		*status = solver.NumericalFailure.String()
		f.Add(report.NotNumbers.Check(sum, closer, "the answer is not all numbers: "+tooFarApart))
	}
}

const (
	tooFarApart = "targets, kernel and parameters of the loss are too many orders of magnitude apart"
	closer      = "take other units of the target, or parameters nearer to 1"
)

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Complete and cancelled are the statuses of answers in parts.
const (
	Complete  = "complete"
	Cancelled = "cancelled"
)

// wrap names the part of a study in an error.
func wrap(p *part, err error) error {
	if err == nil || !p.study.several() {
		return err
	}
	what := "target"
	if p.study.classes() {
		what = "class"
	}
	return fmt.Errorf("%s %s: %w", what, p.model.Function.Name, err)
}
