package resample

import (
	"errors"
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

// GeneratedNames lists the schemes of ByName that generate targets (Generated).
func GeneratedNames() []string { return []string{Parametric, Residual, Wild} }

// maxRatio is the largest ratio S/N of schemes with replacement; a window of
// counts has about 18 sqrt(n S/N) entries.
const maxRatio = 1e9

// leastShape is the least shape of Bayesian weights: below it nearly all weight is on a few examples.
const leastShape = 0.01

// Options are the parameters of schemes; each reads some and ignores the others.
type Options struct {
	N     int     // examples, >= 1
	Ratio float64 // all but kfold: nu = S/N in (0, 1e9], without replacement in (0, 1]; bayesian: its shape
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
	case slices.Contains(GeneratedNames(), name):
		return NewGenerated(name, o.N), nil
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
		return refuse("subsampling without replacement takes a rate S/N above 0 and at most 1, got %g",
			o.Ratio)
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

// Check refuses a distribution of empty resamples, as of a zero scheme, of too many draws, or with fields
// that ByName refuses.
func Check(law CountDistribution) error {
	o := Options{N: examplesOf(law, 1)}
	switch l := law.(type) {
	case nil:
		return errors.New("resample: there is no scheme")
	case *Cached:
		return Check(l.CountDistribution)
	case Designed:
		if l.Scheme == nil || l.Draws == nil {
			return errors.New("resample: a Designed is made by Design.Of")
		}
		return Check(l.Scheme)
	case Generated:
		if l.Function < 0 || l.Function >= len(l.Laws) {
			return fmt.Errorf("resample: %s targets need Laws, which a trained model has", l.Kind)
		}
	case KFold:
		o.Folds = l.Folds
	case Bayesian:
		o.Ratio = l.Shape
	}
	mean := law.Mean()
	if o.N > 0 && !(mean > 0 && mean <= maxRatio) {
		return fmt.Errorf("resample: the ratio S/N of %T is %g, must be above 0 and at most %g: set its "+
			"fields", law, mean, maxRatio)
	}
	if o.Ratio == 0 {
		o.Ratio = mean
	}
	s, ok := law.(Scheme)
	if !ok || !slices.Contains(Names(), s.Name()) {
		return nil
	}
	_, err := ByName(s.Name(), o)
	return err
}

// CheckFor is Check for n examples: a scheme, or its design, of another number is refused.
func CheckFor(law CountDistribution, n int) error {
	if err := Check(law); err != nil {
		return err
	}
	if of := examplesOf(law, n); of != n {
		return fmt.Errorf("resample: the %T is for %d examples, and there are %d", law, of, n)
	}
	return nil
}

// examplesOf is the number of examples that a distribution is for, n if it is for any.
func examplesOf(law CountDistribution, n int) int {
	switch l := law.(type) {
	case Designed:
		return l.Design.N
	case Multinomial:
		return l.N
	case Subsample:
		return l.N
	case KFold:
		return l.N
	case Bayesian:
		return l.N
	case Generated:
		return l.N
	}
	return n
}
