package answer

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/train"
)

// nestedFits are the predictions of all functions for all rows, by models that are chosen and trained on the
// drawn rows: one choice serves all functions.
type nestedFits struct {
	mutex sync.Mutex
	of    map[string]func() ([][]float64, error)
}

// nested is a train.Trainer that chooses a model on the given rows, preparation of features included, trains
// it and predicts all rows.
type nested struct {
	ctx    context.Context
	part   *part
	choose Chooser
	known  *nestedFits
}

// drawn are the rows of positive weight.
func drawn(weight []float64) (rows []int) {
	for i, w := range weight {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

// Fit implements train.Trainer for weights 0 and 1, or the set's.
func (t nested) Fit(set train.Set, f []float64) error {
	rows := drawn(set.Weight)
	at := func() ([][]float64, error) { return t.predictions(set, rows) }
	if t.part.study.several() { // of the same targets
		t.known.mutex.Lock()
		if t.known.of == nil {
			t.known.of = map[string]func() ([][]float64, error){}
		}
		key := fmt.Sprint(rows)
		if t.known.of[key] == nil {
			t.known.of[key] = sync.OnceValues(at)
		}
		at = t.known.of[key]
		t.known.mutex.Unlock()
	}
	all, err := at()
	if err != nil {
		return err
	}
	of := t.part.model.Function
	for i, v := range all[t.part.number] {
		f[t.part.model.Site[i]] = (v - of.Mean) / of.Unit
	}
	return nil
}

// predictions are the predictions of all functions by models of these rows. One target is the set's, in
// units of the fit.
func (t nested) predictions(set train.Set, rows []int) ([][]float64, error) {
	drawn := t.part.model.Set.Subset(rows)
	if column, of := &drawn.Columns[0], t.part.model.Function; !t.part.study.several() {
		for k, i := range rows {
			if column.Y[k] = of.Mean + of.Unit*set.Y[i]; column.Levels != nil {
				column.Y[k] = (1 + set.Y[i]) / 2
			}
		}
	}
	spec, err := t.part.study.chosenFor(t.ctx, drawn, t.choose)
	if err != nil {
		return nil, err
	}
	f, err := predictionsOf(t.ctx, t.part.study, spec, t.part.model.Set)
	if err != nil {
		return nil, err
	}
	return f[0], nil
}

// without is a set without some of its rows.
func without(set *dataset.Set, rows []int) *dataset.Set {
	var others []int
	for i := range set.N() {
		if !slices.Contains(rows, i) {
			others = append(others, i)
		}
	}
	return set.Subset(others)
}

// chosenFor is the model that is chosen for a set.
func (s *Study) chosenFor(ctx context.Context, set *dataset.Set, choose Chooser) (model.Spec, error) {
	spec, err := choose(ctx, present(set))
	spec.Set, spec.Pairs = set, s.Model.Spec.Pairs
	return spec, err
}

// present is a set without classes, of several, that no row has: a choice judges a model of each class.
func present(set *dataset.Set) *dataset.Set {
	if len(set.Levels()) < 3 {
		return set
	}
	column, class := set.Columns[0], ClassesOf(set.Columns[0].Y)
	levels, number := column.Levels, make([]float64, len(column.Levels))
	column.Levels, column.Y = nil, nil
	for k, name := range levels {
		if number[k] = float64(len(column.Levels)); slices.Contains(class, k) {
			column.Levels = append(column.Levels, name)
		}
	}
	if n := len(column.Levels); n < 2 || n == len(levels) {
		return set
	}
	for _, k := range class {
		column.Y = append(column.Y, number[k])
	}
	of := *set
	of.Columns = []dataset.Column{column}
	return &of
}

// predictionsOf are the predictions of all functions of the study at several inputs by the model of a
// specification, trained on all its data. A class that these lack loses its pairs.
func predictionsOf(ctx context.Context, s *Study, spec model.Spec, at ...*dataset.Inputs) (f [][][]float64,
	err error) {
	first, order, all := spec.Set.Columns[0].Y, []int(nil), []*model.Predictor(nil)
	if !spec.Pairs || slices.Max(first) > slices.Min(first) {
		m, err := model.Build(ctx, spec)
		if err != nil {
			return nil, err
		}
		for k := range m.Functions {
			p, err := Train(ctx, m.Of(k))
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		order = m.Order
	}
	for _, in := range at {
		one, err := predictionsBy(all, in)
		if err != nil {
			return nil, err
		}
		if spec.Pairs {
			one = s.votesOf(one, first, order, in)
		}
		f = append(f, one)
	}
	return f, nil
}

// votesOf are the predictions of all pairs of classes of the study by the pairs of an order, of rows
// of the classes first. A pair of which a class is missing votes for the other, or for its second.
func (s *Study) votesOf(all [][]float64, first []float64, order []int, in *dataset.Inputs) (f [][]float64) {
	of := map[[2]int][]float64{}
	for k, pair := range fits.PairsOf(order) { // whose order depends on the rows
		of[pair], of[[2]int{pair[1], pair[0]}] = all[k], floats.ScaleTo(make([]float64, in.N()), -1, all[k])
	}
	for _, pair := range fits.PairsOf(s.Model.Order) {
		if of[pair] == nil {
			vote := -1.0
			if slices.Contains(first, float64(pair[0])) {
				vote = 1
			}
			of[pair] = slices.Repeat([]float64{vote}, in.N())
		}
		f = append(f, of[pair])
	}
	return f
}
