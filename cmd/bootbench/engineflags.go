package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/model"
)

// engineFlags say in which form the kernel matrix is held.
type engineFlags struct {
	engine    string
	rankTol   float64
	rankError values.Percent
	maxRank   int
}

func (e *engineFlags) register(f *pflag.FlagSet) {
	f.StringVar(&e.engine, "engine", "auto",
		"`ENGINE` for the response matrix: exact (8 N^2 bytes, N^3 work), lowrank (pivoted Cholesky factor of "+
			"rank r: 8 N r bytes, N r^2 work; under mpirun both are shared by its processes, in a program built "+
			"with MPI), scalapack (spread over the processes of mpirun, in a program built with MPI: 8 N^2/P bytes "+
			"on each), or auto: exact, unless low rank is faster at --rank-tol (from 5000 distinct inputs on; "+
			"below only where the answer stays the same) or nothing else fits into memory")
	f.Float64Var(&e.rankTol, "rank-tol", 0,
		"low rank: residual of the kernel matrix, as a share of its diagonal, at which the factor stops, `TOL` "+
			"between 0 and 1; default: by --rank-error for the square loss, else 1e-4")
	e.rankError = values.Percent(model.DefaultRankError)
	f.Var(&e.rankError, "rank-error",
		"low rank: estimated change of the left-out error up to which the rank may be too low, a percentage `P%` "+
			"above 0%; auto then takes a higher rank or the exact engine; where neither fits, or lowrank was asked "+
			"for with another value, the answer does not count as converged")
	f.IntVar(&e.maxRank, "max-rank", 0, "low rank: largest rank `R`, at least 1; default: what fits into memory")
}

// apply puts the flags into a specification.
func (e *engineFlags) apply(spec *model.Spec) (err error) {
	if spec.Storage, err = model.ParseStorage(e.engine); err != nil {
		return usage.Errorf("--engine: %w", err)
	}
	switch {
	case !(e.rankTol >= 0 && e.rankTol < 1):
		return usage.Errorf("--rank-tol is %v, must lie between 0 and 1", e.rankTol)
	case e.maxRank < 0:
		return usage.Errorf("--max-rank is %d, must be at least 1", e.maxRank)
	}
	spec.RankTol, spec.MaxRank = e.rankTol, e.maxRank
	if float64(e.rankError) != model.DefaultRankError {
		spec.RankError = float64(e.rankError)
	}
	return nil
}
