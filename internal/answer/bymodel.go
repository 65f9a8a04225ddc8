package answer

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// PredictBy is the answer of a trained model at new inputs, with errors if these have targets, intervals for
// new targets if the model has left-out residuals, and probabilities of labels if it has a curve.
func PredictBy(p *model.Predictor, in *dataset.Inputs, test loss.Test, q *Question) (*report.Answer, error) {
	a, err := predictBy(p, in, test, q)
	if err == nil {
		err = addSupport(a, p.SupportOf, in)
	}
	return a, err
}

func predictBy(p *model.Predictor, in *dataset.Inputs, test loss.Test, q *Question) (*report.Answer, error) {
	targets := p.Encoding.Targets
	if len(targets[0].Levels) > 2 {
		return predictClasses(p, in, q)
	}
	var all []*report.Answer
	for k, one := range p.All() {
		f, err := one.Predict(in)
		if err != nil {
			return nil, err
		}
		a := newAnswer(p, in)
		a.Target, a.Loss, a.Kernel = targets[k].Name, one.Loss, one.Kernel
		*a.SupportVectors = len(one.Weight)
		m := &model.Model{Spec: model.Spec{Set: &dataset.Set{Columns: targets[k : k+1]}}}
		at := &part{study: &Study{Model: m, Test: test}, model: m}
		if err := readTrained(at, a, one, in, k, f, q); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	a := newAnswer(p, in)
	a.Loss, a.Kernel, a.Targets, *a.SupportVectors = p.Loss, p.Kernel, map[string]*report.Answer{},
		len(p.Weight)
	for k, one := range all {
		name := targets[k].Name
		a.Names, a.Targets[name] = append(a.Names, name), one
		a.AddOf(name, &one.Findings)
	}
	return a, nil
}

// newAnswer begins the answer of a trained model at new inputs.
func newAnswer(p *model.Predictor, in *dataset.Inputs) *report.Answer {
	e := p.Encoding
	a := &report.Answer{Command: "predict", Status: Complete, SupportVectors: new(int),
		NewRows: &report.NewRows{Test: in.Name, Count: in.N()}}
	a.Add(otherColumns(in)...)
	set := dataset.Set{Columns: e.Targets}
	a.Data, a.N, a.D, a.Task, a.Target = e.Name, p.Training.Examples, e.Features, set.Task(),
		set.TargetNames()
	a.Sites, a.Standardized = p.Training.Sites, p.Scales != nil
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
		for _, v := range f {
			points.Class = append(points.Class, column.Level(v))
			if of.LeftOut != nil {
				points.Probability.Positive = append(points.Probability.Positive,
					of.LeftOut.Curve.Probability(v))
			}
		}
		if left := of.LeftOut; left != nil && left.Threshold != nil {
			a.Threshold = report.NumberOf(*left.Threshold)
			f = decided(points.Probability.Positive, *left.Threshold)
			for i, label := range f {
				points.Class[i] = column.Level(label)
			}
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

// predictClasses is the answer of a model of several classes at new inputs.
func predictClasses(p *model.Predictor, in *dataset.Inputs, q *Question) (*report.Answer, error) {
	a, curves := newAnswer(p, in), p.Pairs == nil
	levels := p.Encoding.Targets[0].Levels
	a.Loss, a.Kernel, a.Decisions = p.Loss, p.Kernel, &report.Decisions{Classes: levels}
	var f [][]float64
	for _, one := range p.All() {
		field, err := one.Predict(in)
		if err != nil {
			return nil, err
		}
		f = append(f, field)
		*a.SupportVectors += len(one.Weight)
		curves = curves && one.LeftOut != nil
	}
	var decision fits.Decision = fits.Largest(len(levels))
	if p.Pairs != nil {
		decision, a.Multiclass = fits.Votes(p.Pairs), OneAgainstOne
	}
	best, scores, at := make([]int, in.N()), make([]float64, len(levels)), make([]float64, len(f))
	for i := range best {
		for k := range f {
			at[k] = f[k][i]
		}
		decision.Scores(scores, at)
		best[i] = floats.MaxIdx(scores)
	}
	var probabilities [][]float64
	if curves {
		for k, one := range p.All() {
			for i, v := range f[k] {
				f[k][i] = one.LeftOut.Curve.Probability(v)
			}
		}
		probabilities = normalised(f)
	}
	var of []int
	if len(in.Columns) > 0 {
		of = ClassesOf(in.Columns[0].Y)
	}
	decide(a, levels, in.RowNames, best, of, probabilities, nil)
	for i, own := range of {
		wrong := 0.0
		if own != best[i] {
			wrong = 1
		}
		a.Points.Error = append(a.Points.Error, wrong)
	}
	if of != nil {
		a.TestLoss, a.TestError = loss.ZeroOne{}.Name(), report.NumberOf(stat.Mean(a.Points.Error, nil))
		a.Metrics = classMetrics(q.Metrics, a)
	}
	return a, nil
}
