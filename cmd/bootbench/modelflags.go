package main

import (
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// modelFlags say what is modelled.
type modelFlags struct {
	lossFlags
	kernelFlags
	dataFlags
	noStandardize, noNormalizeTarget bool
	bias                             biasFlags

	engine    *engineFlags // nil: exact
	maxMemory values.Size
}

// modelFlagNames are the flags that belong to DATA and have no meaning without it.
var modelFlagNames = slices.Concat(kernelFlagNames, []string{"no-standardize", "no-normalize-target",
	"bias", "no-bias"}, lossFlagNames)

func (m *modelFlags) register(f *pflag.FlagSet) {
	f.SortFlags = false
	m.lossFlags.register(f)
	m.kernelFlags.register(f)
	m.dataFlags.register(f)
	f.BoolVar(&m.noStandardize, "no-standardize", false,
		"take the features as they are; default: to mean 0 and population standard deviation 1 over DATA, "+
			"constant columns to 0")
	f.BoolVar(&m.noNormalizeTarget, "no-normalize-target", false,
		"regression: take the target as it is, amplitude 1; default: its mean is taken off, and added to what is "+
			"predicted, and the amplitude is its variance, unless DATA has a preset")
	m.bias.register(f)
	f.Var(&m.maxMemory, "max-memory",
		"memory that may be used, a number with unit (`SIZE`: 500MB, 8GiB); default: what the machine has left, "+
			"2GiB for the features")
}

// registerEngine adds the choice of the engine. Commands without it hold the
// kernel matrix whole.
func (m *modelFlags) registerEngine(f *pflag.FlagSet) {
	m.engine = &engineFlags{}
	m.engine.register(f)
}

// spec is the model of a data set: base, a preset or only a loss, with what the user asks for instead;
// and where it comes from.
func (m *modelFlags) spec(set *dataset.Set, base model.Preset) (spec model.Spec, source string, err error) {
	known := base.Source != ""
	chosen, err := m.choose(base.Loss, set)
	if err != nil {
		return spec, "", err
	}
	if err := fitTask(chosen, set); err != nil {
		return spec, "", err
	}
	if chosen, err = m.weigh(chosen, set); err != nil {
		return spec, "", err
	}
	spec = model.NewSpec(set, chosen)
	spec.MaxBytes = int64(m.maxMemory)
	asPreset := known && !m.given("kernel", "gamma", "length-scale")
	var preset *kernel.Spec
	if asPreset {
		preset, spec.Standardize = &base.Kernel, base.Standardize
	}
	if spec.Kernel, err = m.kernelFlags.spec(m.given, preset); err != nil {
		return spec, "", err
	}
	if spec.Kernel.Kind == kernel.Precomputed {
		spec.Standardize = false
	}
	if m.given("no-standardize") {
		spec.Standardize = !m.noStandardize
	}
	spec.NormalizeTarget = !known
	if m.given("no-normalize-target") {
		spec.NormalizeTarget = !m.noNormalizeTarget
	}
	if m.engine != nil {
		if err := m.engine.apply(&spec); err != nil {
			return spec, "", err
		}
	}
	if spec.Bias, err = m.bias.of(&spec, known && !m.given("loss")); err != nil {
		return spec, "", err
	}
	if err := spec.Kernel.Validate(set.D()); err != nil {
		return spec, "", usage.Wrap(err)
	}
	return spec, m.source(base, asPreset || known && !m.given(lossFlagNames...)), nil
}

// fitTask makes classes of targets for a loss of labels, and refuses labels for one of
// regression.
func fitTask(l loss.Loss, set *dataset.Set) error {
	about, err := loss.About(l.Name())
	switch {
	case err != nil:
		return nil
	case about.Task == loss.Regression && set.Task == dataset.Classification:
		return usage.Errorf("--loss %s is for regression; the targets of %s are the labels -1 and +1", l.Name(),
			set.Name)
	case about.Task == loss.Classification && set.Task == dataset.Regression:
		return set.Classify("")
	}
	return nil
}

// source says where a model comes from that holds something of a preset.
func (m *modelFlags) source(preset model.Preset, used bool) string {
	switch {
	case !used:
		return ""
	case m.given(modelFlagNames...):
		return preset.Source + ", changed"
	}
	return preset.Source
}

// set gives a flag another value: one of those that a grid runs over.
func (m *modelFlags) set(name, text string) (err error) {
	c, p := &m.covariance, &m.parameters
	number := map[string]*float64{"gamma": &c.Gamma, "coef0": &c.Coef0, "amplitude": &c.Amplitude,
		"constant": &c.Constant, "jitter": &c.Jitter, "C": &p.C, "epsilon": &p.Epsilon, "delta": &p.Delta}[name]
	switch {
	case number != nil:
		*number, err = strconv.ParseFloat(text, 64)
	case name == "degree":
		c.Degree, err = strconv.Atoi(text)
	case name == "length-scale":
		err = m.lengthScale.Set(text)
	case name == "noise":
		err = m.noise.Set(text)
	case name == "kernel":
		m.kernel = text
	case name == "class-weight":
		m.weights = text
	}
	m.over = append(slices.Clone(m.over), name)
	return err
}

// givenFlags are those that the user gave, or to which a grid gives values.
type givenFlags struct {
	flags *pflag.FlagSet
	over  []string
}

// given reports whether any of these flags is among them.
func (g *givenFlags) given(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return g.flags.Changed(name) || slices.Contains(g.over, name)
	})
}
