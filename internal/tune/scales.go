package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
)

// Scales says whether each feature has a length scale.
type Scales int

const (
	AsGiven  Scales = iota // if the specification has them
	IfBetter               // if they err less: see timesBetter
	Each                   // always
	Either                 // IfBetter, but undecided where the objective alone does not tell
)

// DefaultScales is IfBetter for numbers if the kernel's width is not given. Labels gain nothing.
func DefaultScales(spec *model.Spec) Scales {
	if spec.Set.AreNumbers() && spec.Kernel.Gamma == 0 && len(spec.Kernel.LengthScale) == 0 {
		return IfBetter
	}
	return AsGiven
}

// runScales chooses with one length scale for all features; then, from there, with one for each. The other
// choice becomes the Alternative.
func runScales(ctx context.Context, p Problem, settings Settings) (*Result, error) {
	scales := p.Scales
	if scales == Each && !p.Spec.Kernel.Scaled() {
		return nil, fmt.Errorf("%w: kernel %v has no length scales to choose", model.ErrInput,
			p.Spec.Kernel.Kind)
	}
	p.Scales, p.leads = AsGiven, true
	one, err := choose(ctx, p, settings)
	if err != nil || one.Cancelled {
		return one, err
	}
	if scales != Each && !separable(one, scales) {
		return one, nil
	}
	settings.before = "length scales: "
	p.Spec, p.Over = one.Spec, separated(one, p.Over)
	p.Spec.Kernel.LengthScale = slices.Repeat([]float64{lengthScale(&one.Spec)}, one.Spec.Set.D())
	p.Spec.Kernel.Gamma = 0
	each, err := choose(ctx, p, settings)
	if err != nil || ctx.Err() != nil {
		one.Cancelled = ctx.Err() != nil
		return one, nil
	}
	times, better, known := byObjective(one, each)
	if scales == IfBetter && !known && !p.hasMore(one) { // which decide, see reconsider
		if times, err = timesBetter(ctx, p, one, settings); err != nil {
			one.Cancelled = ctx.Err() != nil
			return one, nil
		}
		better = times > 1
	}
	if scales != Each && (better || !known) {
		chooseScales(one, each)
	}
	one.Undecided = scales == Either && !known
	if scales == Each || better {
		each.Alternative, each.Times = one, times
		return each, nil
	}
	one.Alternative, one.Times = each, 1/times
	return one, nil
}

// chooseScales notes that it was chosen whether features share a length scale.
func chooseScales(results ...*Result) {
	for _, r := range results {
		if _, scales := r.Spec.Searched(); !scales {
			r.Spec.Chosen = append(slices.Clone(r.Spec.Chosen), model.Scales)
		}
	}
}

// separable reports whether a choice with one length scale may become one with a length scale for each
// feature that varies: whether there are enough examples, and derivatives. Either is for parts of rows that
// were enough.
func separable(one *Result, scales Scales) bool {
	examples := 5 // for each feature: with fewer, no observed gain was significant
	if scales == Either {
		examples = 4
	}
	set := one.Spec.Set
	return len(one.Path) > 0 && one.Spec.Kernel.Scaled() && len(one.Spec.Kernel.LengthScale) <= 1 &&
		set.Sparse == nil && set.Groups == nil && set.Varying() > 1 &&
		one.judgedOn() >= examples*set.Varying()
}

// judgedOn is the number of examples of the objective.
func (r *Result) judgedOn() int { return r.Path[len(r.Path)-1].Examples }

// lengthScale is the length scale for all features of a kernel.
func lengthScale(spec *model.Spec) float64 {
	if l := spec.Kernel.LengthScale; len(l) > 0 {
		return l[0]
	}
	return 1 / math.Sqrt(2*spec.CompleteKernel().Gamma)
}

// separated are the axes of a search for a length scale for each feature, from the values of the choice so
// far.
func separated(one *Result, over []Axis) []Axis {
	axes := []Axis{{Name: "length-scale", Given: true}}
	for _, h := range one.Over {
		axis := Axis{Name: h.Name}
		if k := slices.IndexFunc(over, func(a Axis) bool { return a.Name == h.Name }); k >= 0 {
			axis = over[k]
		}
		switch axis.Given = true; h.Name {
		case "length-scale":
			axes[0] = axis
		case "gamma":
		default:
			axes = append(axes, axis)
		}
	}
	return axes
}

// byObjective is how many times as high the objective, a mean of n losses, is without a length scale for each
// feature, whether these are better by it, and whether it tells. Its minimum over d - 1 further parameters is
// lower by chance: for chi-square errors n times the logarithm of the ratio is then about d - 1, and Akaike's
// criterion asks for twice that. Up to there one length scale is better; one of each feature is beyond six
// times that and a fifth of the error: doc/tuning.md has the evidence.
func byObjective(one, each *Result) (times float64, better, known bool) {
	const least, byChance, enough = 1.25, 2, 12
	gain := math.Log(one.Value / each.Value)
	if one.By == Evidence { // the logarithm of a likelihood: half as much
		gain = 2 * (one.Value - each.Value)
	}
	ofEach := float64(one.judgedOn()) * gain / float64(one.Spec.Set.Varying()-1)
	better = ofEach > enough && gain > math.Log(least)
	return math.Exp(gain), better, better || ofEach <= byChance
}

// timesBetter is how many times as high the error with one length scale for all features is as with one for
// each, on rows that did not choose the latter: they are chosen again, by the problem p, without each fold,
// whose errors are by exact fits. Few rows have ten folds, because they lack each.
func timesBetter(ctx context.Context, p Problem, one *Result, settings Settings) (float64, error) {
	const fewRows = 200
	set, test, folds := one.Spec.Set, cmp.Or(p.Test, model.DefaultTest(one.Spec.Set)), DefaultFolds
	if rows := cmp.Or(p.Rows, DefaultRows); set.N() > rows {
		set = set.Subset(representative(set, rows))
	}
	if set.N() <= fewRows {
		folds *= 2
	}
	order, sums := rand.New(rand.NewPCG(1, 2)).Perm(set.N()), [2]float64{}
	for k := range folds {
		first, end := k*len(order)/folds, (k+1)*len(order)/folds
		p.Spec.Set = set.Subset(slices.Concat(order[:first], order[end:]))
		settings.before = fmt.Sprintf("length scales without fold %d: ", k+1)
		again, err := choose(ctx, p, settings)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return 0, err
		}
		for way, spec := range []model.Spec{one.Spec, again.Spec} {
			spec.Set = set
			err, failure := errorWithout(ctx, spec, test, order[first:end])
			if failure != nil {
				return 0, failure
			}
			sums[way] += err * float64(end-first)
		}
	}
	return sums[0] / sums[1], nil
}

// errorWithout is the mean error on folds of rows by exact fits without each, over the functions of a model.
func errorWithout(ctx context.Context, spec model.Spec, test loss.Test, folds ...[]int) (mean float64,
	err error) {
	first, err := model.Build(ctx, spec)
	if err != nil {
		return 0, err
	}
	errors := make([]float64, len(first.Functions))
	err = eachPart(len(errors), func(k int) error {
		m, err := partOf(ctx, first, k)
		if err != nil {
			return err
		}
		settings := model.RetrainSettings{Plan: resample.Without{Rows: folds,
			Y: slices.Repeat([][]float64{m.Y}, len(folds))}}
		settings.Resamples = len(folds)
		r, err := singly(ctx, m, resample.KFold{Folds: max(2, len(folds)), N: m.Set.N()}, test, settings)
		if err == nil {
			errors[k] = r.Tests[0].Error
		}
		return err
	})
	return stat.Mean(errors, nil), err
}
