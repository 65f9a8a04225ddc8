package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

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

const CVPlus = "CV+"

// scoresBy are the scores of several classes, by class and row, by the predictions of all functions.
func scoresBy(decision fits.Decision, f [][]float64) [][]float64 {
	all, score := make([][]float64, decision.Classes()), make([]float64, decision.Classes())
	for i := range f[0] {
		decision.Scores(score, fieldsAt(f, i))
		for k, v := range score {
			all[k] = append(all[k], v)
		}
	}
	return all
}

// margins are, by class, the score of the class minus the largest other one at a row, by the field of two
// classes or the scores of several.
func margins(scores [][]float64, row int) (all []float64) {
	score := fieldsAt(scores, row)
	if len(score) == 1 {
		score = []float64{-score[0], score[0]}
	}
	for k, own := range score {
		all = append(all, own-floats.Max(slices.Delete(slices.Clone(score), k, k+1)))
	}
	return all
}

// leftOutMargins are the margins of a model that lacks a fold: of the true class of each of its rows,
// ascending, with the weights up to each, and of all classes at the new inputs.
type leftOutMargins struct {
	own, weight []float64
	at          [][]float64
}

// withoutFold trains a specification without the rows of a fold.
func (s *Study) withoutFold(ctx context.Context, spec model.Spec, rows []int, in *dataset.Inputs) (
	l leftOutMargins, err error) {
	out := s.Model.Set.Subset(rows)
	spec.Set, spec.Pairs = without(s.Model.Set, rows), s.Model.Spec.Pairs
	f, err := predictionsOf(ctx, s, spec, out, in)
	if err != nil {
		return l, err
	}
	for k := 0; s.classes() && k < len(f); k++ {
		f[k] = scoresBy(s.decision(), f[k])
	}
	for i, class := range out.Columns[0].Y {
		l.own = append(l.own, margins(f[0], i)[int(class)])
		l.weight = append(l.weight, calibration.WeightOf(out.Weights, i))
	}
	stat.SortWeighted(l.own, l.weight)
	floats.CumSum(l.weight, l.weight)
	for i := range in.N() {
		l.at = append(l.at, margins(f[1], i))
	}
	return l, nil
}

// addSets adds, for each new input, the classes that a new label is among with the probability of the
// question's level: CV+ (Barber, Candes, Ramdas and Tibshirani 2021; of sets Romano, Sesia and Candes 2020)
// by models without each of ten folds. A class is left out where its margin is below the left-out margins of
// the true classes of a share level of the rows, each by the model that lacks the row. The predicted class is
// always in the set. A model that at most mostChosen rows chose is chosen again (chooseAgain).
func (s *Study) addSets(ctx context.Context, a *report.Answer, in *dataset.Inputs, q *Question) error {
	set := s.Model.Set
	if err := calibration.CheckLevel(q.Level); err != nil {
		return model.InputError(err)
	}
	f, err := s.folded(riskValidation(set, q.Seed))
	if err != nil {
		return err
	}
	specs := []model.Spec{s.Model.Spec}
	if s.choosesAgain() {
		a, err := s.chooseAgain(ctx, q.Seed)
		if err != nil {
			return err
		}
		specs = a.specs
	}
	var all []leftOutMargins
	for r, rows := range f.rows {
		s.Progress(fmt.Sprintf("models without fold %d of %d", r+1, f.each), r, f.each)
		l, err := s.withoutFold(ctx, specs[coarseFold(r, f.each, len(specs))], rows, in)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	scores, total := scoresOf(set), totalWeight(set)
	among(a, in, &set.Columns[0], CVPlus, scores, q.Level, func(i, k int) bool {
		above := 0.0 // the weight of the rows whose margins are above
		for _, l := range all {
			below := sort.Search(len(l.own), func(j int) bool { return l.own[j] > l.at[i][k] })
			if above += l.weight[len(l.weight)-1]; below > 0 {
				above -= l.weight[below-1]
			}
		}
		return !scores.Reaches(above, total, q.Level)
	})
	return nil
}

// among adds the sets of the classes, levels of a column, that are among the sets of new inputs, and of the
// predicted classes, by a method with these left-out scores.
func among(a *report.Answer, in *dataset.Inputs, of *dataset.Column, method string, scores calibration.Scores,
	level float64, is func(row, class int) bool) {
	names := of.Levels
	if len(names) == 2 {
		names = []string{of.Level(-1), of.Level(1)}
	}
	d, count, covered := &report.Sets{Level: level, Method: method}, float64(in.N()), 0.0
	for i := range in.N() {
		var set []string
		for k, name := range names {
			if !is(i, k) && name != a.Points.Class[i] {
				continue
			}
			set = append(set, name)
			if len(in.Columns) > 0 && int(in.Columns[0].Y[i]) == k {
				covered++
			}
		}
		a.Points.Set = append(a.Points.Set, set)
		d.Size += float64(len(set))
	}
	if d.Size /= count; len(in.Columns) > 0 {
		covered /= count
		d.Coverage = &covered
	}
	a.Sets = d
	if err := scores.Check(level); err != nil {
		a.Add(report.FewForLevel.Check(scores.Effective, "take a lower level, or more rows",
			"the sets hold every class: %v", err))
	}
}

// addSetsBy adds the sets of a trained model whose functions predict f at new inputs: a class is left out
// where its margin is below the margins of the true classes of a share of the left-out rows.
func addSetsBy(a *report.Answer, p *model.Predictor, in *dataset.Inputs, f [][]float64, level float64) {
	if d := p.Decision(); d != nil {
		f = scoresBy(d, f)
	}
	bound := p.LeftOut.HalfWidth(level)
	among(a, in, &p.Encoding.Targets[0], LeftOutFolds, p.LeftOut.Scores(), level, func(i, k int) bool {
		return -margins(f, i)[k] <= bound
	})
}

// checkSets refuses sets of numbers, and of models without left-out scores.
func checkSets(p *model.Predictor, level float64) error {
	err := calibration.CheckLevel(level)
	switch {
	case p.Encoding.Targets[0].Levels == nil:
		err = errNoSets
	case !p.HasScores():
		err = fmt.Errorf("the model has no left-out scores, from which sets of classes come: train it again "+
			"by this version, of at most %d rows and not without its error, or predict from the data",
			leftOutRows)
	}
	if err != nil {
		return model.InputError(err)
	}
	return nil
}

var errNoSets = errors.New("Options.Sets are of classes: numbers have intervals")
