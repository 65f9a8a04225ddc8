package resample

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Names lists the schemes of ByName. Leave-one-out is kfold with as many folds as examples, the m-out-of-n
// bootstrap is multinomial with ratio m/n.
func Names() []string {
	return []string{"poisson", "multinomial", "bernoulli", "subsample", "kfold", "bayesian"}
}

// maxRatio is the largest ratio S/N of schemes with replacement; a window of
// counts has about 18 sqrt(n S/N) entries.
const maxRatio = 1e9

// leastShape is the least shape of Bayesian weights: below it nearly all weight is on a few examples.
const leastShape = 0.01

// Options are the parameters of schemes; each reads some and ignores the others.
type Options struct {
	N     int     // examples, >= 1
	Ratio float64 // nu = S/N: in (0, 1e9], without replacement in (0, 1]; of bayesian its shape; all but kfold
	Folds int     // kfold: 2 to N
}

// ByName returns the scheme of that name. It refuses options out of range, before anything is computed.
// Schemes of fixed size draw the nearest integer to Ratio N examples.
func ByName(name string, o Options) (Scheme, error) {
	refuse := func(format string, args ...any) (Scheme, error) {
		return nil, fmt.Errorf("resample: "+format, args...)
	}
	replaced := name == "poisson" || name == "multinomial"
	switch size := math.Round(o.Ratio * float64(o.N)); {
	case o.N < 1:
		return refuse("cannot draw from %d examples", o.N)
	case !slices.Contains(Names(), name):
		return refuse("unknown scheme %q (known: %s)", name, strings.Join(Names(), ", "))
	case name == "kfold" && (o.Folds < 2 || o.Folds > o.N):
		return refuse("cross-validation of %d examples takes 2 to %[1]d folds, got %d", o.N, o.Folds)
	case name == "kfold":
		return KFold{Folds: o.Folds, N: o.N}, nil
	case name == "bayesian" && !(o.Ratio >= leastShape && o.Ratio <= maxRatio):
		return refuse("the shape of Bayesian weights, the ratio, must be from %g to %g, got %g", leastShape,
			maxRatio, o.Ratio)
	case name == "bayesian":
		return Bayesian{N: o.N, Shape: o.Ratio}, nil
	case replaced && !(o.Ratio > 0 && o.Ratio <= maxRatio):
		return refuse("ratio S/N must be above 0 and at most %g, got %g", maxRatio, o.Ratio)
	case !replaced && !(o.Ratio > 0 && o.Ratio <= 1):
		return refuse("subsampling without replacement takes a rate S/N above 0 and at most 1, got %g", o.Ratio)
	case name == "poisson":
		return Poisson{Ratio: o.Ratio}, nil
	case name == "bernoulli":
		return Bernoulli{Rate: o.Ratio}, nil
	case size < 1:
		return refuse("ratio %g of %d examples leaves resamples without a draw", o.Ratio, o.N)
	case name == "multinomial":
		return Multinomial{Size: int(size), N: o.N}, nil
	default:
		return Subsample{Size: int(size), N: o.N}, nil
	}
}

// Check refuses a distribution of empty resamples, as of a zero scheme, or of too many draws.
func Check(law CountDistribution) error {
	if mean := law.Mean(); !(mean > 0 && mean <= maxRatio) {
		return fmt.Errorf("resample: the ratio S/N of %T is %g, must be above 0 and at most %g: set its fields",
			law, mean, maxRatio)
	}
	return nil
}
