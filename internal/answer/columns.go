package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
)

// columnPermutations is the number of permutations of a column over which its error is averaged, and
// columnPartitions the largest number of partitions into folds.
const columnPermutations, columnPartitions = 3, 4

// mostCells is the largest number of values of sparse inputs that are made dense.
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
	of, err := s.corrected(ctx, seed)
	if err != nil {
		return nil, err
	}
	r.Headline = of.headline(s, set, level)
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
		switch {
		case ctx.Err() != nil && k > 0: // the answer so far stays
			r.Status = Cancelled
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			r.Add(notComputed("column %s: %v", c.Name, err))
		default:
			r.Columns = append(r.Columns, *one)
		}
		if r.Status == Cancelled {
			break
		}
	}
	slices.SortStableFunc(r.Columns, func(a, b report.ColumnEffect) int {
		return cmp.Compare(b.Without.Value, a.Without.Value)
	})
	r.Time = s.Times
	return r, nil
}

// columnJudge compares models by the same folds, each of a partition, with the study's own.
type columnJudge struct {
	*Study
	v     Validation
	folds [][]int
	each  int
	level float64
	wider float64      // the standard error of a measure, see Study.wider
	specs []model.Spec // chosen without each coarse fold; nil: all have the study's
	own   []columnRisk
}

// columnRisk is the risk of a model by the folds, and by the hyperparameters that are chosen without each;
// nil: these are the study's.
type columnRisk struct{ fixed, afresh *risk }

// columnJudge judges the study's own model. Length scales that were chosen fit the noise of these rows by
// columns that then seem to matter: every model judged on a fold of the first partition has
// hyperparameters that were chosen without it (chooseAgain).
func (s *Study) columnJudge(ctx context.Context, seed uint64, level float64) (j *columnJudge, err error) {
	set := s.Model.Set
	j = &columnJudge{Study: s, v: riskValidation(set, seed), level: level}
	if j.v.Repeats = min(partitionsOf(set.N()), columnPartitions); !s.Measure.IsError() {
		j.v = s.measuredValidation(seed)
		if j.wider, err = s.wider(ctx, seed); err != nil {
			return nil, err
		}
	}
	if j.folds, j.each, err = partitions(&j.v, s); err != nil {
		return nil, err
	}
	if s.choosesAgain() {
		a, err := s.chooseAgain(ctx, seed) // by the first partition
		if err != nil {
			return nil, err
		}
		j.specs = a.specs
	}
	j.own, err = j.risks(ctx, set)
	return j, err
}

// risks are the risks of models of a set.
func (j *columnJudge) risks(ctx context.Context, set *dataset.Set) (found []columnRisk, err error) {
	build := func(spec model.Spec) (*Study, error) {
		spec.Set, spec.Chosen, spec.Pairs = set, nil, j.Model.Spec.Pairs
		other, err := New(ctx, spec, j.Test)
		if err == nil {
			j.Times.Gram += other.Times.Gram
		}
		return other, err
	}
	other, err := build(j.Model.Spec)
	if err != nil {
		return nil, err
	}
	var fixed []*risk
	if j.Measure.IsError() {
		fixed, err = other.risksOf(ctx, &j.v, j.folds, j.each)
	} else {
		var x *measurement
		if x, err = other.measuredBy(ctx, j.v, j.folds, j.each, j.wider); err == nil {
			fixed = []*risk{x.judged}
		}
	}
	if err != nil {
		return nil, err
	}
	for _, x := range fixed {
		found = append(found, columnRisk{fixed: x})
	}
	outer := make([][][]float64, len(found)) // by judge and fold
	var losses [][][]float64                 // by judge and tested fold
	for r := 0; j.specs != nil && r < j.each; r++ {
		k, tested, at := coarseFold(r, j.each, len(j.specs)), j.folds[r:][:1], 0
		if !j.Measure.IsError() { // which compares the rows of all folds by one model
			tested, at = j.folds[:j.each], r
		}
		if at == 0 || k != coarseFold(r-1, j.each, len(j.specs)) {
			if other, err = build(j.specs[k]); err != nil {
				return nil, err
			}
			trials := trialsOf(tested, set)
			fields, err := other.fields(ctx, &j.v, trials)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			if losses = other.judged(trials, fields); !j.Measure.IsError() {
				if losses[0], _, err = j.measures(tested, fields, nil); err != nil {
					return nil, err
				}
			}
		}
		for judge := range outer {
			outer[judge] = append(outer[judge], losses[judge][at])
		}
	}
	for at := 0; j.specs != nil && at < len(found); at++ {
		found[at].afresh = (&risk{spread: fixed[at].spread}).average(set, j.folds[:j.each], j.each, outer[at])
	}
	return found, nil
}

// difference is the mean of the differences of models from the study's own.
func (j *columnJudge) difference(models []columnRisk, own columnRisk) *report.Difference {
	set := j.Model.Set
	var fixed, afresh []*risk
	for _, m := range models {
		fixed = append(fixed, m.fixed.less(own.fixed, set, j.folds, j.each))
		if m.afresh != nil {
			afresh = append(afresh, m.afresh.less(own.afresh, set, j.folds[:j.each], j.each))
		}
	}
	d := mean(fixed, set, j.folds, j.each)
	if afresh != nil { // as risks that a choice afresh corrects
		again := mean(afresh, set, j.folds[:j.each], j.each)
		d.error = again.error
		d.addSpread(floats.SubTo(again.each, again.each, d.each), set)
	}
	return d.difference(set, j.level)
}

// effect compares the model without a column, and with it permuted, with the one that has it.
func (j *columnJudge) effect(ctx context.Context, c dataset.FeatureColumn) (*report.ColumnEffect, error) {
	set := j.Model.Set
	without, err := j.risks(ctx, set.Without(c))
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(j.v.Seed, uint64(c.Features[0])))
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

// mean is the mean of risks by the same folds, with a standard error that contains their spread.
func mean(all []*risk, set *dataset.Set, folds [][]int, each int) *risk {
	m, count := &risk{spread: all[0].spread}, float64(len(all))
	of := func(values func(x *risk) []float64) (sum []float64) {
		sum = make([]float64, len(values(all[0])))
		for _, x := range all {
			floats.AddScaled(sum, 1/count, values(x))
		}
		return sum
	}
	var outer [][]float64
	for r := range folds {
		outer = append(outer, of(func(x *risk) []float64 { return x.outer[r] }))
		if all[0].inner == nil {
			continue
		}
		m.inner = append(m.inner, make([][]float64, each))
		for l := range each {
			m.inner[r][l] = of(func(x *risk) []float64 { return x.inner[r][l] })
		}
	}
	m.average(set, folds, each, outer)
	means := make([]float64, len(all))
	for k, x := range all {
		means[k] = x.error
	}
	if len(all) > 1 {
		m.se = math.Hypot(m.se, stat.StdDev(means, nil)/math.Sqrt(count))
	}
	return m
}
