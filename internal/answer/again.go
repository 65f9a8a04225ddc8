package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
)

// chosenAgain are exact cross-validations over the same folds: of the model, and of models that are chosen
// again on the rows outside each fold.
type chosenAgain struct {
	model, chosen *report.Answer
	foldOf        []int // of each row
}

// chooseAgain computes these once.
func (s *Study) chooseAgain(ctx context.Context, seed uint64) (a chosenAgain, err error) {
	if s.again != nil {
		return *s.again, nil
	}
	v := riskValidation(s.Model.Set, seed)
	if s.Model.Set.N() > fewRows || len(s.Model.Functions) > riskFolds {
		v.Folds = min(againFolds, v.Folds)
	}
	folds, _, err := partitions(&v, s)
	if err == nil {
		a.model, err = s.CrossValidate(ctx, v)
	}
	if err != nil {
		return a, err
	}
	a.foldOf = make([]int, s.Model.Set.N())
	for k, rows := range folds {
		for _, i := range rows {
			a.foldOf[i] = k
		}
	}
	v.Anew, v.Choose = "a model chosen", s.chooseAfresh
	if a.chosen, err = s.CrossValidate(ctx, v); err == nil && ctx.Err() == nil {
		s.again = &a
	}
	return a, cmp.Or(err, ctx.Err())
}

// chooseAfresh chooses the chosen hyperparameters for other rows by a whole search. One that starts at the
// present values, which all rows have chosen, finds too good ones: intervals of 90% then hold 0.87
// (friedman1, 100 rows) instead of 0.90.
func (s *Study) chooseAfresh(ctx context.Context, set *dataset.Set) (model.Spec, error) {
	p := tune.Problem{Spec: s.Model.Spec}
	p.Spec.Set = set
	for _, name := range p.Spec.Chosen {
		p.Over = append(p.Over, tune.Axis{Name: name})
	}
	r, err := tune.Run(ctx, p, tune.Settings{})
	if err != nil {
		return model.Spec{}, err
	}
	return r.Spec, nil
}

// ofAllRows is the part of what a choice without each of K folds adds to errors that a choice by all rows
// does: half is how much too low errors on rows that chose are, for any K; half is how much the chosen
// model errs more, which a K-th fewer rows raise by K/(K - 1).
func ofAllRows(folds int) float64 {
	k := float64(folds)
	return 2 * (k - 1) / (2*k - 1)
}

// correct corrects risks by cross-validations over the same folds, with the choice made again and without:
// times the ratio of their errors, or plus the difference where a loss takes steps and errors may be 0. The
// standard errors contain that of the difference.
func (s *Study) correct(found []*risk, a chosenAgain) {
	steps := loss.TraitsOf(s.Test).Steps
	for k, x := range found {
		again, plain := a.chosen, a.model
		if k > 0 {
			name := plain.Names[k-1]
			again, plain = again.Targets[name], plain.Targets[name]
		}
		x.again = floats.SubTo(make([]float64, len(x.each)), again.Examples.Each, plain.Examples.Each)
		part, ratio := ofAllRows(plain.Folds), float64(again.Error/plain.Error)
		if !steps && ratio > 0 && !math.IsInf(ratio, 0) {
			ratio = math.Pow(ratio, part)
			x.error, x.se = x.error*ratio, x.se*ratio
			floats.Scale(ratio, x.each)
			part = 0
		}
		x.add(x.again, part, a.foldOf, s.Model.Set)
	}
}

// add adds a part of what the choice adds to the losses of the rows, which was found by folds.
func (x *risk) add(more []float64, part float64, foldOf []int, set *dataset.Set) {
	x.error = math.Max(0, x.error+part*stat.Mean(more, set.Weights))
	floats.AddScaled(x.each, part, more)
	x.foldOf = foldOf
	x.addSpread(more, set)
}

// choose computes, for every function, by how much errors on rows without which the model was also chosen
// exceed those of the chosen model: the root of the ratio of mean squares (chooseAgain), 1 at least, and 1
// for a model that was given or is not chosen again. A check says why there is no ratio.
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
		for k, a := range []*report.Answer{all.model, all.chosen} {
			if len(a.Names) > 0 {
				a = a.Targets[a.Names[p.number]]
			}
			for i, y := range p.targets() {
				off := y - a.Points.Mean[i]
				squares[k] += calibration.WeightOf(s.Model.Set.Weights, i) * off * off
			}
		}
		if ratio := squares[1] / squares[0]; ratio > 1 {
			s.choice[p.number] = math.Pow(ratio, ofAllRows(all.model.Folds)/2)
		}
	}
	return nil
}
