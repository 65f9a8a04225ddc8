package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bootbench/internal/model"
)

// Scales says whether each feature has a length scale.
type Scales int

const (
	AsGiven  Scales = iota // if the specification has them
	IfBetter               // if that lowers the objective significantly: see worth
	Each                   // always
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
	p.Scales = AsGiven
	one, err := Run(ctx, p, settings)
	if err != nil || one.Cancelled {
		return one, err
	}
	if scales == IfBetter && !separable(one) {
		return one, nil
	}
	settings.before = "length scales: "
	p.Spec, p.Over = one.Spec, separated(one, p.Over)
	p.Spec.Kernel.LengthScale = slices.Repeat([]float64{lengthScale(&one.Spec)}, one.Spec.Set.D())
	p.Spec.Kernel.Gamma = 0
	each, err := Run(ctx, p, settings)
	switch {
	case ctx.Err() != nil:
		one.Cancelled = true
	case err == nil && (scales == Each || worth(one, each)):
		each.Alternative = one
		return each, nil
	case err == nil:
		one.Alternative = each
	}
	return one, nil
}

// separable reports whether a choice with one length scale may become one with a length scale for each
// feature that varies: whether there are enough examples, and derivatives.
func separable(one *Result) bool {
	const examples = 5 // for each feature: with fewer, no observed gain was significant
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

// worth reports whether length scales per feature justify their further parameters: whether the objective,
// the mean of n losses, decreases by at least a fifth, and either n log(one/each) exceeds 12 per further
// parameter or the objective decreases to a fifth. For chi-square errors 12 is six times Akaike's criterion:
// the minimum of a cross-validation over many parameters is lower by chance. doc/tuning.md has the evidence.
func worth(one, each *Result) bool {
	const least, most, forEach = 1.25, 5, 12
	gain := math.Log(one.Value / each.Value)
	if one.By == Evidence { // the logarithm of a likelihood: half as much
		gain = 2 * (one.Value - each.Value)
	}
	enough := float64(one.judgedOn())*gain > forEach*float64(one.Spec.Set.Varying()-1)
	return gain > math.Log(least) && (enough || gain > math.Log(most))
}
