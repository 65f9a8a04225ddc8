package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
)

// judged are the losses of the measure, if there is one, else of the test loss; nil for no rows.
func (l *leftOut) judged() []float64 {
	return slices.Concat(l.measured, l.losses, [][]float64{nil})[0]
}

// take takes what others say of rows; empty ones become these.
func (l *leftOut) take(others leftOut, rows ...int) {
	if l.losses == nil {
		*l = others
	}
	from := slices.Concat(others.losses, others.fields, others.measured)
	for at, list := range slices.Concat(l.losses, l.fields, l.measured) {
		for _, i := range rows {
			list[i] = from[at][i]
		}
	}
}

// chosenAgain is what fits say of the rows that they lack: of the model, and of models that were chosen
// without whole coarse folds, each of some of the folds.
type chosenAgain struct {
	model, chosen leftOut
	specs         []model.Spec // chosen without each coarse fold
	folds         int          // coarse ones
	foldOf        []int        // the coarse fold of each row; nil: unknown
}

// coarseFolds is the number of folds without which a choice is made again, few for many rows or functions.
func coarseFolds(rows, functions int) int {
	const fewest, work = 3, 1600
	if functions > riskFolds {
		return fewest
	}
	return max(fewest, min(riskFolds, work/rows))
}

// coarseFold is the coarse fold that has a fold of a partition.
func coarseFold(fold, folds, coarse int) int { return ((fold+1)*coarse - 1) / folds }

// coarse are the folds of the first partition, in coarse folds.
func (f *folded) coarse(count int) [][][]int {
	all := make([][][]int, count)
	for r, rows := range f.rows[:f.each] {
		k := coarseFold(r, f.each, count)
		all[k] = append(all[k], rows)
	}
	return all
}

// chooseAgain computes these once.
func (s *Study) chooseAgain(ctx context.Context, seed uint64) (*chosenAgain, error) {
	if s.again != nil {
		return s.again, nil
	}
	f, err := s.folded(riskValidation(s.Model.Set, seed))
	if err != nil {
		return nil, err
	}
	a := &chosenAgain{folds: min(f.each, coarseFolds(f.set.N(), len(s.Model.Functions))),
		foldOf: make([]int, f.set.N())}
	coarse := f.coarse(a.folds)
	for k, folds := range coarse {
		for _, i := range slices.Concat(folds...) {
			a.foldOf[i] = k
		}
	}
	if err := s.judgeRows(ctx, &f.v, f.rows, f.rows, &a.model); err != nil {
		return nil, err
	}
	if err := a.choose(ctx, s, &f.v, coarse); err != nil {
		return nil, err
	}
	s.again = a
	return a, nil
}

// choose chooses without each coarse fold, given by its folds, and judges these.
func (a *chosenAgain) choose(ctx context.Context, s *Study, v *Validation, coarse [][][]int) error {
	a.specs = make([]model.Spec, len(coarse))
	others, failed := make([]*model.Spec, len(coarse)), make([]error, len(coarse))
	blas.SingleThreaded(func() {
		linalg.Parallel(len(coarse), func(k int) {
			a.specs[k], failed[k] = s.chosenFor(ctx, without(s.Model.Set, slices.Concat(coarse[k]...)),
				func(ctx context.Context, set *dataset.Set) (spec model.Spec, err error) {
					spec, others[k], err = s.afresh(ctx, set)
					return spec, err
				})
		})
	})
	err, other := cmp.Or(ctx.Err(), cmp.Or(failed...)), leftOut{}
	for k := 0; k < len(coarse) && err == nil; k++ {
		err = s.judgeSpec(ctx, v, a.specs[k], coarse, k, &a.chosen)
		if err == nil && others[k] != nil {
			err = s.judgeSpec(ctx, v, *others[k], coarse, k, &other)
		}
	}
	if err == nil {
		a.decide(others, other, s.Model.Set.Weights)
	}
	return err
}

