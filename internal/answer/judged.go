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
	x, err := s.measured(ctx, seed)
	switch {
	case ctx.Err() != nil:
		a.Status = Cancelled
		return
	case err != nil:
		a.Add(notComputed("no measure by %v: %v", s.Measure, err))
		return
	}
	set, m, y := s.Model.Set, s.Measure, s.Model.Y
	units := calibration.Effective(set.N(), set.Weights, set.Groups)
	freedom := x.judged.degrees(set, m.Name == calibration.ByCost || m.Name == calibration.ByLogLoss)
	mean, se := x.judged.error, x.judged.se
	lower, upper := m.Interval(mean, se, float64(set.N()), units, level, freedom)
	a.Measured = &report.Measured{By: m.String(), Value: report.Number(m.Value(mean)), SE: report.Number(se),
		Lower: report.Number(lower), Upper: report.Number(upper)}
	if !m.ByProbability() {
		return
	}
	if a.Threshold = report.NumberOf(m.Threshold()); a.Quality != nil {
		a.Quality.Balanced = report.NumberOf(calibration.Balanced(x.wrong.each, y, set.Weights))
	}
}

// measured is the measurement by folds from a seed. A choice that is made again corrects it (chooseAgain).
// What the training rows contribute to standard errors is in proportion to what they contribute to the one
// of the error of signs (calibration.NestedError).
func (s *Study) measured(ctx context.Context, seed uint64) (*measurement, error) {
	if x := s.measurement; x != nil && x.by.Seed == seed {
		return x, nil
	}
	set, v := s.Model.Set, riskValidation(s.Model.Set, seed)
	if s.Measure.Name == calibration.ByAUC { // ranks of folds with other shares of the classes differ
		v.Design.Stratum = nil
	}
	v.Repeats = min(measuredPartitions, v.Repeats)
	folds, each, err := partitions(&v, s)
	if err != nil {
		return nil, err
	}
	fields, err := s.fields(ctx, &v, trialsOf(folds, set))
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	losses, labels, err := s.measures(folds, fields, nil)
	if err != nil {
		return nil, err
	}
	wider, err := s.wider(ctx, seed)
	if err != nil {
		return nil, err
	}
	x := &measurement{v, (&risk{}).average(set, folds, each, losses),
		(&risk{}).average(set, folds, each, labels)}
	x.wrong.plain = x.wrong.error
	x.wrong.se *= wider
	x.judged.se = wider * s.Measure.SE(x.judged.each, s.Model.Y, set.Weights, set.Groups)
	if s.choosesAgain() {
		if err = s.correctMeasured(ctx, x); err != nil {
			return nil, err
		}
	}
	s.measurement = x
	return x, nil
}

// correctMeasured corrects a measurement as correct does the risks.
func (s *Study) correctMeasured(ctx context.Context, x *measurement) error {
	a, err := s.chooseAgain(ctx, x.by.Seed)
	if err != nil {
		return err
	}
	set := s.Model.Set
	again, off := s.Measure.Losses(a.chosen.fields[0], s.Model.Y, set.Weights)
	plain, plainOff := s.Measure.Losses(a.model.fields[0], s.Model.Y, set.Weights)
	if again == nil || plain == nil {
		return errFewOfClass
	}
	floats.Sub(again, plain)
	floats.Sub(off, plainOff)
	part := ofAllRows(a.folds)
	x.judged.add(again, part, a.foldOf, set)
	x.wrong.add(off, part, a.foldOf, set)
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
