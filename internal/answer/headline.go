package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// addRisk quotes the error of the model of all rows: of a sample at rows outside it, else by risks. It leaves
// the quote of the left-out error where only the theory was asked, and for blocks of time.
func addRisk(ctx context.Context, s *Study, a *report.Answer, q *Question) error {
	_, proximal := s.Model.Loss.(loss.Proximal)
	designed, _ := q.Scheme.(resample.Designed)
	switch {
	case s.Others != nil:
		return addLearningCurve(ctx, s, a, q)
	case designed.Design.Block > 0:
		a.Add(chosenBy("left-out blocks", s.Model.Chosen, "choose in each fold of cv: Folds.Choose")...)
	case a.Refined != nil && proximal:
		c, err := s.corrected(ctx, q.Seed)
		s.quote(ctx, a, c, err, q.Level, false)
	}
	return nil
}

// CorrectsChoice is the word for a choice that is made again.
const CorrectsChoice = "choice"

// corrected are risks that are corrected for a choice, and what that was of, in words.
type corrected struct {
	risks []*risk
	by    Validation
	of    []string
}

// corrected are the risks with the correction for a choice. A measure that has labels by probabilities has
// the risk of these.
func (s *Study) corrected(ctx context.Context, seed uint64) (c corrected, err error) {
	c.of = []string{}
	if s.Measure.ByProbability() {
		x, err := s.measured(ctx, seed)
		if err != nil {
			return c, err
		}
		c.risks, c.by = []*risk{x.wrong}, x.by
		if s.choosesAgain() {
			c.of = append(c.of, CorrectsChoice)
		}
		return c, nil
	}
	if c.risks, c.by, err = s.risks(ctx, seed); err != nil {
		return c, cmp.Or(ctx.Err(), err)
	}
	if s.choosesAgain() {
		c.of = append(c.of, s.choiceOf())
		a, err := s.chooseAgain(ctx, seed)
		if err != nil {
			return c, cmp.Or(ctx.Err(), err)
		}
		s.correct(c.risks, a)
	}
	for _, x := range c.risks {
		x.error -= math.Max(0, math.Min(x.error/2, x.fall))
	}
	return c, ctx.Err()
}

// scalesChosen reports whether a length scale for each feature was chosen.
func (s *Study) scalesChosen() bool {
	spec := &s.Model.Spec
	return len(spec.Kernel.LengthScale) > 1 && slices.Contains(spec.Chosen, "length-scale")
}

// choiceOf says what was chosen.
func (s *Study) choiceOf() string {
	if s.scalesChosen() {
		return "length scales"
	}
	return CorrectsChoice
}

// trained describes how risk k was found.
func (c *corrected) trained(k int) *report.Trained {
	t := &report.Trained{CorrectedFor: c.of, ErrorFolds: c.by.Folds, Partitions: c.by.Repeats}
	if len(c.of) > 0 {
		t.Uncorrected = report.NumberOf(c.risks[k].plain)
	}
	return t
}

// Headline is the error of the model that training on all rows gives: of a sample at rows outside it. It is
// nil for losses without exact fits.
func (s *Study) Headline(ctx context.Context, seed uint64, level float64) (h *report.Headline, err error) {
	if _, proximal := s.Model.Loss.(loss.Proximal); !proximal {
		return nil, nil
	}
	set, c := s.Model.Set, corrected{of: []string{}}
	if s.Others != nil {
		set = s.Others.Head(heldOut)
		each, err := partLosses(ctx, s, 0, 1, set)
		if err != nil {
			return nil, err
		}
		se, _ := calibration.StandardError(each, set.Weights, set.Groups)
		c.risks = []*risk{{error: stat.Mean(each, set.Weights), se: float64(se), each: each}}
	} else if c, err = s.corrected(ctx, seed); err != nil {
		return nil, err
	}
	return c.headline(s, set, level), nil
}

// headline has the risks as errors of rows of a set, with intervals of a level, and the checks of these.
func (c *corrected) headline(s *Study, set *dataset.Set, level float64) (h *report.Headline) {
	var all report.Findings
	for k, x := range c.risks {
		quote := x.quoteOf(s.Test.Name(), set, level)
		one := &report.Headline{Quote: &quote, Trained: c.trained(k), Quality: s.qualityOf(x, k, set)}
		one.ErrorLevel = level
		said := judgement(one.Quote, one.Trained, one.Quality, s.Model.Set)
		if k == 0 {
			h = one
			all.Add(said...)
			continue
		}
		if h.Targets == nil {
			h.Targets = map[string]*report.Headline{}
		}
		name := set.Columns[k-1].Name
		h.Targets[name] = one
		all.AddOf(name, &report.Findings{Checks: said})
	}
	h.Said = all.Checks
	return h
}

