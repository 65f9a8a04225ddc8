package tune

import (
	"cmp"
	"context"
	"math"

	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// More examples than chose a model of numbers allow a narrower kernel, and tell better if each feature needs
// a length scale. On labels they gain nothing (doc/tuning.md).
const (
	furtherRows  = 2000 // at most, which judge a choice anew
	furtherFolds = 3
	narrowStep   = 2 // of the inverse square of the kernel's width
)

// hasMore reports whether half as many examples again as chose a model of numbers can judge it.
func (p *Problem) hasMore(r *Result) bool {
	set := r.Spec.Set
	return 2*set.N() > 3*cmp.Or(p.Rows, DefaultRows) && p.By == Folds && set.Groups == nil &&
		len(r.Over) > 0 && set.AreNumbers() && r.Spec.Kernel.Kind != kernel.Precomputed &&
		loss.TraitsOf(r.Spec.Loss).Quadratic
}

// reconsider narrows the kernel of a choice by exact cross-validation on more examples, and takes its
// alternative if that errs less there.
func reconsider(ctx context.Context, p *Problem, r *Result) *Result {
	if !p.hasMore(r) {
		return r
	}
	set := r.Spec.Set
	count, folds := min(set.N(), max(furtherRows, 2*p.Rows)), make([][]int, furtherFolds)
	for i := range count {
		folds[i%furtherFolds] = append(folds[i%furtherFolds], i)
	}
	part := set.Subset(representative(set, count))
	if r.Spec.Standardize && set.Sparse == nil {
		part.Standardizer().To(part.X, part.X) // a wide set has no memory for another copy
	}
	errorOf := func(spec model.Spec) (float64, error) {
		spec.Set, spec.Standardize = part, false
		spec.Storage, spec.RankTol, spec.MaxRank, spec.Then = model.Exact, 0, 0, nil
		return errorWithout(ctx, spec, p.Test, folds...)
	}
	least, err := r.narrow(errorOf)
	a := r.Alternative
	if err != nil || a == nil || p.Scales != IfBetter {
		return r
	}
	other, err := errorOf(a.Spec)
	if err != nil {
		return r
	}
	chooseScales(r, a)
	if r.Times = other / least; r.Times < 1 {
		a.Alternative, a.Times, r.Alternative, r = r, least/other, nil, a
		_, _ = r.narrow(errorOf)
	}
	return r
}

// narrow narrows the kernel as long as that lowers the error.
func (r *Result) narrow(errorOf func(model.Spec) (float64, error)) (least float64, err error) {
	least, err = errorOf(r.Spec)
	for first := least; err == nil; {
		next, ok := r.narrower()
		if !ok {
			break
		}
		now, err := errorOf(next)
		if err != nil || !(now < least) {
			break
		}
		r.Spec, r.Narrowed, least = next, 1-now/first, now
	}
	return least, err
}

// narrower is the chosen specification with a narrower kernel, if the width was chosen and lies within its
// bounds.
func (r *Result) narrower() (next model.Spec, ok bool) {
	next = r.Spec
	for k, h := range r.Over {
		factor := map[string]float64{"gamma": narrowStep, "length-scale": 1 / math.Sqrt(narrowStep)}[h.Name]
		if factor == 0 {
			continue
		}
		value := fourDigits(h.Value(&next) * factor)
		if ok = value >= r.spans[k].from && value <= r.spans[k].to && h.Set(&next, value) == nil; !ok {
			break
		}
	}
	return next, ok
}
