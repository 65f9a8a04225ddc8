package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/kernel"
)

// kernelFlagNames are the names of kernelFlags on the command line.
var kernelFlagNames = []string{"kernel", "gamma", "length-scale", "degree", "coef0", "amplitude", "constant",
	"jitter"}

// kernelFlags say which covariance function the model has.
type kernelFlags struct {
	kernel      string      // its kind
	covariance  kernel.Spec // all else, except the length scales
	lengthScale values.Floats
}

func (k *kernelFlags) register(f *pflag.FlagSet) {
	c := &k.covariance
	f.StringVar(&k.kernel, "kernel", "rbf",
		"covariance `KERNEL`: rbf, matern12, matern32, matern52, linear, poly or precomputed (the features are "+
			"then rows of the kernel matrix)")
	f.Float64Var(&c.Gamma, "gamma", 0,
		"rbf: exp(-G |x-x'|^2); matern: length scale 1/sqrt(2 G); poly: factor of x.x'; `G` above 0; default "+
			"1/(2 d), d the number of features")
	f.Var(&k.lengthScale, "length-scale",
		"exp(-1/2 sum_j ((x_j-x'_j)/L_j)^2) and alike for matern; one `L[,L...]` for all features or one for "+
			"each, above 0, in units of the (standardised) features; instead of --gamma; default: see --gamma")
	f.IntVar(&c.Degree, "degree", 0, "poly: degree `P`, at least 1; default 3")
	f.Float64Var(&c.Coef0, "coef0", 0, "poly: `C` in (G x.x' + C)^P, at least 0; default 0")
	f.Float64Var(&c.Amplitude, "amplitude", 0,
		"factor `A` of the kernel, from 1e-100 to 1e100, for regression in squared units of the target; default: "+
			"its variance, see --no-normalize-target, else 1")
	f.Float64Var(&c.Constant, "constant", 0,
		"added to every entry of the kernel, `B` from 0 to 1e100: a bias term; default 0")
	f.Float64Var(&c.Jitter, "jitter", 0,
		"added to the kernel's diagonal over the training examples, `J` from 0 to 1e100; above 0 examples with "+
			"equal inputs are kept apart; default 0")
}

// spec is the kernel that the flags say, or of kind and scales like that of a preset, nil for none. Zeros
// that a kernel.Spec would take for the default are refused.
func (k *kernelFlags) spec(given func(...string) bool, preset *kernel.Spec) (spec kernel.Spec, err error) {
	spec = k.covariance
	for _, v := range []struct {
		name string
		zero bool
	}{{"gamma", spec.Gamma == 0}, {"amplitude", spec.Amplitude == 0}, {"degree", spec.Degree == 0}} {
		if given(v.name) && v.zero {
			return spec, usage.Errorf("--%s is 0, must be above 0", v.name)
		}
	}
	for _, v := range []struct {
		name         string
		least, value float64
	}{{"amplitude", 1e-100, spec.Amplitude}, {"constant", 0, spec.Constant}, {"jitter", 0, spec.Jitter}} {
		if given(v.name) && v.value >= 0 && (v.value < v.least || v.value > 1e100) {
			return spec, usage.Errorf("--%s is %v, must lie between %v and 1e100", v.name, v.value, v.least)
		}
	}
	if preset != nil {
		spec.Kind, spec.Gamma, spec.LengthScale = preset.Kind, preset.Gamma, preset.LengthScale
		return spec, nil
	}
	spec.LengthScale = k.lengthScale
	if spec.Kind, err = kernel.ParseKind(k.kernel); err != nil {
		return spec, usage.Errorf("--kernel: %w", err)
	}
	return spec, nil
}
