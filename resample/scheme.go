package resample

import (
	"fmt"
	"math"
	"strings"
)

// Names lists the schemes that ByName knows. Leave-one-out is kfold with as many
// folds as examples, the m-out-of-n bootstrap is multinomial with size m.
func Names() []string { return []string{"poisson", "multinomial", "bernoulli", "subsample", "kfold"} }

// Options are the numbers that schemes take; each reads its own and ignores the
// others.
type Options struct {
	N     int     // examples, >= 1
	Ratio float64 // nu = S/N: in (0, 1e9], without replacement in (0, 1]; all but kfold
	Size  int     // S, in the place of Ratio where it is not 0
	Folds int     // kfold: 2 to N
}

// ratio is S/N.
func (o Options) ratio() float64 {
	if o.Size != 0 {
		return float64(o.Size) / float64(o.N)
	}
	return o.Ratio
}

// size is S, the nearest integer to Ratio N unless it is given.
func (o Options) size() (int, error) {
	if o.Size != 0 {
		return o.Size, nil
	}
	size := math.Round(o.Ratio * float64(o.N))
	if size < 1 {
		return 0, fmt.Errorf("resample: ratio %g of %d examples leaves resamples without a draw", o.Ratio, o.N)
	}
	return int(size), nil
}

// ByName is the scheme of that name. It refuses options out of range, before
// anything is computed.
func ByName(name string, o Options) (Scheme, error) {
	if o.N < 1 {
		return nil, fmt.Errorf("resample: cannot draw from %d examples", o.N)
	}
	switch name {
	case "poisson":
		return orError(NewPoisson(o.ratio()))
	case "multinomial":
		if err := checkRatio(o.ratio()); err != nil {
			return nil, err
		}
		size, err := o.size()
		if err != nil {
			return nil, err
		}
		return orError(NewMultinomial(size, o.N))
	case "bernoulli":
		return orError(NewBernoulli(o.ratio()))
	case "subsample":
		if err := checkRate(o.ratio()); err != nil {
			return nil, err
		}
		size, err := o.size()
		if err != nil {
			return nil, err
		}
		return orError(NewSubsample(size, o.N))
	case "kfold":
		return orError(NewKFold(o.Folds, o.N))
	}
	return nil, fmt.Errorf("resample: unknown scheme %q (known: %s)", name, strings.Join(Names(), ", "))
}

// orError keeps an invalid scheme from its user.
func orError[S Scheme](s S, err error) (Scheme, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