// qualityOf compares risk k on rows of a set with the best constant; nil for the mean of several targets.
func (s *Study) qualityOf(x *risk, k int, set *dataset.Set) *report.Quality {
	if k == 0 && len(s.Model.Set.Columns) > 1 {
		return nil
	}
	if s.classes() {
		q := &report.Quality{}
		q.ExampleSE, q.Effective = calibration.StandardError(x.each, set.Weights, set.Groups)
		ofClasses(q, set, x.each)
		return q
	}
	p := s.part(max(0, k-1))
	q := calibration.NewQuality(s.Test, report.Number(x.error), p.targetsOf(set), x.each, set.Weights,
		set.Groups, p.labelled())
	if q != nil && x.field != nil {
		calibration.Rank(q, x.field, s.Model.Y, set.Weights)
	}
	return q
}

// CompareTrained compares the errors of the models that training on all rows gives: the first one's less the
// second's, by the same folds of the same rows, and both. They are nil if a loss has no exact fits. The
// difference is that of the measure's losses if the models have one.
func CompareTrained(ctx context.Context, models [2]*Study, seed uint64, level float64) (
	d *report.Difference, all [2]*report.Headline, err error) {
	var c [2]corrected
	set := models[0].Model.Set
	for k, s := range models {
		if _, proximal := s.Model.Loss.(loss.Proximal); !proximal {
			return nil, all, nil
		}
		if c[k], err = s.corrected(ctx, seed); err != nil {
			return nil, all, err
		}
	}
	var x [2]*risk
	by := c[0].by
	for k, s := range models {
		all[k], x[k] = c[k].headline(s, set, level), c[k].risks[0]
		if s.Measure.IsError() {
			continue
		}
		m, err := s.measured(ctx, seed)
		if err != nil {
			return nil, all, err
		}
		x[k], by = m.judged, m.by
	}
	folds, each, err := partitions(&by, models[0])
	if err != nil {
		return nil, all, err
	}
	return x[0].less(x[1], set, folds, each).difference(set, level), all, nil
}

// less is the risk of a model less another one's, by the same folds, each of a partition: the standard error
// is the one of the paired losses.
func (x *risk) less(y *risk, set *dataset.Set, folds [][]int, each int) *risk {
	d := &risk{spread: x.spread}
	minus := func(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }
	var outer [][]float64
	for r := range folds {
		outer = append(outer, minus(x.outer[r], y.outer[r]))
		if x.inner == nil || y.inner == nil {
			continue
		}
		d.inner = append(d.inner, make([][]float64, each))
		for l := range each {
			d.inner[r][l] = minus(x.inner[r][l], y.inner[r][l])
		}
	}
	d.average(set, folds, each, outer)
	if d.error = x.error - y.error; x.again == nil && y.again == nil {
		return d
	}
	off := make([]float64, set.N())
	for i, again := range [][]float64{x.again, y.again} {
		if again != nil {
			floats.AddScaled(off, float64(1-2*i), again)
		}
	}
	if d.foldOf = x.foldOf; d.foldOf == nil {
		d.foldOf = y.foldOf
	}
	d.addSpread(off, set)
	return d
}

// addSpread adds the standard error of a mean over the rows to a risk's: over folds, if that is more
// and they are enough to tell, because a choice has one effect on all rows of its fold. Few folds leave few
// degrees of freedom (Welch and Satterthwaite).
func (x *risk) addSpread(each []float64, set *dataset.Set) {
	const enough = 5
	se, _ := calibration.StandardError(each, set.Weights, set.Groups)
	over, folds := calibration.StandardError(each, set.Weights, x.foldOf)
	spread := max(se, over)
	if x.foldOf == nil || folds < enough {
		spread = se
	}
	total := math.Hypot(x.se, float64(spread))
	if spread > se {
		x.freedom = (folds - 1) * math.Pow(total/float64(over), 4)
	}
	x.se = total
}

// difference is a difference of risks with its interval.
func (x *risk) difference(set *dataset.Set, level float64) *report.Difference {
	freedom := calibration.Effective(set.N(), set.Weights, set.Groups) - 1
	freedom = math.Min(freedom, cmp.Or(x.degrees(set, true), freedom))
	d := calibration.Student(x.error, x.se, math.Max(1, freedom), level)
	if d.By = "examples"; x.inner != nil {
		d.By = "nested folds"
	}
	return d
}

