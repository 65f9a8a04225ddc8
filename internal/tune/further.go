package tune

import (
	"context"
	"math"
	"slices"

	"bootbench/internal/dataset"
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

// further judges models by exact cross-validation on some examples.
type further struct {
	set   *dataset.Set
	test  loss.Test
	folds [][]int
}

// furtherOf is nil unless more examples are left than chose a model of numbers.
func furtherOf(p *Problem, r *Result) *further {
	set := r.Spec.Set
	if set.N() <= 2*p.Rows || p.By != Folds || set.Groups != nil || len(r.Over) == 0 || !set.AreNumbers() ||
		r.Spec.Kernel.Kind == kernel.Precomputed || !loss.TraitsOf(r.Spec.Loss).Quadratic {
		return nil
	}
	f, count := &further{test: p.Test}, min(set.N(), max(furtherRows, 2*p.Rows))
	f.folds = make([][]int, furtherFolds)
	for i := range count {
		f.folds[i%furtherFolds] = append(f.folds[i%furtherFolds], i)
	}
	if f.set = set.Subset(representative(set, count)); r.Spec.Standardize && set.Sparse == nil {
		f.set.Standardizer().To(f.set.X, f.set.X) // a wide set has no memory for another copy
	}
	return f
}

// errorOf is the error of a model.
func (f *further) errorOf(ctx context.Context, spec model.Spec) (float64, error) {
	spec.Set, spec.Standardize = f.set, false
	spec.Storage, spec.RankTol, spec.MaxRank, spec.Then = model.Exact, 0, 0, nil
	return errorWithout(ctx, spec, f.test, f.folds...)
}

// reconsider narrows the kernel of a choice, and takes its alternative if that errs less.
func reconsider(ctx context.Context, p *Problem, r *Result) *Result {
	f := furtherOf(p, r)
	if f == nil {
		return r
	}
	least, err := f.narrow(ctx, r)
	if a := r.Alternative; err == nil && a != nil && p.Scales == IfBetter {
		other, err := f.errorOf(ctx, a.Spec)
		if err != nil {
			return r
		}
		for _, spec := range []*model.Spec{&r.Spec, &a.Spec} {
			if _, scales := spec.Searched(); !scales {
				spec.Chosen = append(slices.Clone(spec.Chosen), model.Scales)
			}
		}
		if r.Times = other / least; other < least {
			a.Alternative, a.Times, r.Alternative, r = r, least/other, nil, a
			_, _ = f.narrow(ctx, r)
		}
	}
	return r
}

// narrow narrows the kernel of a choice as long as it errs less.
func (f *further) narrow(ctx context.Context, r *Result) (least float64, err error) {
	least, err = f.errorOf(ctx, r.Spec)
	for first := least; err == nil; {
		next, ok := r.narrower()
		if !ok {
			break
		}
		now, err := f.errorOf(ctx, next)
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
