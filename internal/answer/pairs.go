package answer

import (
	"context"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/resample"
)

// OneAgainstOne is the name of Classes whose pairs vote.
const OneAgainstOne = "ovo"

// ByPairs are the same classes, decided between one against one, as LIBSVM does (Chang and Lin 2011, section
// 7): the classifier of each pair of classes is trained on their examples alone, and votes. LIBSVM numbers
// the classes in order of first appearance. Probabilities are calibrated on the numbers of left-out votes.
func (c *Classes) ByPairs() *Classes {
	pairs := &Classes{Set: c.Set, Jobs: c.Jobs}
	seen := make([]bool, len(c.Set.Classes))
	for _, k := range c.Set.ClassOf() {
		if !seen[k] {
			seen[k], pairs.order = true, append(pairs.order, k)
		}
	}
	return pairs
}

// pairs are the classifiers of pairs.
func (c *Classes) pairs() (all []classifier) {
	for _, pair := range model.PairsOf(c.order) {
		b := classifier{c.Jobs[pair[0]], "classes " + c.Set.Classes[pair[0]] + " and " + c.Set.Classes[pair[1]],
			make([]float64, c.Set.N())}
		for i, k := range c.Set.ClassOf() {
			if k == pair[0] || k == pair[1] {
				b.weight[i] = 1
			}
		}
		all = append(all, b)
	}
	return all
}

// singly makes the fits of a plan on the examples of a pair, one by one, and counts those of one class.
func (b *classifier) singly(ctx context.Context, around resample.Scheme, plan resample.Resamples,
	settings retrain.Settings) (oneClass int, err error) {
	plan.Y = b.Set.Y
	result, err := refit.Retrain(ctx, b.Model, refit.Single, around, refit.RetrainSettings{
		Plan: resample.Weighted{Plan: plan, Weights: b.weight}, Settings: settings})
	if err != nil {
		return 0, err
	}
	return result.OneClass, nil
}

// fields are the fields of classes by those of the classifiers: of pairs the numbers of votes.
func (c *Classes) fields(of fields) fields {
	if c.order == nil {
		return of
	}
	f, n := make(fields, len(c.order)), c.Set.N()
	for b := range of[0] {
		for k := range f {
			f[k] = append(f[k], make([]float32, n))
		}
		for i := range n {
			for k, v := range votes(c.order, func(pair int) float64 { return float64(of[pair][b][i]) }) {
				f[k][b][i] = float32(v)
			}
		}
	}
	return f
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

// decideByPairs are the classes of new inputs by the votes of pairs.
func decideByPairs(p *model.Predictor, in *dataset.Inputs) (best []int, err error) {
	var fields [][]float64
	for _, one := range p.All() {
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
