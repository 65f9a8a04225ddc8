package answer

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// PredictBy is the answer of a trained model at new inputs, with errors if these have targets, intervals for
// new targets if the model has left-out residuals, and probabilities of labels if it has a curve.
func PredictBy(p *model.Predictor, in *dataset.Inputs, test loss.Test, q *Question) (*report.Answer, error) {
	if q.Sets {
		if err := checkSets(p, q.Level); err != nil {
			return nil, err
		}
	}
	f, err := predictionsBy(p.All(), in)
	if err != nil {
		return nil, err
	}
	a, err := predictBy(p, in, f, test, q)
	if err != nil {
		return nil, err
	}
	if q.Sets {
		addSetsBy(a, p, in, f, q.Level)
	}
	return a, addSupport(a, p.SupportOf, in)
}

// predictBy is PredictBy, given the predictions of all functions, without sets and the support of the inputs.
func predictBy(p *model.Predictor, in *dataset.Inputs, f [][]float64, test loss.Test, q *Question) (
	*report.Answer, error) {
	targets, all := p.Encoding.Targets, []*report.Answer(nil)
	if len(targets[0].Levels) > 2 {
		return predictClasses(p, in, f, q), nil
	}
	for k, one := range p.All() {
		a := newAnswer(p, one, targets[k:k+1], in)
		m := &model.Model{Spec: model.Spec{Set: &dataset.Set{Columns: targets[k : k+1]}}}
		at := &part{study: &Study{Model: m, Test: test}, model: m}
		if err := readTrained(at, a, one, in, k, f[k], q); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	a := newAnswer(p, p, targets, in)
	addTargets(a, targets, all)
	return a, nil
}

// predictionsBy are the predictions of predictors, one after the other, at inputs.
func predictionsBy(all []*model.Predictor, in *dataset.Inputs) (f [][]float64, err error) {
	for _, p := range all {
		one, err := p.Predict(in)
		if err != nil {
			return nil, err
		}
		f = append(f, one)
	}
	return f, nil
}

// newAnswer begins the answer of one of the functions of a trained model at new inputs, of these targets.
func newAnswer(p, of *model.Predictor, targets []dataset.Column, in *dataset.Inputs) *report.Answer {
	e, set, vectors := p.Encoding, dataset.Set{Columns: targets}, len(of.Weight)
	a := &report.Answer{Command: "predict", Status: Complete, SupportVectors: &vectors,
		NewRows: &report.NewRows{Test: in.Name, Count: in.N()},
		Subject: report.Subject{Data: e.Name, N: p.Training.Examples, D: e.Features, Task: set.Task(),
			Target: set.TargetNames(), Loss: of.Loss, Kernel: of.Kernel, Sites: p.Training.Sites,
			Standardized: p.Scales != nil}}
	a.Add(otherColumns(in)...)
	return a
}

// readTrained adds the predictions f of a trained function, number k, and what its left-out errors tell.
func readTrained(p *part, a *report.Answer, of *model.Predictor, in *dataset.Inputs, k int, f []float64,
	q *Question) error {
	own, scores, method := *q, calibration.Scores{}, LeftOutFolds
	own.Intervals = Intervals{Of: Observation, Residuals: PlainResiduals}
	points := &report.Points{Names: in.RowNames, Prediction: f, Mean: f}
	a.Points = points
	if p.labels() {
		column := &p.model.Set.Columns[0]
		a.Labels, a.Positive = report.LabelsOf(column), column.Level(1)
		points.Class = p.labelsOf(f)
		for i := 0; of.LeftOut != nil && i < len(f); i++ {
			points.Probability.Positive = append(points.Probability.Positive,
				of.LeftOut.Curve.Probability(f[i]))
		}
		if left := of.LeftOut; left != nil && left.Threshold != nil {
			a.Threshold = report.NumberOf(*left.Threshold)
			f = decided(points.Probability.Positive, *left.Threshold)
			points.Class = p.labelsOf(f)
		} else {
			a.Add(otherSide(f, points.Probability.Positive, a.Positive)...)
		}
	} else if l := of.LeftOut; l != nil && l.Rows != nil {
		rows := l.Rows
		refits, err := of.Refits()
		if err != nil {
			return err
		}
		scores = calibration.NewScores(len(rows.Target), rows.Weight, rows.Group)
		own.Intervals.Residuals = ScaledResiduals
		t, err := jackknifed(refits, scores, rows.Group, in, q.Level, ScaledResiduals, rows.Choice,
			of.TargetMean, rows.Unit)
		if err != nil {
			return err
		}
		points.Lower, points.Upper, method = t.lower, t.upper, t.method
	} else if l != nil {
		scores = l.Scores()
		low, high := -l.HalfWidth(q.Level), l.HalfWidth(q.Level)
		if l.Groups != nil && scores.Check(q.Level) != nil {
			low, high = l.Groups.Interval(q.Level)
			method = StudentsGroups
		}
		for _, v := range f {
			points.Lower, points.Upper = append(points.Lower, v+low), append(points.Upper, v+high)
		}
	}
	if p.number = min(k, max(0, len(in.Columns)-1)); len(in.Columns) > 0 {
		targets := p.targetsOf(in)
		onTargets(p, a, targets, q, valuesAt(targets, f))
	}
	if points.Lower != nil {
		a.Level, a.Interval = q.Level, interval(points, scores, method, &own, &a.Findings)
	}
	return nil
}

// predictClasses is the answer of a model of several classes, whose functions predict f at new inputs.
func predictClasses(p *model.Predictor, in *dataset.Inputs, f [][]float64, q *Question) *report.Answer {
	levels := p.Encoding.Targets[0].Levels
	a, curves := newAnswer(p, p, p.Encoding.Targets, in), p.Pairs == nil
	a.Decisions, *a.SupportVectors = &report.Decisions{Classes: levels}, 0
	for _, one := range p.All() {
		*a.SupportVectors += len(one.Weight)
		curves = curves && one.LeftOut != nil
	}
	if p.Pairs != nil {
		a.Multiclass = OneAgainstOne
	}
	best, scores := make([]int, in.N()), scoresBy(p.Decision(), f)
	for i := range best {
		best[i] = floats.MaxIdx(fieldsAt(scores, i))
	}
	var probabilities [][]float64
	if curves {
		for k, one := range p.All() {
			for i, v := range f[k] {
				scores[k][i] = one.LeftOut.Curve.Probability(v)
			}
		}
		probabilities = normalised(scores)
	}
	if len(in.Columns) == 0 {
		decide(a, levels, in.RowNames, best, nil, probabilities, nil)
		return a
	}
	of := ClassesOf(in.Columns[0].Y)
	decide(a, levels, in.RowNames, best, of, probabilities, nil)
	for i, own := range of {
		wrong := 0.0
		if own != best[i] {
			wrong = 1
		}
		a.Points.Error = append(a.Points.Error, wrong)
	}
	a.TestLoss, a.TestError = loss.ZeroOne{}.Name(), report.NumberOf(stat.Mean(a.Points.Error, nil))
	a.Metrics = classMetrics(q.Metrics, a)
	return a
}

func fieldsAt(f [][]float64, row int) []float64 {
	at := make([]float64, len(f))
	for k := range f {
		at[k] = f[k][row]
	}
	return at
}