// judgeSpec adds what fits of a specification to the study's rows without the folds of coarse fold k say of
// these. A measure compares rows of all folds by fits of the one specification: others have fields of another
// scale.
func (s *Study) judgeSpec(ctx context.Context, v *Validation, spec model.Spec, coarse [][][]int, k int,
	to *leftOut) error {
	spec.Set, spec.Pairs = s.Model.Set, s.Model.Spec.Pairs
	of, err := New(ctx, spec, s.Test)
	if err != nil {
		return err
	}
	return of.judgeRows(ctx, v, slices.Concat(coarse...), coarse[k], to)
}

// judgeRows adds what fits without some folds say of their rows. A measure takes fits without each of all.
func (s *Study) judgeRows(ctx context.Context, v *Validation, all, some [][]int, to *leftOut) error {
	if s.Measure.IsError() {
		all = some
	}
	of, err := s.leaveOut(ctx, v, all)
	if err == nil && !s.Measure.IsError() {
		err = of[0].measure(s)
	}
	if err == nil {
		to.take(of[0], slices.Concat(some...)...)
	}
	return err
}

// decide takes the other choices, nil where there is none, for the coarse folds where these have less
// losses on the rows of the other ones that have one.
func (a *chosenAgain) decide(others []*model.Spec, other leftOut, weights []float64) {
	gains, sum := make([]float64, len(others)), 0.0
	chosen, least := a.chosen.judged(), other.judged()
	for i, fold := range a.foldOf {
		if others[fold] != nil {
			gain := calibration.WeightOf(weights, i) * (chosen[i] - least[i])
			gains[fold] += gain
			sum += gain
		}
	}
	for i, fold := range a.foldOf {
		if others[fold] == nil || sum-gains[fold] <= 0 {
			continue
		}
		a.specs[fold] = *others[fold]
		a.chosen.take(other, i)
	}
}

// afresh chooses the chosen hyperparameters for other rows by a whole search, or one of the candidates. A
// search that starts at the present values, which all rows have chosen, finds too good ones: intervals of
// 90% then hold 0.87 (friedman1, 100 rows) instead of 0.90. For few rows, if that was chosen, too, it
// decides if features share a length scale; where its objective does not tell, other has the other way.
// Many rows seldom change that.
func (s *Study) afresh(ctx context.Context, set *dataset.Set) (spec model.Spec, other *model.Spec,
	err error) {
	if s.Candidates != nil {
		spec, err = s.bestOf(ctx, set)
		return spec, nil, err
	}
	const fewRows = 200
	p := tune.Problem{Spec: s.Model.Spec}
	p.Spec.Set = set
	names, scales := p.Spec.Searched()
	if scales && s.Model.Set.N() <= fewRows {
		p.Scales, p.Spec.Kernel.LengthScale = tune.Either, nil
		names = append(slices.DeleteFunc(names, func(name string) bool {
			return name == "gamma" || name == "length-scale"
		}), "gamma")
	}
	for _, name := range names {
		p.Over = append(p.Over, tune.Axis{Name: name})
	}
	r, err := tune.Run(ctx, p, tune.Settings{})
	if err != nil {
		return spec, nil, err
	}
	if r.Undecided {
		other = &r.Alternative.Spec
	}
	return r.Spec, other, nil
}

// bestOf is the candidate with the least error of cross-validation by exact fits, the first of equals.
func (s *Study) bestOf(ctx context.Context, set *dataset.Set) (best model.Spec, err error) {
	v := Validation{Design: resample.Design{N: set.N(), Group: set.Groups, Stratum: set.Strata},
		Folds: tune.DefaultFolds, Repeats: 1, ErrorsAlone: true}
	cells, most, weights := s.cells(ctx, set), math.Inf(1), GivenWeights(s.Candidates, s.Test)
	errors := slices.Repeat([]float64{most}, len(s.Candidates))
	for _, k := range slices.Concat(cells.paths...) {
		a, failed := cells.CrossValidate(ctx, k, v)
		if failed == nil {
			errors[k] = stat.Mean(Weighted(weights, set, a.Examples.Each), set.Weights)
		}
		err = cmp.Or(ctx.Err(), err, failed)
	}
	if k := floats.MinIdx(errors); errors[k] < most {
		best, err = s.Candidates[k], nil
	}
	best.Set = set
	return best, cmp.Or(ctx.Err(), err)
}