// quote quotes the risks in an answer, or, if centred, its left-out error with the standard error of the
// risk.
func (s *Study) quote(ctx context.Context, a *report.Answer, c corrected, err error, level float64,
	centred bool) {
	switch {
	case ctx.Err() != nil: // the answer so far stays
		a.Status = Cancelled
		return
	case err != nil:
		a.Add(notComputed("the model of all rows is not cross-validated: %v", err))
		return
	}
	for k, x := range c.risks {
		of, name := a, ""
		if k > 0 {
			name = a.Names[k-1]
			of = a.Targets[name]
		}
		if of.Trained = c.trained(k); centred {
			x.error = float64(of.Error)
		}
		// of the left-out error
		of.Drop([]string{report.NoBetter.Code, report.Unequal.Code, report.Imbalance.Code})
		x.quote(of, s.Model.Set, level)
		quality := of.Quality
		if k == 0 && a.Names != nil { // a share of the variance
			quality = nil
		}
		of.Add(judgement(of.Quote, of.Trained, quality, s.Model.Set)...)
		if k > 0 {
			a.AddOf(name, &report.Findings{Checks: of.Checks})
		}
	}
}

// degrees are the degrees of freedom of the standard error, 0 for many: the fewest of the degrees of a spread
// over folds (addSpread), of the groups, and of losses without a bound of their law.
func (x *risk) degrees(set *dataset.Set, unbounded bool) float64 {
	freedom := cmp.Or(x.freedom, math.Inf(1))
	if x.inner != nil {
		freedom = min(freedom, calibration.NestedFreedom)
	}
	if set.Groups != nil {
		units := calibration.Effective(set.N(), set.Weights, set.Groups)
		freedom = math.Min(freedom, math.Max(1, units-1))
	}
	if unbounded {
		freedom = math.Min(freedom, calibration.Freedom(x.each, set.Weights, set.Groups))
	}
	if math.IsInf(freedom, 1) {
		return 0
	}
	return freedom
}

// quoteOf is the quote of a risk, with an interval of a level.
func (x *risk) quoteOf(testLoss string, set *dataset.Set, level float64) report.Quote {
	units := calibration.Effective(set.N(), set.Weights, set.Groups)
	quote := report.NewQuote(testLoss, report.Number(x.error), &report.Quality{
		ExampleSE: report.Number(x.se), Effective: units}, nil)
	share := testLoss == (loss.ZeroOne{}).Name()
	freedom := x.degrees(set, !share)
	lower, upper := calibration.ErrorInterval(x.error, x.se, level, freedom)
	if share {
		rows := calibration.Effective(set.N(), set.Weights, nil)
		lower, upper = calibration.ShareInterval(x.error, x.se, rows, units, level, freedom)
	}
	quote.Lower, quote.Upper = report.NumberOf(lower), report.NumberOf(upper)
	return quote
}

// quote makes the risk the quoted error of an answer, with an interval of a level.
func (x *risk) quote(a *report.Answer, set *dataset.Set, level float64) {
	left, quote := a.Quote, x.quoteOf(a.TestLoss, set, level)
	a.OfResamples, a.ErrorLevel = &report.OfResamples{LeftOutError: left.Error,
		LeftOutErrorSE: left.ErrorSE}, level
	quote.MonteCarloSE, a.Quote = left.MonteCarloSE, &quote
	if q := a.Quality; q != nil && q.RSquared != nil {
		q.RSquared = report.NumberOf(1 - x.error/float64(q.Baseline))
		q.RMSE = report.NumberOf(math.Sqrt(x.error))
	}
}

// AddInterval adds to the answer of loo, or of cv by v, the interval of the error of the model of all rows.
// If the same rows have chosen the model, that error, corrected for the choice, becomes the quoted one,
// unless the folds of v choose again.
func (s *Study) AddInterval(ctx context.Context, a *report.Answer, v Validation, level float64) {
	_, proximal := s.Model.Loss.(loss.Proximal)
	if a.Quality == nil || a.Status != Complete || !proximal || s.Model.Set.N() > mostPaired {
		return
	}
	var c corrected
	var err error
	centred := !s.Measure.ByProbability() && (len(s.Model.Spec.Chosen) == 0 || v.Corrects == CorrectsChoice)
	if v.Corrects == CorrectsChoice {
		c.risks, c.by, err = s.risks(ctx, v.Seed)
	} else {
		c, err = s.corrected(ctx, v.Seed)
	}
	if v.Choose != nil && err == nil {
		c.of = append(c.of, v.Corrects)
		c.by.Folds, c.by.Repeats = a.Folds, a.Repeats
		plain := v
		plain.Choose, plain.Permutations, plain.Metrics, plain.ErrorsAlone = nil, 0, nil, true
		var without *report.Answer
		if without, err = s.CrossValidate(ctx, plain); err == nil {
			s.correct(c.risks, &chosenAgain{model: leftOut{losses: lossesOf(without)},
				chosen: leftOut{losses: lossesOf(a)}, folds: a.Folds})
		}
	}
	s.quote(ctx, a, c, err, level, centred)
}

// lossesOf are the losses of the rows by all judges.
func lossesOf(a *report.Answer) [][]float64 {
	all := [][]float64{a.Examples.Each}
	for _, name := range a.Names {
		all = append(all, a.Targets[name].Examples.Each)
	}
	return all
}
