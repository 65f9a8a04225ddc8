package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
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
	for k, lists := range [][][]float64{others.losses, others.fields, others.measured} {
		for at, list := range lists {
			for _, i := range rows {
				[][][]float64{l.losses, l.fields, l.measured}[k][at][i] = list[i]
			}
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

// coarseFolds is the number of folds without which a choice is made again, fewer for many rows or functions
// to save time.
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
	if err := cmp.Or(ctx.Err(), cmp.Or(failed...)); err != nil {
		return err
	}
	var other leftOut
	for k := range coarse {
		if err := s.judgeSpec(ctx, v, a.specs[k], coarse, k, &a.chosen); err != nil {
			return err
		}
		if others[k] == nil {
			continue
		}
		if err := s.judgeSpec(ctx, v, *others[k], coarse, k, &other); err != nil {
			return err
		}
	}
	a.decide(others, other, s.Model.Set.Weights)
	return nil
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

// judgeRows adds what fits without some of all folds say of their rows. A measure takes fits without each of
// all folds.
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
		p.Scales = tune.Either
		names = slices.DeleteFunc(names, func(name string) bool {
			return slices.Contains([]string{"gamma", "length-scale"}, name)
		})
		names = append(names, "gamma")
		p.Spec.Kernel.LengthScale = nil
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

// bestOf is the candidate with the least error of exact fits to other rows, without each of some folds: the
// first of equals.
func (s *Study) bestOf(ctx context.Context, set *dataset.Set) (best model.Spec, err error) {
	v := Validation{Design: resample.Design{N: set.N(), Group: set.Groups, Stratum: set.Strata},
		Folds: tune.DefaultFolds, Repeats: 1, ErrorsAlone: true}
	cells, least := s.cells(ctx, set), math.Inf(1)
	errors := make([]float64, len(s.Candidates))
	for _, path := range cells.paths {
		for _, k := range path {
			a, failed := cells.CrossValidate(ctx, k, v)
			if errors[k] = math.Inf(1); failed == nil {
				errors[k] = float64(a.Error)
			}
			err = cmp.Or(ctx.Err(), err, failed)
		}
	}
	for k, e := range errors {
		if e < least {
			best, least, err = s.Candidates[k], e, nil
		}
	}
	best.Set = set
	return best, cmp.Or(ctx.Err(), err)
}

// cells are the candidates on other rows.
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
// be 0. The standard errors contain the difference's.
func (s *Study) correct(found []*risk, a *chosenAgain) {
	steps, set := loss.TraitsOf(s.Test).Steps, s.Model.Set
	for k, x := range found {
		again, plain := a.chosen.losses[k], a.model.losses[k]
		x.again = floats.SubTo(make([]float64, len(x.each)), again, plain)
		part, ratio := ofAllRows(a.folds), stat.Mean(again, set.Weights)/stat.Mean(plain, set.Weights)
		if !steps && ratio > 0 && !math.IsInf(ratio, 0) {
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
