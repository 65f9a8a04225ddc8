package answer

import (
	"context"
	"slices"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/resample"
)

// OneAgainstOne is the name of voting by pairs of classes.
const OneAgainstOne = "ovo"

// ByPairs decides between the same classes one against one, as in LIBSVM (Chang and Lin 2011, section 7): the
// classifier of each pair of classes is trained only on their examples, and votes. LIBSVM numbers the classes
// in order of first appearance. Probabilities are calibrated on the numbers of left-out votes.
func (c *Classes) ByPairs() *Classes {
	pairs := &Classes{Set: c.Set, Jobs: c.Jobs}
	seen := make([]bool, len(c.Set.Levels()))
	for _, k := range ClassOf(c.Set) {
		if !seen[k] {
			seen[k], pairs.order = true, append(pairs.order, k)
		}
	}
	return pairs
}

// pairs are the classifiers of pairs.
func (c *Classes) pairs() (all []classifier) {
	for _, pair := range model.PairsOf(c.order) {
		b := classifier{c.Jobs[pair[0]], "classes " + c.Set.Levels()[pair[0]] + " and " +
			c.Set.Levels()[pair[1]],
			make([]float64, c.Set.N())}
		for i, k := range ClassOf(c.Set) {
			if k == pair[0] || k == pair[1] {
				b.weight[i] = 1
			}
		}
		all = append(all, b)
	}
	return all
}

// singly makes the fits of a plan on the examples of a pair, one by one.
func (b *classifier) singly(ctx context.Context, around resample.Scheme, plan resample.Resamples,
	settings fits.Settings) (*model.Retraining, error) {
	plan.Y = b.Y
	return model.Retrain(ctx, b.Model, model.Single, around, model.RetrainSettings{
		Plan: resample.Weighted{Plan: plan, Weights: b.weight}, Settings: settings})
}

// votes counts for every class the votes of all pairs of classes in this order: a field above 0 is one for
// the first of a pair. Ties are broken in favour of the class that appears first, by less than a vote.
func votes[F float32 | float64](order []int, of [][]F) [][]F {
	count := make([][]F, len(order))
	for rank, k := range order {
		count[k] = slices.Repeat([]F{F(-float64(rank) / float64(len(order)+1))}, len(of[0]))
	}
	for number, pair := range model.PairsOf(order) {
		for i, v := range of[number] {
			if v > 0 {
				count[pair[0]][i]++
			} else {
				count[pair[1]][i]++
			}
		}
	}
	return count
}
