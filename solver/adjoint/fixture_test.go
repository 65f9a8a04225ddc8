package adjoint_test

import (
	"context"
	"testing"

	"bootbench/internal/testutil/problems"
	"bootbench/solver"
)

var symmetric, normals = problems.Symmetric, problems.Normals

func mustConverge(t *testing.T, p solver.Problem, s solver.Settings) *solver.Solution {
	t.Helper()
	solution, err := solver.Solve(context.Background(), p, s)
	if err != nil || solution.Status != solver.Converged {
		t.Fatal(err, solution)
	}
	return solution
}
