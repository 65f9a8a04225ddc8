package answer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

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
	all, at := make([][]float64, len(f[0])), make([]float64, len(f))
	for i := range all {
		for k := range f {
			at[k] = f[k][i]
		}
		if !s.classes() {
			all[i] = []float64{-2 * at[0], 2 * at[0]}
			continue
		}
		score := make([]float64, len(s.Model.Set.Levels()))
		s.decision().Scores(score, at)
		for k := range score {
			other := math.Inf(-1)
			for l, v := range score {
				if l != k {
					other = math.Max(other, v)
				}
			}
			all[i] = append(all[i], score[k]-other)
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
	var others []int
	for i := range set.N() {
		if !slices.Contains(rows, i) {
			others = append(others, i)
		}
	}
	if spec.Set = set.Subset(others); again {
		if spec, err = s.chooseAfresh(ctx, present(spec.Set)); err != nil {
			return l, err
		}
		spec.Set, spec.Pairs = set.Subset(others), s.Model.Spec.Pairs
	}
	predict, err := trainedBy(ctx, s, spec)
	if err != nil {
		return l, err
	}
	out := set.Subset(rows)
	f, err := predict(out)
	if err != nil {
		return l, err
	}
	for i, m := range s.margins(f) {
		l.own = append(l.own, m[int(out.Columns[0].Y[i])])
		l.weight = append(l.weight, calibration.WeightOf(out.Weights, i))
	}
	order := make([]int, len(l.own))
	floats.ArgsortStable(l.own, order)
	sum, weight := 0.0, make([]float64, len(order))
	for k, i := range order {
		sum += l.weight[i]
		weight[k] = sum
	}
	l.weight = weight
	if f, err = predict(in); err == nil {
		l.at = s.margins(f)
	}
	return l, err
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
		names = []string{s.Subject.Labels.Name(-1), s.Subject.Labels.Name(1)}
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
