package main

import (
	"math"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/resample"
)

// schemeFlags say how training sets are redrawn.
type schemeFlags struct {
	scheme string
	ratio  float64
	folds  int
	givenFlags
}

// defaultFolds is the number of folds where none is given.
const defaultFolds = 10

func (r *schemeFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&r.ratio, "ratio", 1,
		"size of a resample over that of DATA, `NU` = S/N, above 0; without replacement at most 1")
	r.registerScheme(f)
}

func (r *schemeFlags) registerScheme(f *pflag.FlagSet) {
	r.flags = f
	f.StringVar(&r.scheme, "scheme", "poisson",
		"resampling `SCHEME`: poisson (S is Poisson, mean NU N), multinomial (S = NU N draws with replacement: "+
			"the bootstrap, or m out of n), subsample (S = NU N without replacement), bernoulli (each example with "+
			"probability NU) or kfold (cross-validation: all folds but one)")
	f.IntVar(&r.folds, "folds", defaultFolds,
		"kfold: number of folds, an integer `K` from 2 to N; N is leave-one-out")
}

// check refuses what is wrong whatever DATA is.
func (r *schemeFlags) check(ratio float64) error {
	if err := usage.OneOf("scheme", r.scheme, resample.Names()...); err != nil {
		return err
	}
	kfold := r.scheme == "kfold"
	switch {
	case r.given("folds") && !kfold:
		return usage.Errorf("--folds belongs to --scheme kfold, not to %s", r.scheme)
	case kfold && r.given("ratio") && ratio != 1:
		return usage.Errorf("--ratio: --scheme kfold takes --folds instead")
	case r.folds < 2:
		return usage.Errorf("--folds is %d, must be at least 2", r.folds)
	case !(ratio > 0) || math.IsInf(ratio, 0):
		return usage.Errorf("--ratio is %v, must be above 0 and finite", ratio)
	case ratio > 1 && (r.scheme == "subsample" || r.scheme == "bernoulli"):
		return usage.Errorf("--ratio is %v, must be at most 1 with --scheme %s: nothing is drawn twice", ratio,
			r.scheme)
	}
	return nil
}

// of is the scheme for n examples at a ratio.
func (r *schemeFlags) of(ratio float64, n int) (resample.Scheme, error) {
	scheme, err := resample.ByName(r.scheme, resample.Options{Ratio: ratio, Folds: r.folds, N: n})
	if err != nil {
		flag := "--ratio"
		if r.scheme == "kfold" {
			flag = "--folds"
		}
		return nil, usage.Errorf("%s: %s", flag, strings.TrimPrefix(err.Error(), "resample: "))
	}
	return scheme, nil
}
