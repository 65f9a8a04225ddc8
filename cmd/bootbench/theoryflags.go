package main

import (
	"github.com/spf13/cobra"

	"bootbench/resample"
	"bootbench/solver"
)

// theoryFlags are the flags of the commands that solve the theory for DATA:
// estimate, curve, predict and grid. What a flag adds to an answer is filled
// into report.Estimate by estimateAt, which estimate, curve and grid share.
type theoryFlags struct {
	model  modelFlags
	scheme schemeFlags
	solver solverFlags
	test   testFlags
	refine refineFlags
}

// register adds what all of the commands have. How often DATA is redrawn (scheme) they
// register themselves.
func (t *theoryFlags) register(a *app, cmd *cobra.Command, refine string) {
	f := cmd.Flags()
	t.model.register(f)
	t.solver.register(f)
	t.model.registerEngine(f)
	t.test.registerTest(f)
	t.test.registerMetrics(f)
	t.refine.register(f, refine)
	a.tasks.registerShard(f)
}

// registerSolve adds what commands of one model have.
func (t *theoryFlags) registerSolve(a *app, cmd *cobra.Command) {
	t.register(a, cmd, refineAuto)
	t.test.registerPoints(cmd.Flags())
}

// plan is a solve of the theory, with the exact resamples beside it and what is printed.
type plan struct {
	scheme   resample.Scheme
	settings solver.Settings
	refine   refinement
	test     *testFlags
}

// at is the plan for a scheme.
func (p plan) at(scheme resample.Scheme) plan {
	p.scheme = scheme
	return p
}

// plan reads what needs no DATA: all but the scheme.
func (t *theoryFlags) plan() (p plan, err error) {
	p.test = &t.test
	if p.settings, err = t.solver.settings(); err != nil {
		return p, err
	}
	p.refine, err = t.refine.settings()
	return p, err
}
