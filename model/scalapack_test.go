//go:build mpi && openblas

package model_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"bootbench/blas"
	"bootbench/blas/scalapack"
	"bootbench/internal/need"
	"bootbench/linalg/dist"
	"bootbench/model"
	"bootbench/resample"
)

var world *scalapack.World

// Under mpirun every rank runs every test: scripts/mpi-test.sh.
func TestMain(m *testing.M) {
	var err error
	if world, err = scalapack.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	blas.Bound().SetThreads(world.Threads())
	status := m.Run()
	if status != 0 {
		world.Abort(status)
	}
	world.End()
	os.Exit(0)
}

func newGrid(t testing.TB) dist.Grid {
	t.Helper()
	grid := need.One(world.NewGrid(0, 0))(t)
	return grid
}

// The same fixed points as on the exact engine, on every number of ranks and for
// every size of block.
func TestScaLAPACKFindsTheExactFixedPoint(t *testing.T) {
	cases := spreadCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) { // ranks must keep in step
		spec := cases[name]
		want := answers(t, build(t, spec), resample.Poisson{Ratio: 1})
		for _, block := range []int{1, 7, 64} {
			t.Run(fmt.Sprintf("%s/block=%d", name, block), func(t *testing.T) {
				spec.Storage, spec.Grid, spec.Block = model.ScaLAPACK, newGrid(t), block
				agree(t, want, answers(t, build(t, spec), resample.Poisson{Ratio: 1}))
			})
		}
	}
}

// Exact resamples around a solution are those of the exact engine.
func TestScaLAPACKRefines(t *testing.T) {
	for _, name := range refines {
		t.Run(name, func(t *testing.T) {
			spec := spreadCases(t)[name]
			want := refined(t, spec)
			spec.Storage, spec.Grid = model.ScaLAPACK, newGrid(t)
			agreeRefined(t, want, refined(t, spec))
		})
	}
}

// Real ranks that share a low-rank factor find what one process finds.
func TestScaLAPACKSharesAFactor(t *testing.T) {
	cases := sharedCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			spec := cases[name]
			want := sharedAnswers(t, spec)
			spec.Grid = newGrid(t)
			agreeWithOne(t, want, sharedAnswers(t, spec))
		})
	}
}

// Ranks that have read different data are told so, all of them.
func TestScaLAPACKRefusesDifferentData(t *testing.T) {
	if world.Size() == 1 {
		t.Skip("there is one rank")
	}
	spec := grid(t, 50)
	spec.Storage, spec.Grid = model.ScaLAPACK, newGrid(t)
	if world.Rank() == 1 {
		spec.Set.Y[7]++
	}
	if _, err := model.Build(spec); err == nil || !strings.Contains(err.Error(), "not those of rank 0") {
		t.Errorf("rank %d: %v", world.Rank(), err)
	}
}
