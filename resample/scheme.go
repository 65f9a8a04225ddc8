package resample

import (
	"fmt"
	"math"
	"strings"
)

// Names lists the schemes that ByName knows. Leave-one-out is kfold with as many
// folds as examples, the m-out-of-n bootstrap is multinomial with ratio m/n.
func Names() []string {
	return []string{"poisson", "multinomial", "bernoulli", "subsample", "kfold", "bayesian"}
}

// maxRatio is the largest ratio S/N of schemes with replacement; a window of
// counts has about 18 sqrt(n S/N) entries.
const maxRatio = 1e9

// leastShape is the least shape of Bayesian weights: below it nearly all weight is on a few examples.
const leastShape = 0.01

// Options are the numbers that schemes take; each reads its own and ignores the others.
type Options struct {
	N     int     // examples, >= 1
	Ratio float64 // nu = S/N: in (0, 1e9], without replacement in (0, 1]; of bayesian its shape; all but kfold
	Folds int     // kfold: 2 to N
}

// ByName returns the scheme of that name. It refuses options out of range, before anything is computed.
// Schemes of fixed size draw the nearest integer to Ratio N examples.
func ByName(name string, o Options) (Scheme, error) {
	if err := o.check(name); err != nil {
		return nil, err
	}
	switch name {
	case "poisson":
		return Poisson{Ratio: o.Ratio}, nil
	case "bernoulli":
		return Bernoulli{Rate: o.Ratio}, nil
	case "bayesian":
		return Bayesian{N: o.N, Shape: o.Ratio}, nil
	case "kfold":
		return KFold{Folds: o.Folds, N: o.N}, nil
	}
	size := int(math.Round(o.Ratio * float64(o.N)))
	if size < 1 {
		return nil, fmt.Errorf("resample: ratio %g of %d examples leaves resamples without a draw", o.Ratio, o.N)
	}
	if name == "multinomial" {
		return Multinomial{Size: size, N: o.N}, nil
	}
	return Subsample{Size: size, N: o.N}, nil
}

// check reports the first option that the scheme of that name cannot take.
func (o Options) check(name string) error {
	if o.N < 1 {
		return fmt.Errorf("resample: cannot draw from %d examples", o.N)
	}
	switch name {
	case "bayesian":
		if !(o.Ratio >= leastShape && o.Ratio <= maxRatio) {
			return fmt.Errorf("resample: the shape of Bayesian weights, the ratio, must be from %g to %g, got %g",
				leastShape, maxRatio, o.Ratio)
		}
	case "poisson", "multinomial":
		if !(o.Ratio > 0 && o.Ratio <= maxRatio) {
			return fmt.Errorf("resample: ratio S/N must be above 0 and at most %g, got %g", maxRatio, o.Ratio)
		}
	case "bernoulli", "subsample":
		if !(o.Ratio > 0 && o.Ratio <= 1) {
			return fmt.Errorf("resample: subsampling without replacement takes a rate S/N above 0 and at most 1, "+
				"got %g", o.Ratio)
		}
	case "kfold":
		if o.Folds < 2 || o.Folds > o.N {
			return fmt.Errorf("resample: cross-validation of %d examples takes 2 to %d folds, got %d", o.N, o.N,
				o.Folds)
		}
	default:
		return fmt.Errorf("resample: unknown scheme %q (known: %s)", name, strings.Join(Names(), ", "))
	}
	return nil
}

// Check refuses a distribution under which no resample has examples, as of a scheme that was
// left at its zero value, or has more than can be counted.
func Check(law CountDistribution) error {
	if mean := law.Mean(); !(mean > 0 && mean <= maxRatio) {
		return fmt.Errorf("resample: the ratio S/N of %T is %g, must be above 0 and at most %g: set its fields",
			law, mean, maxRatio)
	}
	return nil
}
