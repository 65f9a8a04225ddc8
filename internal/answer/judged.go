package answer

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/loss"
)

// measuredPartitions is the largest number of partitions into folds over which a measure is averaged.
const measuredPartitions = 4

// measurement is what the study's measure is on rows that exact fits without each of ten folds leave out: the
// risk of its losses, and of the labels.
type measurement struct {
	by            Validation
	judged, wrong *risk
}

// errFewOfClass: a measure needs some rows of both classes.
var errFewOfClass = errors.New("a class has fewer than two rows")

// addMeasure adds the study's measure of the model of all rows, with an interval. Where the measure has
// labels by probabilities it says from which one on.
func (s *Study) addMeasure(ctx context.Context, a *report.Answer, seed uint64, level float64) {
	if _, proximal := s.Model.Loss.(loss.Proximal); s.Measure.IsError() || ctx.Err() != nil {
		return
	} else if !proximal || s.Model.Set.N() > leftOutRows {
		a.Add(notComputed("no measure by %v: it takes exact fits, of at most %d rows", s.Measure,
			leftOutRows))
		return
	}
	var err error
	a.Measured, err = s.Measured(ctx, seed, level)
	switch {
	case ctx.Err() != nil:
		a.Status = Cancelled
		return
	case err != nil:
		a.Add(notComputed("no measure by %v: %v", s.Measure, err))
		return
	case !s.Measure.ByProbability():
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
	set, m := s.Model.Set, s.Measure
	units := calibration.Effective(set.N(), set.Weights, set.Groups)
	freedom := x.judged.degrees(set, m.Name == calibration.ByCost || m.Name == calibration.ByLogLoss)
	lower, upper := m.Interval(x.judged.error, x.judged.se, float64(set.N()), units, level, freedom)
	return &report.Measured{By: m.String(), Value: report.Number(m.Value(x.judged.error)),
		SE: report.Number(x.judged.se), Lower: report.Number(lower), Upper: report.Number(upper)}, nil
}

// measured is the measurement by folds from a seed. A choice that is made again corrects it (chooseAgain).
// What the training rows contribute to standard errors is in proportion to what they contribute to the one
// of the error of signs (calibration.NestedError).
func (s *Study) measured(ctx context.Context, seed uint64) (*measurement, error) {
	if x := s.measurement; x != nil && x.by.Seed == seed {
		return x, nil
	}
	v := s.measuredValidation(seed)
	folds, each, err := partitions(&v, s)
	if err != nil {
		return nil, err
	}
	wider, err := s.wider(ctx, seed)
	if err != nil {
		return nil, err
	}
	x, err := s.measuredBy(ctx, v, folds, each, wider)
	if err != nil {
		return nil, err
	}
	if s.choosesAgain() {
		if err = s.correctMeasured(ctx, x); err != nil {
			return nil, err
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

// measuredBy is the measurement by the folds, each of a partition, with standard errors over rows or groups
// that are wider by a factor.
func (s *Study) measuredBy(ctx context.Context, v Validation, folds [][]int, each int, wider float64) (
	*measurement, error) {
	set := s.Model.Set
	fields, err := s.fields(ctx, &v, trialsOf(folds, set))
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	losses, labels, err := s.measures(folds, fields, nil)
	if err != nil {
		return nil, err
	}
	x := &measurement{v, (&risk{spread: s.measuredSpread(wider)}).average(set, folds, each, losses),
		(&risk{}).average(set, folds, each, labels)}
	x.wrong.plain, x.wrong.field = x.wrong.error, byRow(set, folds, each, fields)
	x.wrong.se *= wider
	return x, nil
}

// measuredSpread is the standard error of means of the measure's losses, wider by a factor.
func (s *Study) measuredSpread(wider float64) spread {
	return func(losses []float64) float64 {
		return wider * s.Measure.SE(losses, s.Model.Y, s.Model.Set.Weights, s.Model.Set.Groups)
	}
}

// correctMeasured corrects a measurement as correct does the risks.
func (s *Study) correctMeasured(ctx context.Context, x *measurement) error {
	a, err := s.chooseAgain(ctx, x.by.Seed)
	if err != nil {
		return err
	}
	for k, to := range []*risk{x.judged, x.wrong} {
		more := floats.SubTo(make([]float64, len(to.each)), a.chosen.measured[k], a.model.measured[k])
		to.add(more, ofAllRows(a.folds), a.foldOf, s.Model.Set)
	}
	return nil
}

// wider is how much larger the standard error of the error is than the one over the rows.
func (s *Study) wider(ctx context.Context, seed uint64) (float64, error) {
	found, _, err := s.risks(ctx, seed)
	if err != nil {
		return 0, err
	}
	rows, _ := calibration.StandardError(found[0].each, s.Model.Set.Weights, s.Model.Set.Groups)
	if !(rows > 0) {
		return 1, nil
	}
	return math.Max(1, found[0].se/float64(rows)), nil
}

// decide sets the classes of rows by the threshold of the study's measure, if it has one, for probabilities
// of +1, and reports whether it did.
func (p *part) decide(class []string, probability []float64) bool {
	m := p.study.Measure
	if !m.ByProbability() || probability == nil {
		return false
	}
	copy(class, p.labelsOf(decided(probability, m.Threshold())))
	return true
}

// decided are the labels -1 and +1 by the threshold of probabilities of +1.
func decided(probability []float64, threshold float64) []float64 {
	labels := make([]float64, len(probability))
	for i, p := range probability {
		if labels[i] = -1; p >= threshold {
			labels[i] = 1
		}
	}
	return labels
}
