//go:build mpi && openblas

package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"

	"bootbench/blas"
	"bootbench/kernel"
	"bootbench/linalg/scalapack"
)

// joinServants joins the processes that mpirun has started. On rank 0 it returns the others, which serve
// until the program ends.
func joinServants() (*scalapack.Servants, error) {
	world, err := scalapack.Start()
	if err != nil {
		return nil, err
	}
	grid, err := world.NewGrid(0, 0)
	if err != nil {
		return nil, err
	}
	if world.Size() > 1 {
		limitThreads(world.Threads())
	}
	if world.Rank() == 0 {
		return scalapack.NewServants(grid), nil
	}
	signal.Ignore(interrupts()...) // rank 0 ends the run
	if err := scalapack.Serve(grid, kernel.Unmarshal); err != nil {
		fmt.Fprintf(os.Stderr, "bootbench: rank %d: %v\n", world.Rank(), err)
		world.Abort(exitFailed)
	}
	os.Exit(exitDone)
	return nil, nil
}

// limitThreads divides the processors of a machine among its ranks, unless the user has done so.
func limitThreads(threads int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(threads)
	}
	if os.Getenv("OPENBLAS_NUM_THREADS")+os.Getenv("OMP_NUM_THREADS") == "" {
		blas.Bound().SetThreads(threads)
	}
}

// underMPI reports whether this is one of several processes started by MPI: Open MPI's mpirun, others' (PMI),
// or Slurm's srun --mpi=pmix.
func underMPI() bool {
	several := func(name string) bool {
		count, err := strconv.Atoi(os.Getenv(name))
		return err == nil && count > 1
	}
	_, pmix := os.LookupEnv("PMIX_RANK")
	return several("OMPI_COMM_WORLD_SIZE") || several("PMI_SIZE") || pmix && several("SLURM_STEP_NUM_TASKS")
}
