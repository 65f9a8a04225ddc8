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
		return &report.Errors{Apparent: unknown, NoInformation: unknown, Err632: unknown, Err632Plus: unknown}
	}
	e := solver.Combine632(leftOut, p.study.Test, p.targets(),
		p.inUnit(perExample(p, p.study.full[p.number])), p.model.Set.Weights)
	return &report.Errors{Apparent: report.Number(e.Apparent), NoInformation: report.Number(e.NoInformation),
		Err632: report.Number(e.Err632), Err632Plus: report.Number(e.Err632Plus)}
}

// addAverages adds the errors of averages; se is the left-out one's over resamples, nil for none.
func (p *part) addAverages(a *report.Answer, scheme resample.Scheme, r *fits.Averages,
	se *report.Number) {
	left := &r.Tests[0]
	a.TestError, a.BaggedError, a.Errors = report.NumberOf(left.Error), report.NumberOf(left.BaggedError),
		p.around(left.Error)
	if p.labels() {
		a.VoteError = report.NumberOf(r.VoteError)
	}
	p.judge(a, left, r.OutOfBag, se, p.model.Set.Groups)
	p.addStability(a, scheme, r)
}

// judge quotes a left-out error, compares it with a baseline, and ranks labels by their left-out predictions,
// nil if these are unknown. monteCarlo is its standard error over resamples, nil for none; that over data
// sets is over groups, nil for examples.
func (p *part) judge(a *report.Answer, left *fits.TestError, outOfBag []float64,
	monteCarlo *report.Number, group []int) {
	a.Quality = p.quality(left.Test, left.Error, left.Examples, outOfBag, group)
	raiseSE(a.Quality, left, group)
	quote := report.NewQuote(left.Test.Name(), report.Number(left.Error), a.Quality, monteCarlo)
	a.Quote, a.Examples.Each, a.OutOfBag = &quote, left.Examples, outOfBag
}

// mostRaised bounds the standard error by the jackknife, relative to the spread over examples. Of errors with
// steps, as of few labels, the jackknife is too large; the standard deviation over tables was at most 1.4
// times the spread.
const mostRaised = 2

// raiseSE makes the standard error over data sets the jackknife's where this is larger: the spread over
// examples lacks what the training rows, which they share, contribute. It is for single rows, not groups.
func raiseSE(q *report.Quality, left *fits.TestError, groups []int) {
	if q != nil && groups == nil && left.DataSE > float64(q.ExampleSE) {
		q.ExampleSE = min(report.Number(left.DataSE), mostRaised*q.ExampleSE)
	}
}

// quality compares a left-out error with a baseline. Its standard error is over groups, if there are any.
func (p *part) quality(test loss.Test, mean float64, perExample, outOfBag []float64,
	group []int) *report.Quality {
	q := calibration.NewQuality(test, report.Number(mean), p.targets(), perExample, p.model.Set.Weights,
		group, p.labelled())
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
	var known, of []float64
	for i, v := range values {
		if isNumber(v) {
			known, of = append(known, v), append(of, calibration.WeightOf(weights, i))
		}
	}
	if known == nil {
		return nil
	}
	return report.NumberOf(stat.Mean(known, of))
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
			func(test loss.Test) []float64 { return r.Test(test.Name()).Examples })
	}
	return m, reliability
}

// metrics are the wanted metrics of mean predictions, probabilities and expected losses; nil for none.
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

func (p *part) points(r *fits.Averages) *report.Points {
	points := &report.Points{Mean: perExample(p, r.Mean), Variance: perExample(p, r.Variance),
		Error: r.Tests[0].Examples, MeanSE: perExample(p, r.MeanSE), VarianceSE: perExample(p, r.VarianceSE)}
	if p.labels() {
		points.Vote = perExample(p, r.Vote)
	}
	return points
}

// allPoints are points with the examples' names and targets, and with averages over resamples that lack them.
func (p *part) allPoints(r *fits.Averages) *report.Points {
	points := p.points(r)
	points.Names, points.Target.Numbers, points.OOBMean = p.model.Set.RowNames, p.targets(), r.OutOfBag
	if p.labels() {
		points.OOBVote = r.OutOfBagVote
	}
	return points
}

// PerExample spreads the predictions of an exact fit of function k onto the examples, in units of the target.
func (s *Study) PerExample(k int, f []float64) []float64 {
	p := s.part(k)
	return p.inUnit(perExample(p, f))
}

// quantileAt has the quantile function of a point.
type quantileAt = func(point int) func(q float64) float64

func quantilesOf(law func(point int) loss.Distribution) quantileAt {
	return func(point int) func(q float64) float64 { return law(point).Quantile }
}

// replicated has the quantiles over exact fits, whose output for a point is at place.
func (p *part) replicated(place func(point int) int) quantileAt {
	return func(point int) func(q float64) float64 {
		values := p.exact.At(place(point))
		return func(q float64) float64 { return stat.Quantile(q, stat.Empirical, values, nil) }
	}
}

// addQuantiles adds quantiles over resamples to the points of an answer, of the theory by its laws and
// refined. place is the output of an exact fit at a point.
func addQuantiles(p *part, a *report.Answer, levels []float64, place func(point int) int,
	law func(point int) loss.Distribution) {
	n := len(a.Points.Mean)
	a.Points.QuantileLevels, a.Points.Quantiles = levels, p.quantiles(n, levels, quantilesOf(law))
	if a.Refined != nil && a.Refined.Points != nil {
		of := a.Refined.Points
		of.QuantileLevels, of.Quantiles = levels, p.quantiles(n, levels, p.replicated(place))
	}
}

// quantiles are, by level, the quantiles at n points in units of the target.
func (p *part) quantiles(n int, levels []float64, at quantileAt) []report.Numbers {
	lists := make([]report.Numbers, len(levels))
	for k := range lists {
		lists[k] = make([]float64, n)
	}
	linalg.Parallel(n, func(point int) {
		quantile := at(point)
		for k, q := range levels {
			lists[k][point] = quantile(q)*p.model.Unit + p.model.Function.Mean
		}
	})
	return lists
}

// between are the quantiles at n points that have a level between them.
func (p *part) between(n int, level float64, at quantileAt) (lower, upper []float64) {
	ends := p.quantiles(n, []float64{(1 - level) / 2, (1 + level) / 2}, at)
	return ends[0], ends[1]
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

// requireNumbers changes the status of an answer, and adds a warning, if its points or errors are not finite.
func requireNumbers(a *report.Answer, errors ...report.Number) {
	sum := 0.0
	if a.Points != nil {
		sum = floats.Sum(a.Points.Mean) + floats.Sum(a.Points.Variance)
	}
	for _, e := range errors {
		sum += float64(e)
	}
	if report.Done(a.Status) && !isNumber(sum) {
		a.Status = solver.NumericalFailure.String()
		a.Add(report.NotNumbers.Check(sum, closer, "the answer is not all numbers: "+tooFarApart))
	}
}

const (
	tooFarApart = "targets, kernel and parameters of the loss are too many orders of magnitude apart"
	closer      = "take other units of the target, or parameters nearer to 1"
)

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

const (
	Complete  = "complete"
	Cancelled = "cancelled"
)

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