func (s *Study) cells(ctx context.Context, set *dataset.Set) *Cells {
	specs, kernels := slices.Clone(s.Candidates), &Kernels{MostBytes: 1}
	for k := range specs {
		specs[k].Set, specs[k].FitsAlone = set, true
	}
	return NewCells(specs, func(k int) (*Study, error) { return kernels.New(ctx, specs[k], s.Test) })
}

// ofAllRows is the part of what a choice without each of K folds adds to errors that a choice by all rows
// does: half is how much too low errors on rows that chose are, for any K; half is how much the chosen
// model errs more, which a K-th fewer rows raise by K/(K - 1).
func ofAllRows(folds int) float64 {
	k := float64(folds)
	return 2 * (k - 1) / (2*k - 1)
}

// correct corrects risks by the losses of fits without the same folds, with the choice made again and
// without: times the ratio of their errors, or plus the difference where a loss takes steps and errors may
// be 0. The ratio is at most as far from 1 as by the difference over the risk, since the errors of one
// partition may be far less than the risk's. The standard errors contain the difference's.
func (s *Study) correct(found []*risk, a *chosenAgain) {
	steps, set := loss.TraitsOf(s.Test).Steps, s.Model.Set
	for k, x := range found {
		again, plain := a.chosen.losses[k], a.model.losses[k]
		x.again = floats.SubTo(make([]float64, len(x.each)), again, plain)
		part, ratio := ofAllRows(a.folds), stat.Mean(again, set.Weights)/stat.Mean(plain, set.Weights)
		if !steps && ratio > 0 && !math.IsInf(ratio, 0) {
			by := 1 + stat.Mean(x.again, set.Weights)/x.error
			if math.Abs(by-1) < math.Abs(ratio-1) {
				ratio = by
			}
			ratio = math.Pow(ratio, part)
			x.error, x.se, x.fall = x.error*ratio, x.se*ratio, x.fall*ratio
			floats.Scale(ratio, x.each)
			part = 0
		}
		if x.add(x.again, part, a.foldOf); steps {
			x.error = math.Min(1, x.error)
		}
	}
}

// choose computes, for every function, by how much errors on rows without which the model was also chosen
// exceed the errors of the chosen model: the root of the ratio of mean squares (chooseAgain), 1 at least, and
// 1 for a model that was given or is not chosen again. A check says why there is no ratio.
func (s *Study) choose(ctx context.Context, seed uint64) (none report.Checks) {
	if s.choice != nil {
		return nil
	}
	s.choice = slices.Repeat([]float64{1}, len(s.Model.Functions))
	if !s.choosesAgain() {
		return nil
	}
	all, err := s.chooseAgain(ctx, seed)
	if err != nil {
		return report.Checks{notComputed("intervals do not count the choice of the model: %v", err)}
	}
	for _, p := range s.parts() {
		var squares [2]float64
		for k, of := range []leftOut{all.model, all.chosen} {
			for i, y := range p.targets() {
				off := y - of.fields[p.number][i]
				squares[k] += calibration.WeightOf(s.Model.Set.Weights, i) * off * off
			}
		}
		if ratio := squares[1] / squares[0]; ratio > 1 {
			s.choice[p.number] = math.Pow(ratio, ofAllRows(all.folds)/2)
		}
	}
	return nil
}

// nested is a train.Trainer that chooses a model on the given rows, preparation of features included, trains
// it and predicts all rows.
type nested struct {
	ctx    context.Context
	part   *part
	choose Chooser
	known  *sync.Map // by rows: one choice serves all functions
}

// Fit implements train.Trainer for weights 0 and 1, or the set's.
func (t nested) Fit(set train.Set, f []float64) error {
	var rows []int
	for i, w := range set.Weight {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	compute := sync.OnceValues(func() ([][]float64, error) { return t.predictions(set, rows) })
	if t.part.study.several() { // whose targets are the same
		first, _ := t.known.LoadOrStore(fmt.Sprint(rows), compute)
		compute = first.(func() ([][]float64, error))
	}
	all, err := compute()
	if err != nil {
		return err
	}
	of := t.part.model.Function
	for i, v := range all[t.part.number] {
		f[t.part.model.Site[i]] = (v - of.Mean) / of.Unit
	}
	return nil
}

// predictions are those of all functions by models of the rows. One target is in units of the fit.
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
