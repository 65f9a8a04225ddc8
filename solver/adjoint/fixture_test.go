package adjoint_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"bootbench/linalg"
	"bootbench/solver"
)

// symmetric is the matrix with elements f(i, j), i <= j.
func symmetric(n int, f func(i, j int) float64) *linalg.Sym {
	k := linalg.ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, f(i, j))
		}
	}
	return k
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func mustConverge(t *testing.T, p solver.Problem, s solver.Settings) *solver.Solution {
	t.Helper()
	solution, err := solver.Solve(context.Background(), p, s)
	if err != nil || solution.Status != solver.Converged {
		t.Fatal(err, solution)
	}
	return solution
}
