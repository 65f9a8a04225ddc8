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
)

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
