//go:build mpi && openblas

package linalg_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"testing"

	"bootbench/linalg"
	"bootbench/linalg/scalapack"
)

// Under mpirun the suite of conformance_test.go runs on rank 0, with an engine whose matrix real ranks hold:
// scripts/mpi-test.sh. The others serve it. A test's matrix goes to them whole.
func TestMain(m *testing.M) {
	grid, err := scalapack.Join()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if grid.Rank() > 0 {
		scalapack.Serve(grid, decodeSym)
		os.Exit(0)
	}
	flag.Parse()
	servants := scalapack.NewServants(grid)
	clear(linalg.Engines)
	for _, block := range []int{1, 7, 64, 128} {
		linalg.Engines[fmt.Sprintf("scalapack/block=%d", block)] = func(k *linalg.Sym) linalg.Engine {
			spread, err := servants.Matrix(symBlocks{k}, encodeSym(k), block, 0, 1<<40)
			if err != nil {
				panic(err)
			}
			return spread.Engine()
		}
	}
	status := m.Run()
	servants.End()
	os.Exit(status)
}

// encodeSym is the matrix row by row, and decodeSym makes it again.
func encodeSym(k *linalg.Sym) []byte {
	var text []byte
	for i := range k.N() {
		text, _ = binary.Append(text, binary.LittleEndian, k.Row(i))
	}
	return text
}

func decodeSym(text []byte) (linalg.Blocks, error) {
	v := make([]float64, len(text)/8)
	if _, err := binary.Decode(text, binary.LittleEndian, v); err != nil {
		return nil, err
	}
	n := 0
	for n*(n+1)/2 < len(v) {
		n++
	}
	k := linalg.ZeroSym(n)
	for i := range n {
		v = v[copy(k.Row(i), v):]
	}
	return symBlocks{k}, nil
}
