package answer

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/resample"
)

// Pairs decide between several classes one against one, as LIBSVM does (Chang and Lin 2011, section 7): each
// pair of classes has a classifier that is trained on their examples alone, and votes. They share the kernel
// matrix of Classes, where the other classes' examples have weight 0.
type Pairs struct{ *Classes }

// order lists the classes in order of first appearance: LIBSVM numbers them so.
func (p Pairs) order() (order []int) {
	seen := make([]bool, len(p.Set.Classes))
	for _, k := range p.Set.ClassOf() {
		if !seen[k] {
			seen[k], order = true, append(order, k)
		}
	}
	return order
}

// only are weights of 1 of the examples of a pair of classes, 0 of others.
func (p Pairs) only(pair [2]int) []float64 {
	weight := make([]float64, p.Set.N())
	for i, k := range p.Set.ClassOf() {
		if k == pair[0] || k == pair[1] {
			weight[i] = 1
		}
	}
	return weight
}

// votes counts the votes of all pairs of classes in this order: a field above 0 is one for the first of a
// pair. Of equal counts the class that appears first has more, by less than a vote.
func votes(order []int, field func(pair int) float64) []float64 {
	count := make([]float64, len(order))
	for rank, k := range order {
		count[k] = -float64(rank) / float64(len(order)+1)
	}
	for number, pair := range model.PairsOf(order) {
		if field(number) > 0 {
			count[pair[0]]++
		} else {
			count[pair[1]]++
		}
	}
	return count
}

// Train trains a classifier for each pair.
func (p Pairs) Train(ctx context.Context) (first *model.Predictor, err error) {
	order := p.order()
	for _, pair := range model.PairsOf(order) {
		m := p.Jobs[pair[0]].Model
		weight := p.only(pair)
		if p.Set.Weights != nil {
			floats.Mul(weight, p.Set.Weights)
		}
		fit, err := m.Fit(model.FitSettings{Weight: weight})
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = fit.Err
		}
		if err != nil {
			return nil, fmt.Errorf("classes %s and %s: %w", p.Set.Classes[pair[0]], p.Set.Classes[pair[1]], err)
		}
		one, err := m.Predictor(fit)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = one
		} else {
			first.Others = append(first.Others, one)
		}
	}
	first.Pairs, first.Encoding = order, p.Set.Encoding()
	return first, nil
}

// Estimate judges the votes by exact resamples, the same for all pairs, trained one by one. Probabilities are
// calibrated on the numbers of left-out votes.
func (p Pairs) Estimate(ctx context.Context, s Settings) (report.Joint, error) {
	if hasWeights(s.Scheme) {
		return nil, errNoneLeftOut
	}
	r := p.report("estimate")
	resamples := max(2, cmp.Or(s.Refine.Resamples, defaultResamples))
	r.Resampling = &report.ClassResampling{Resampling: Resampling(s.Scheme, p.Set.N()), Resamples: resamples,
		Seed: s.Refine.Seed}
	plan := resample.Resamples{Scheme: s.Scheme, Seed: s.Refine.Seed, Y: p.ones()}
	return r, p.judgeVotes(ctx, r, plan, retrain.Settings{Resamples: resamples})
}

// CrossValidate judges the votes by exact fits without every fold, the same folds for all pairs.
func (p Pairs) CrossValidate(ctx context.Context, v Validation) (report.Joint, error) {
	r := p.report("cv")
	plan, err := p.folds(&v, r)
	if err != nil {
		return nil, err
	}
	return r, p.judgeVotes(ctx, r, plan, retrain.Settings{Resamples: r.Folds * r.Repeats, Workers: v.Workers})
}

// judgeVotes judges the votes of pairs that are trained by a plan.
func (p Pairs) judgeVotes(ctx context.Context, r *report.Classes, plan resample.Resamples,
	settings retrain.Settings) error {
	r.Multiclass = OneAgainstOne
	order, scheme := p.order(), plan.Scheme
	var pairs, f fields
	for _, pair := range model.PairsOf(order) {
		j := p.Jobs[pair[0]]
		own := plan
		own.Y, settings.OnFit = j.Set.Y, pairs.keep(j)
		around, ok := scheme.(resample.Scheme)
		if !ok {
			around = resample.KFold{Folds: r.Folds, N: p.Set.N()}
		}
		result, err := refit.Retrain(ctx, j.Model, refit.Single, around, refit.RetrainSettings{
			Plan: resample.Weighted{Plan: own, Weights: p.only(pair)}, Settings: settings})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		r.OneClass += result.OneClass
	}
	for range order {
		f = append(f, make([][]float32, len(pairs[0])))
	}
	for b := range pairs[0] {
		for k := range f {
			f[k][b] = make([]float32, p.Set.N())
		}
		for i := range p.Set.N() {
			count := votes(order, func(pair int) float64 { return float64(pairs[pair][b][i]) })
			for k, v := range count {
				f[k][b][i] = float32(v)
			}
		}
	}
	return p.judge(ctx, r, f, plan)
}

// OneAgainstOne is the name of Pairs.
const OneAgainstOne = "ovo"

// decideByPairs are the classes of new inputs by the votes of pairs.
func decideByPairs(p *model.Predictor, in *dataset.Inputs) (best []int, err error) {
	var fields [][]float64
	for _, one := range append([]*model.Predictor{p}, p.Others...) {
		f, err := one.Predict(in)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	for i := range in.N() {
		count, largest := votes(p.Pairs, func(pair int) float64 { return fields[pair][i] }), 0
		for k, v := range count {
			if v > count[largest] {
				largest = k
			}
		}
		best = append(best, largest)
	}
	return best, nil
}
