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
	kernel                      string
	gamma                       float64
	lengthScale                 values.Floats
	degree                      int
	coef0                       float64
	amplitude, constant, jitter float64
}

func (k *kernelFlags) register(f *pflag.FlagSet) {
	f.StringVar(&k.kernel, "kernel", "rbf",
		"covariance `KERNEL`: rbf, matern12, matern32, matern52, linear, poly or precomputed (the features are "+
			"then rows of the kernel matrix)")
	f.Float64Var(&k.gamma, "gamma", 0,
		"rbf: exp(-G |x-x'|^2); matern: length scale 1/sqrt(2 G); poly: factor of x.x'; `G` above 0; default "+
			"1/(2 d), d the number of features")
	f.Var(&k.lengthScale, "length-scale",
		"exp(-1/2 sum_j ((x_j-x'_j)/L_j)^2) and alike for matern; one `L[,L...]` for all features or one for "+
			"each, above 0, in units of the (standardised) features; instead of --gamma; default: see --gamma")
	f.IntVar(&k.degree, "degree", 3, "poly: degree `P`, at least 1")
	f.Float64Var(&k.coef0, "coef0", 0, "poly: `C` in (G x.x' + C)^P, at least 0; default 0")
	f.Float64Var(&k.amplitude, "amplitude", 0,
		"factor `A` of the kernel, from 1e-100 to 1e100, for regression in squared units of the target; default: "+
			"its variance, see --no-normalize-target, else 1")
	f.Float64Var(&k.constant, "constant", 0,
		"added to every entry of the kernel, `B` from 0 to 1e100: a bias term; default 0")
	f.Float64Var(&k.jitter, "jitter", 0,
		"added to the kernel's diagonal over the training examples, `J` from 0 to 1e100; above 0 examples with "+
			"equal inputs are kept apart; default 0")
}

// apply sets what the user gave, and refuses zeros that a kernel.Spec would take for
// the default.
func (k *kernelFlags) apply(given func(...string) bool, spec *kernel.Spec) error {
	for _, v := range []struct {
		name string
		zero bool
	}{{"gamma", k.gamma == 0}, {"amplitude", k.amplitude == 0}, {"degree", k.degree == 0}} {
		if given(v.name) && v.zero {
			return usage.Errorf("--%s is 0, must be above 0", v.name)
		}
	}
	for _, v := range []struct {
		name         string
		least, value float64
	}{{"amplitude", 1e-100, k.amplitude}, {"constant", 0, k.constant}, {"jitter", 0, k.jitter}} {
		if given(v.name) && v.value >= 0 && (v.value < v.least || v.value > 1e100) {
			return usage.Errorf("--%s is %v, must lie between %v and 1e100", v.name, v.value, v.least)
		}
	}
	setGiven(given, "gamma", &spec.Gamma, k.gamma)
	setGiven(given, "length-scale", &spec.LengthScale, []float64(k.lengthScale))
	setGiven(given, "degree", &spec.Degree, k.degree)
	setGiven(given, "coef0", &spec.Coef0, k.coef0)
	setGiven(given, "amplitude", &spec.Amplitude, k.amplitude)
	setGiven(given, "constant", &spec.Constant, k.constant)
	setGiven(given, "jitter", &spec.Jitter, k.jitter)
	return nil
}

// setGiven sets to the value of a flag that the user gave.
func setGiven[T any](given func(...string) bool, name string, to *T, value T) {
	if given(name) {
		*to = value
	}
}
