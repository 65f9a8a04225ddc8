package tune

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// More examples than chose a model of numbers allow a narrower kernel. Exact fits to at most narrowFits of
// them, judged on at most narrowTests others, tell how much narrower: the inverse square of the width is
// raised by narrowStep as long as they err less. On labels it gains nothing (doc/tuning.md).
const narrowFits, narrowTests, narrowStep = 1200, 600, 2

// narrow narrows the kernel of a choice that fewer than half of the examples made.
func narrow(ctx context.Context, p *Problem, r *Result) {
	set := r.Spec.Set
	var widths []model.Hyperparameter
	for _, h := range r.Over {
		if h.Name == "gamma" || h.Name == "length-scale" {
			widths = append(widths, h)
		}
	}
	if set.N() <= 2*cmp.Or(p.Rows, DefaultRows) || p.By != Folds || set.Groups != nil || len(widths) == 0 ||
		r.Spec.Kernel.Kind == kernel.Precomputed || !loss.TraitsOf(r.Spec.Loss).Quadratic ||
		!set.AreNumbers() {
		return
	}
	bounds := ranges(&r.Spec)
	for _, axis := range p.Over {
		at := bounds[axis.Name]
		at.from, at.to = cmp.Or(axis.From, at.from), cmp.Or(axis.To, at.to)
		bounds[axis.Name] = at
	}
	fitted := min(narrowFits, 3*set.N()/5)
	tested := make([]int, min(narrowTests, set.N()-fitted))
	for k := range tested {
		tested[k] = k
	}
	part := set.Subset(rand.New(rand.NewPCG(1, 3)).Perm(set.N())[:len(tested)+fitted])
	test := cmp.Or(p.Test, model.DefaultTest(set))
	errorOf := func(spec model.Spec) (float64, error) {
		spec.Set, spec.Storage, spec.RankTol, spec.MaxRank, spec.Then = part, model.Exact, 0, 0, nil
		return errorWithout(ctx, spec, test, tested)
	}
	first, err := errorOf(r.Spec)
	for least := first; err == nil; {
		next, now := r.Spec, 0.0
		for _, h := range widths {
			value := h.Value(&next) * narrowStep
			if h.Name == "length-scale" {
				value = h.Value(&next) / math.Sqrt(narrowStep)
			}
			if err = cmp.Or(err, h.Set(&next, fourDigits(value))); value < bounds[h.Name].from ||
				value > bounds[h.Name].to {
				return
			}
		}
		if now, err = errorOf(next); err != nil || !(now < least) {
			return
		}
		r.Spec, r.Narrowed, least = next, 1-now/first, now
	}
}
