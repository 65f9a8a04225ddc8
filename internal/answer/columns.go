package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
)

// columnPermutations is the number of permutations of a column over which its error is averaged, and
// columnPartitions the largest number of partitions into folds.
const columnPermutations, columnPartitions = 3, 4

const mostCells = 10_000_000

// Columns judges the model without each column, and with its values permuted among the rows, by exact fits
// without the folds of the same partitions, with the hyperparameters that it has. The differences from the
// model of all columns are paired, with intervals by pairs of folds that are left out together.
func (s *Study) Columns(ctx context.Context, seed uint64, level float64) (*report.Columns, error) {
	set := s.Model.Set
	columns := set.FeatureColumns()
	switch {
	case loss.TraitsOf(s.Model.Loss).Proximal == nil:
		return nil, model.InputError(fmt.Errorf("the loss %s has no exact fits, by which columns are "+
			"judged: take Spec.Loss square, logistic or hinge", s.Model.Loss.Name()))
	case s.Model.Kernel.Kind == kernel.Precomputed:
		return nil, model.InputError(errors.New("a precomputed kernel has no columns to leave out: give " +
			"the features, with a kernel such as rbf or linear"))
	case len(columns) < 2:
		return nil, model.InputError(errors.New("without the only column nothing is left but the best " +
			"constant, with which estimates compare the error"))
	case set.Sparse != nil && set.N()*set.D() > mostCells:
		return nil, model.InputError(fmt.Errorf("%d sparse columns of %d rows take too long one by one: "+
			"give some of them in a file of columns", set.D(), set.N()))
	}
	r := &report.Columns{Command: "columns", Subject: s.Subject, TestLoss: s.Test.Name(), Status: Complete,
		Permutations: columnPermutations}
	risks, err := s.corrected(ctx, seed)
	if err != nil {
		return nil, err
	}
	r.Headline = s.headline(risks, level)
	r.Add(r.Said...)
	if r.Measured, err = s.Measured(ctx, seed, level); err != nil {
		return nil, err
	}
	j, err := s.columnJudge(ctx, seed, level)
	if err != nil {
		return nil, err
	}
	for k, c := range columns {
		s.Progress(fmt.Sprintf("column %d of %d", k+1, len(columns)), k, len(columns))
		one, err := j.effect(ctx, c)
		if ctx.Err() != nil && k == 0 {
			return nil, ctx.Err()
		} else if ctx.Err() != nil { // the answer so far stays
			r.Status = Cancelled
			break
		} else if err != nil {
			r.Add(notComputed("column %s: %v", c.Name, err))
			continue
		}
		r.Columns = append(r.Columns, *one)
	}
	slices.SortStableFunc(r.Columns, func(a, b report.ColumnEffect) int {
		return cmp.Compare(b.Without.Value, a.Without.Value)
	})
	r.Time = s.Times
	return r, nil
}

// columnJudge compares models by the same folds with the study's own.
type columnJudge struct {
	*Study
	folded *folded
	level  float64
	wider  float64 // the standard error of a measure, see Study.wider
	own    []columnRisk
}

// columnRisk is the risk of a model by the folds, and by the hyperparameters that are chosen without each;
// nil: these are the study's.
type columnRisk struct{ fixed, afresh *risk }

// columnJudge judges the study's own model. Length scales that were chosen fit the noise of these rows by
// columns that then seem to matter: every model judged on a fold of the first partition has
// hyperparameters that were chosen without it (chooseAgain).
func (s *Study) columnJudge(ctx context.Context, seed uint64, level float64) (j *columnJudge, err error) {
	j = &columnJudge{Study: s, level: level}
	v := riskValidation(s.Model.Set, seed)
	if v.Repeats = min(partitionsOf(s.Model.Set.N()), columnPartitions); !s.Measure.IsError() {
		v = s.measuredValidation(seed)
		if j.wider, err = s.wider(ctx, seed); err != nil {
			return nil, err
		}
	}
	if j.folded, err = s.folded(v); err != nil {
		return nil, err
	}
	if s.choosesAgain() {
		if _, err = s.chooseAgain(ctx, seed); err != nil { // by the first partition
			return nil, err
		}
	}
	j.own, err = j.risks(ctx, s.Model.Set)
	return j, err
}

func (j *columnJudge) risks(ctx context.Context, set *dataset.Set) (found []columnRisk, err error) {
	spec := j.Model.Spec
	spec.Set, spec.Chosen = set, nil
	of, err := New(ctx, spec, j.Test)
	if err != nil {
		return nil, err
	}
	j.Times.Gram += of.Times.Gram
	var fixed []*risk
	if j.Measure.IsError() {
		fixed, err = of.risksOf(ctx, j.folded)
	} else {
		var x *measurement
		if x, err = of.measuredBy(ctx, j.folded, j.wider); err == nil {
			fixed = []*risk{x.judged}
		}
	}
	if err != nil {
		return nil, err
	}
	for _, x := range fixed {
		found = append(found, columnRisk{fixed: x})
	}
	if !j.choosesAgain() {
		return found, nil
	}
	first, again := *j.folded, leftOut{}
	first.rows = first.rows[:first.each]
	coarse := first.coarse(len(j.again.specs))
	for k, spec := range j.again.specs {
		if err := of.judgeSpec(ctx, &first.v, spec, coarse, k, &again); err != nil {
			return nil, err
		}
	}
	if !j.Measure.IsError() {
		again.losses = again.measured
	}
	for at := range found {
		found[at].afresh = &risk{of: &first, spread: fixed[at].spread}
		found[at].afresh.average(again.losses[at : at+1])
	}
	return found, nil
}

// difference is the mean of the differences of models from the study's own.
func (j *columnJudge) difference(models []columnRisk, own columnRisk) *report.Difference {
	var fixed, afresh []*risk
	for _, m := range models {
		fixed = append(fixed, m.fixed.less(own.fixed))
		if m.afresh != nil {
			afresh = append(afresh, m.afresh.less(own.afresh))
		}
	}
	d := mean(fixed)
	if afresh != nil { // as risks that a choice afresh corrects
		again := mean(afresh)
		d.error = again.error
		d.addSpread(floats.SubTo(again.each, again.each, d.each))
	}
	return d.difference(j.level)
}

// effect compares the model without a column, and with it permuted, with the one that has it.
func (j *columnJudge) effect(ctx context.Context, c dataset.FeatureColumn) (*report.ColumnEffect, error) {
	set := j.Model.Set
	without, err := j.risks(ctx, set.Without(c))
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(j.folded.v.Seed, uint64(c.Features[0])))
	permuted := make([][]columnRisk, columnPermutations)
	for k := range permuted {
		if permuted[k], err = j.risks(ctx, set.Permuted(c, rng)); err != nil {
			return nil, err
		}
	}
	effect := &report.ColumnEffect{Column: c.Name, Features: len(c.Features)}
	for at, own := range j.own {
		e := effect
		if at > 0 {
			if effect.Targets == nil {
				effect.Targets = map[string]*report.ColumnEffect{}
			}
			e = &report.ColumnEffect{}
			effect.Targets[set.Columns[at-1].Name] = e
		}
		e.Without = j.difference(without[at:at+1], own)
		var all []columnRisk
		for _, p := range permuted {
			all = append(all, p[at])
		}
		e.Permuted = j.difference(all, own)
	}
	return effect, nil
}
