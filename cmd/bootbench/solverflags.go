package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/solver"
)

// solverFlags steer the solve.
type solverFlags struct {
	tol       float64
	maxSweeps int
}

func (v *solverFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&v.tol, "tol", solver.DefaultTolerance,
		"largest relative change of a site parameter at convergence, `TOL` between 0 and 1")
	f.IntVar(&v.maxSweeps, "max-sweeps", solver.DefaultMaxSweeps,
		"refreshes of the response matrix at most, `K` at least 1")
}

func (v *solverFlags) settings() (solver.Settings, error) {
	settings := solver.Settings{Tolerance: v.tol, MaxSweeps: v.maxSweeps}
	if !(v.tol > 0 && v.tol < 1) {
		return settings, usage.Errorf("--tol is %v, must lie between 0 and 1", v.tol)
	}
	if v.maxSweeps < 1 {
		return settings, usage.Errorf("--max-sweeps is %d, must be at least 1", v.maxSweeps)
	}
	return settings, nil
}
