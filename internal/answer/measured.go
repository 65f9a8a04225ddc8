package answer

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
)

// measuredPartitions is the largest number of partitions into folds over which a measure is averaged.
const measuredPartitions = 4

// measurement is what the study's measure is on rows that exact fits without each of ten folds leave out: the
// risk of its losses, and of the labels.
type measurement struct{ judged, wrong *risk }

var errFewOfClass = errors.New("a class has fewer than two rows")

// addMeasure adds the study's measure of the model of all rows, with an interval. Where the measure has
// labels by probabilities it says from which one on.
func (s *Study) addMeasure(ctx context.Context, a *report.Answer, seed uint64, level float64) {
	if s.Measure.IsError() || ctx.Err() != nil {
		return
	} else if !s.trains() || s.Model.Set.N() > leftOutRows {
		a.Add(notComputed("no measure by %v: it takes exact fits, of at most %d rows", s.Measure,
			leftOutRows))
		return
	}
	var err error
	a.Measured, err = s.Measured(ctx, seed, level)
	if missing(ctx, a, err, "no measure by "+s.Measure.String()) || !s.Measure.ByProbability() {
		return
	}
	if a.Threshold = report.NumberOf(s.Measure.Threshold()); a.Quality != nil {
		a.Quality.Balanced = report.NumberOf(calibration.Balanced(s.measurement.wrong.each, s.Model.Y,
			s.Model.Set.Weights))
		a.Drop([]string{report.Imbalance.Code})
		a.Add(imbalance(a.Quality, s.Model.Set)...)
	}
}

// Measured is what the model of all rows is expected to have on new rows by the study's measure, corrected
// for a choice, with an interval of a level; nil if the measure is the error.
func (s *Study) Measured(ctx context.Context, seed uint64, level float64) (*report.Measured, error) {
	if s.Measure.IsError() {
		return nil, nil
	}
	x, err := s.measured(ctx, seed)
	if err != nil {
		return nil, err
	}
	m, of, lower, upper := s.Measure, x.judged, math.NaN(), math.NaN()
	if of.hasInterval() {
		freedom := of.degrees(m.Name == calibration.ByCost || m.Name == calibration.ByLogLoss)
		lower, upper = m.Interval(of.error, of.se, float64(s.Model.Set.N()), of.units(), level, freedom)
	}
	return &report.Measured{By: m.String(), Value: report.Number(m.Value(of.error)),
		SE: report.Number(of.se), Lower: report.Number(lower), Upper: report.Number(upper)}, nil
}

// measured is the measurement by folds from a seed. A choice that is made again corrects it (chooseAgain).
// What the training rows contribute to standard errors is in proportion to what they contribute to the one
// of the error of signs (calibration.NestedError).
func (s *Study) measured(ctx context.Context, seed uint64) (*measurement, error) {
	if x := s.measurement; x != nil && x.judged.of.v.Seed == seed {
		return x, nil
	}
	f, err := s.folded(s.measuredValidation(seed))
	if err != nil {
		return nil, err
	}
	wider, err := s.wider(ctx, seed)
	if err != nil {
		return nil, err
	}
	x, err := s.measuredBy(ctx, f, wider)
	if err != nil {
		return nil, err
	}
	if s.choosesAgain() {
		a, err := s.chooseAgain(ctx, seed)
		if err != nil {
			return nil, err
		}
		for k, to := range []*risk{x.judged, x.wrong} { // as correct does the risks
			more := floats.SubTo(make([]float64, len(to.each)), a.chosen.measured[k], a.model.measured[k])
			to.add(more, ofAllRows(a.folds), a.foldOf)
		}
	}
	s.measurement = x
	return x, nil
}

// measuredValidation are folds for a measure. Ranks of folds with other shares of the classes differ.
func (s *Study) measuredValidation(seed uint64) Validation {
	v := riskValidation(s.Model.Set, seed)
	if s.Measure.Name == calibration.ByAUC {
		v.Design.Stratum = nil
	}
	v.Repeats = min(measuredPartitions, partitionsOf(s.Model.Set.N()))
	return v
}

// measuredBy is the measurement by the folds, with standard errors that are wider by a factor.
func (s *Study) measuredBy(ctx context.Context, f *folded, wider float64) (*measurement, error) {
	all, err := s.leaveOut(ctx, &f.v, f.partitions()...)
	if err != nil {
		return nil, err
	}
	for k := range all {
		if err := all[k].measure(s); err != nil {
			return nil, err
		}
	}
	x := &measurement{&risk{of: f, spread: func(losses []float64) float64 {
		return wider * s.Measure.SE(losses, s.Model.Y, f.set.Weights, f.set.Groups)
	}}, &risk{of: f}}
	x.judged.average(listsOf(all, func(l leftOut) []float64 { return l.measured[0] }))
	x.wrong.average(listsOf(all, func(l leftOut) []float64 { return l.measured[1] }))
	x.wrong.plain = x.wrong.error
	x.wrong.field = f.mean(listsOf(all, func(l leftOut) []float64 { return l.fields[0] }))
	x.wrong.se *= wider
	return x, nil
}

// wider is how much larger the standard error of the error is than the one over the rows.
func (s *Study) wider(ctx context.Context, seed uint64) (float64, error) {
	if w := s.widening; w.factor == 0 || w.seed != seed {
		if _, err := s.risks(ctx, seed); err != nil {
			return 0, err
		}
	}
	return s.widening.factor, nil
}
