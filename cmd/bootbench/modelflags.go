package main

import (
	"slices"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
)

// modelFlags say what is modelled.
type modelFlags struct {
	lossFlags
	kernelFlags
	dataFlags
	noStandardize, noNormalizeTarget, mapLabels bool
	bias                                        biasFlags

	engine    *engineFlags // nil: exact
	maxMemory values.Size
}

// modelFlagNames are the flags that belong to DATA and have no meaning without it.
var modelFlagNames = slices.Concat(kernelFlagNames, []string{"no-standardize", "no-normalize-target",
	"map-labels", "bias", "no-bias"}, lossFlagNames)

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
	f.BoolVar(&m.mapLabels, "map-labels", false,
		"say that a target of two values (0/1, 1/2, ...) is a label: the smaller stands for -1, the larger for "+
			"+1; default: so for losses of labels")
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

// options say how DATA is read.
func (m *modelFlags) options(stdin interruptible) dataset.Options {
	return m.dataFlags.options(int64(m.maxMemory), stdin)
}

// classify makes classes of the targets of DATA, if that is asked for.
func (m *modelFlags) classify(set *dataset.Set) error {
	if !m.mapLabels {
		return nil
	}
	if err := set.Classify(""); err != nil {
		return usage.Errorf("--map-labels: %w", err)
	}
	return nil
}

// spec is the model of a data set: its preset, if it has one, with what the
// user asks for in its place; and where the preset comes from.
func (m *modelFlags) spec(set *dataset.Set) (spec model.Spec, source string, err error) {
	preset, known := model.PresetFor(set)
	chosen, err := m.choose(preset, known, set)
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
	if spec.Kernel.Kind, err = kernel.ParseKind(m.kernel); err != nil {
		return spec, "", usage.Errorf("--kernel: %w", err)
	}
	asPreset := known && !m.given("kernel", "gamma", "length-scale")
	if asPreset {
		spec.Kernel, spec.Standardize = preset.Kernel, preset.Standardize
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
	if err := m.kernelFlags.apply(m.flags, &spec.Kernel); err != nil {
		return spec, "", err
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
	return spec, m.source(preset, asPreset || known && !m.given(lossFlagNames...)), nil
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

// given reports whether the user gave any of these flags.
func (m *modelFlags) given(names ...string) bool {
	return slices.ContainsFunc(names, m.flags.Changed)
}
