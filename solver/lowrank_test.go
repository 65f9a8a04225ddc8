package solver_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLowRankMargin: on a factor of the kernel matrix a soft margin has the answer
// of the whole matrix, and the same one again. (With more sites than one task
// takes, rows of G are read side by side.)
func TestLowRankMargin(t *testing.T) {
	set := synthetic(t, "synthetic:blobs,n=300,d=2,seed=5")
	k, _ := gram(t, kernel.Spec{Gamma: 0.1}, set.X)
	factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, linalg.RankOptions{Tol: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	solve := func(k linalg.Kernel) *solver.Solution {
		s, err := solver.Solve(context.Background(), solver.Problem{
			Gram: k, Y: set.Y, Loss: loss.Hinge{C: 10}, Law: resample.Poisson{Ratio: 1},
		}, solver.Settings{})
		if err != nil || s.Status != solver.Converged {
			t.Fatal(s, err)
		}
		return s
	}
	whole, low, again := solve(k), solve(factor), solve(factor)
	if !slices.Equal(low.Mean, again.Mean) || !slices.Equal(low.Var, again.Var) {
		t.Error("the same solve has two answers")
	}
	for i, m := range whole.Mean {
		// Both stop at a residual of 1e-6, relative to the predictor's size.
		if math.Abs(low.Mean[i]-m) > 1e-4*(1+math.Abs(m)) ||
			math.Abs(low.Var[i]-whole.Var[i]) > 1e-3*(1e-2+whole.Var[i]) {
			t.Fatalf("site %d: mean %v, %v, variance %v, %v", i, low.Mean[i], m, low.Var[i], whole.Var[i])
		}
	}
}
