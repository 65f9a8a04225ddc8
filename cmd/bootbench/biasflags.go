package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/loss"
)

// biasFlags say whether the predictor has a bias.
type biasFlags struct {
	on, off bool
	hinge   bool // the hinge loss has one unless told otherwise, as LIBSVM has it: loo and train
}

func (b *biasFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&b.on, "bias", false,
		"add a constant to the predictor that costs nothing, as LIBSVM does: the limit of a large --constant; default: none, but for --loss hinge of loo and train")
	f.BoolVar(&b.off, "no-bias", false, "add none; default: see --bias")
}

// of is whether a model with this loss has a bias.
func (b *biasFlags) of(l loss.Loss) (bool, error) {
	if b.on && b.off {
		return false, usage.Errorf("--bias and --no-bias contradict each other")
	}
	_, hinge := l.(loss.Hinge)
	return b.on || b.hinge && hinge && !b.off, nil
}
