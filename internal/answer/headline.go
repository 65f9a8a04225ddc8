package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// trains reports whether the loss has exact fits.
func (s *Study) trains() bool {
	_, proximal := s.Model.Loss.(loss.Proximal)
	return proximal
}

// missing says in an answer why a part is not computed, if so. When ctx has ended, the answer so far stays.
func missing(ctx context.Context, a *report.Answer, err error, what string) bool {
	switch {
	case ctx.Err() != nil:
		a.Status = Cancelled
		return true
	case err != nil:
		a.Add(notComputed("%s: %v", what, err))
	}
	return err != nil
}

// addRisk quotes the error of the model of all rows: of a sample at rows outside it, else by risks. It leaves
// the quote of the left-out error where only the theory was asked, and for blocks of time.
func addRisk(ctx context.Context, s *Study, a *report.Answer, q *Question) error {
	designed, _ := q.Scheme.(resample.Designed)
	switch {
	case s.Others != nil:
		return addLearningCurve(ctx, s, a, q)
	case designed.Design.Block > 0:
		a.Add(chosenBy("left-out blocks", s.Model.Chosen, "choose in each fold of cv: Folds.Choose")...)
	case a.Refined != nil && s.trains():
		risks, err := s.corrected(ctx, q.Seed)
		s.quote(ctx, a, risks, err, q.Level, false)
	}
	return nil
}

const CorrectsChoice = "choice"

// corrected are the risks, corrected for a choice: of labels by probabilities if the measure has these.
func (s *Study) corrected(ctx context.Context, seed uint64) (risks []*risk, err error) {
	choices := []string{}
	switch {
	case s.choosesAgain() && s.scalesChosen() && !s.Measure.ByProbability():
		choices = []string{"length scales"}
	case s.choosesAgain():
		choices = []string{CorrectsChoice}
	}
	if s.Measure.ByProbability() {
		x, err := s.measured(ctx, seed)
		if err != nil {
			return nil, err
		}
		x.wrong.as.CorrectedFor = choices
		return []*risk{x.wrong}, nil
	}
	risks, err = s.risks(ctx, seed)
	if err == nil && s.choosesAgain() {
		var a *chosenAgain
		if a, err = s.chooseAgain(ctx, seed); err == nil {
			s.correct(risks, a)
		}
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	for _, x := range risks {
		x.error -= math.Max(0, math.Min(x.error/2, x.fall))
		x.as.CorrectedFor = choices
	}
	return risks, nil
}

func (s *Study) scalesChosen() bool {
	spec := &s.Model.Spec
	return len(spec.Kernel.LengthScale) > 1 && slices.Contains(spec.Chosen, "length-scale")
}

// trained describes how the risk was found.
func (x *risk) trained() *report.Trained {
	t := x.as
	if len(t.CorrectedFor) > 0 {
		t.Uncorrected = report.NumberOf(x.plain)
	}
	return &t
}

// Headline is the error of the model that training on all rows gives: of a sample at rows outside it. It is
// nil for losses without exact fits.
func (s *Study) Headline(ctx context.Context, seed uint64, level float64) (h *report.Headline, err error) {
	if !s.trains() {
		return nil, nil
	}
	if s.Others == nil {
		risks, err := s.corrected(ctx, seed)
		if err != nil {
			return nil, err
		}
		return s.headline(risks, level), nil
	}
	in := s.Others.Head(heldOut)
	each, err := partLosses(ctx, s, 0, 1, in)
	if err != nil {
		return nil, err
	}
	return s.headline([]*risk{riskOf(in, each)}, level), nil
}

// headline has the risks with intervals of a level, and the checks of these.
func (s *Study) headline(risks []*risk, level float64) (h *report.Headline) {
	var all report.Findings
	for k, x := range risks {
		quote := x.quoteOf(s.Test.Name(), level)
		one := &report.Headline{Quote: &quote, Trained: x.trained(), Quality: s.qualityOf(x, k)}
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
		name := s.Model.Set.Columns[k-1].Name
		h.Targets[name] = one
		all.AddOf(name, &report.Findings{Checks: said})
	}
	h.Said = all.Checks
	return h
}

// qualityOf compares risk k with the best constant; nil for the mean of several targets.
func (s *Study) qualityOf(x *risk, k int) *report.Quality {
	set := x.of.set
	switch {
	case k == 0 && len(s.Model.Set.Columns) > 1:
		return nil
	case s.classes():
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
	if !models[0].trains() || !models[1].trains() {
		return nil, all, nil
	}
	var x [2]*risk
	for k, s := range models {
		risks, err := s.corrected(ctx, seed)
		if err != nil {
			return nil, all, err
		}
		if all[k], x[k] = s.headline(risks, level), risks[0]; s.Measure.IsError() {
			continue
		}
		m, err := s.measured(ctx, seed)
		if err != nil {
			return nil, all, err
		}
		x[k] = m.judged
	}
	return x[0].less(x[1]).difference(level), all, nil
}

// quote quotes the risks in an answer, or, if centred, its left-out error with the risk's standard error.
func (s *Study) quote(ctx context.Context, a *report.Answer, risks []*risk, err error, level float64,
	centred bool) {
	if missing(ctx, a, err, "the model of all rows is not cross-validated") {
		return
	}
	for k, x := range risks {
		of, name := a, ""
		if k > 0 {
			name = a.Names[k-1]
			of = a.Targets[name]
		}
		if of.Trained = x.trained(); centred {
			x.error = float64(of.Error)
		}
		// of the left-out error
		of.Drop([]string{report.NoBetter.Code, report.Unequal.Code, report.Imbalance.Code})
		x.quote(of, level)
		quality := of.Quality
		if k == 0 && a.Names != nil { // a share of the variance
			quality = nil
		}
		if of.Add(judgement(of.Quote, of.Trained, quality, s.Model.Set)...); k > 0 {
			a.AddOf(name, &report.Findings{Checks: of.Checks})
		}
	}
}

// quote makes the risk the quoted error of an answer, with an interval of a level.
func (x *risk) quote(a *report.Answer, level float64) {
	left, quote := a.Quote, x.quoteOf(a.TestLoss, level)
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
	if a.Quality == nil || a.Status != Complete || !s.trains() || s.Model.Set.N() > mostPaired {
		return
	}
	find := s.corrected
	if v.Corrects == CorrectsChoice {
		find = s.risks
	}
	risks, err := find(ctx, v.Seed)
	if v.Choose != nil && err == nil {
		for _, x := range risks {
			x.as.CorrectedFor = append(slices.Clone(x.as.CorrectedFor), v.Corrects)
			x.as.ErrorFolds, x.as.Partitions = a.Folds, a.Repeats
		}
		plain := v
		plain.Choose, plain.Permutations, plain.Metrics, plain.ErrorsAlone = nil, 0, nil, true
		var without *report.Answer
		if without, err = s.CrossValidate(ctx, plain); err == nil {
			s.correct(risks, &chosenAgain{model: leftOut{losses: lossesOf(without)},
				chosen: leftOut{losses: lossesOf(a)}, folds: a.Folds})
		}
	}
	s.quote(ctx, a, risks, err, level, !s.Measure.ByProbability() &&
		(len(s.Model.Spec.Chosen) == 0 || v.Corrects == CorrectsChoice))
}

func lossesOf(a *report.Answer) [][]float64 {
	all := [][]float64{a.Examples.Each}
	for _, name := range a.Names {
		all = append(all, a.Targets[name].Examples.Each)
	}
	return all
}
