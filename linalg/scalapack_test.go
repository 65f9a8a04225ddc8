//go:build mpi && openblas

package linalg

import (
	"fmt"
	"os"
	"testing"

	"bootbench/blas"
	"bootbench/blas/scalapack"
)

// Under mpirun the suite of conformance_test.go runs on real ranks:
// scripts/mpi-test.sh. Every rank runs every test.
func TestMain(m *testing.M) {
	world, err := scalapack.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	blas.Bound().SetThreads(world.Threads())
	engines = map[string]func(k *Sym) Engine{}
	shapes := [][2]int{{0, 0}, {1, world.Size()}, {world.Size(), 1}}
	for _, shape := range shapes {
		grid, err := world.NewGrid(shape[0], shape[1])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		rows, cols := grid.Shape()
		for _, block := range []int{1, 7, 64} {
			engines[fmt.Sprintf("scalapack/grid=%dx%d/block=%d", rows, cols, block)] = func(k *Sym) Engine {
				spread, err := NewBlockCyclic(grid, symBlocks{k}, block, 0, 1<<30)
				if err != nil {
					panic(err)
				}
				return spread.Engine()
			}
		}
	}
	status := m.Run()
	if status != 0 {
		world.Abort(status)
	}
	world.End()
	os.Exit(0)
}
