package answer

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// CVPlus is the method of prediction sets.
const CVPlus = "CV+"

// margins are, by row and class, the score of the class minus the largest other one, by the predictions of
// all functions.
func (s *Study) margins(f [][]float64) [][]float64 {
	all := make([][]float64, len(f[0]))
	for i := range all {
		score := []float64{-f[0][i], f[0][i]}
		if s.classes() {
			score = make([]float64, len(s.Model.Set.Levels()))
			s.decision().Scores(score, fieldsAt(f, i))
		}
		for k, own := range score {
			others := slices.Delete(slices.Clone(score), k, k+1)
			all[i] = append(all[i], own-floats.Max(others))
		}
	}
	return all
}

// leftOutMargins are the margins of a model that lacks a fold: of the true class of each of its rows,
// ascending, with the weights up to each, and of all classes at the new inputs.
type leftOutMargins struct {
	own, weight []float64
	at          [][]float64
}

// withoutFold trains the model without a fold, chosen afresh if again.
func (s *Study) withoutFold(ctx context.Context, rows []int, in *dataset.Inputs, again bool) (
	l leftOutMargins, err error) {
	set, spec := s.Model.Set, s.Model.Spec
	if spec.Set = without(set, rows); again {
		if spec, err = s.chosenFor(ctx, spec.Set, s.chooseAfresh); err != nil {
			return l, err
		}
	}
	out := set.Subset(rows)
	f, err := predictionsOf(ctx, s, spec, out, in)
	if err != nil {
		return l, err
	}
	for i, m := range s.margins(f[0]) {
		l.own = append(l.own, m[int(out.Columns[0].Y[i])])
		l.weight = append(l.weight, calibration.WeightOf(out.Weights, i))
	}
	stat.SortWeighted(l.own, l.weight)
	floats.CumSum(l.weight, l.weight)
	l.at = s.margins(f[1])
	return l, nil
}

// addSets adds, for each new input, the classes that a new label is among with the probability of the
// question's level: CV+ (Barber, Candes, Ramdas and Tibshirani 2021; of sets Romano, Sesia and Candes 2020)
// by models without each of ten folds. A class is left out where its margin is below the left-out margins of
// the true classes of a share level of the rows, each by the model that lacks the row. The predicted class is
// always in the set. A model that few rows have chosen is chosen afresh without each fold.
func (s *Study) addSets(ctx context.Context, a *report.Answer, in *dataset.Inputs, q *Question) error {
	set := s.Model.Set
	if err := calibration.CheckLevel(q.Level); err != nil {
		return model.InputError(err)
	}
	v := riskValidation(set, q.Seed)
	folds, _, err := partitions(&v, s)
	if err != nil {
		return err
	}
	again := s.choosesAgain()
	var all []leftOutMargins
	for r, rows := range folds {
		s.Progress(fmt.Sprintf("models without fold %d of %d", r+1, len(folds)), r, len(folds))
		l, err := s.withoutFold(ctx, rows, in, again)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	scores, total := scoresOf(set), weightOf(set)
	names := set.Levels()
	if !s.classes() {
		names = s.part(0).labelsOf([]float64{-1, 1})
	}
	d := &report.Sets{Level: q.Level, Method: CVPlus}
	covered := 0
	for i := range in.N() {
		var among []string
		for k, name := range names {
			above := 0.0 // the weight of the rows whose margins are above
			for _, l := range all {
				below := sort.Search(len(l.own), func(j int) bool { return l.own[j] > l.at[i][k] })
				if above += l.weight[len(l.weight)-1]; below > 0 {
					above -= l.weight[below-1]
				}
			}
			if !scores.Reaches(above, total, q.Level) || name == a.Points.Class[i] {
				among = append(among, name)
				if len(in.Columns) > 0 && int(in.Columns[0].Y[i]) == k {
					covered++
				}
			}
		}
		a.Points.Set = append(a.Points.Set, among)
		d.Size += float64(len(among)) / float64(in.N())
	}
	if len(in.Columns) > 0 {
		share := float64(covered) / float64(in.N())
		d.Coverage = &share
	}
	a.Sets = d
	if err := scores.Check(q.Level); err != nil {
		a.Add(report.FewForLevel.Check(scores.Effective, "take a lower level, or more rows",
			"the sets hold every class: %v", err))
	}
	return nil
}
