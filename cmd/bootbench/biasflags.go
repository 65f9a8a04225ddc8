package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
)

// biasFlags say whether the predictor has a bias.
type biasFlags struct{ on, off bool }

func (b *biasFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&b.on, "bias", false,
		"add an unpenalised intercept to the predictor, as in LIBSVM; default: for losses of labels, except with "+
			"a preset, --engine scalapack, probit and logit")
	f.BoolVar(&b.off, "no-bias", false, "no intercept; default: see --bias")
}

// of is whether a specification has a bias. A preset that names the loss has none.
func (b *biasFlags) of(spec *model.Spec, asPreset bool) (bool, error) {
	if b.on && b.off {
		return false, usage.Errorf("--bias and --no-bias contradict each other")
	}
	byDefault := !asPreset && spec.Storage != model.ScaLAPACK && model.BiasByDefault(spec.Set, spec.Loss)
	return b.on || byDefault && !b.off, nil
}

// biasNote says why a classifier has no bias where others have one by default; "" for others.
func biasNote(m *model.Model) string {
	switch {
	case m.Bias || m.Set.Task != dataset.Classification:
		return ""
	case m.Form() == model.ScaLAPACK:
		return "no bias: the scalapack engine has none"
	case !model.BiasByDefault(m.Set, m.Loss):
		return "no bias: a posterior mean has none"
	}
	return ""
}
