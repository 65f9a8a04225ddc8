package main

import (
	"github.com/spf13/pflag"

	"bootbench/resample"
)

// theoryFlags are the flags of the commands that solve the theory for DATA:
// estimate, curve, predict and grid. A flag that all of these are to take is
// registered in register; what it adds to an answer is filled
// into report.Estimate by estimateAt, which estimate, curve and grid share.
type theoryFlags struct {
	model  modelFlags
	scheme schemeFlags
	solver solverFlags
	test   testFlags
	refine refineFlags
}

// register adds what the commands have in common. How often DATA is redrawn
// (scheme) and what is printed of each example (test) they register themselves.
func (t *theoryFlags) register(f *pflag.FlagSet) {
	t.model.register(f)
	t.solver.register(f)
	t.model.registerEngine(f)
}

// schemes are the resampling schemes for a list of ratios.
func (t *theoryFlags) schemes(ratios []float64, n int) ([]resample.Scheme, error) {
	schemes := make([]resample.Scheme, len(ratios))
	for i, ratio := range ratios {
		var err error
		if schemes[i], err = t.scheme.of(ratio, n); err != nil {
			return nil, err
		}
	}
	return schemes, nil
}
