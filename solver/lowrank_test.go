package solver_test

import (
	"math"
	"slices"
	"testing"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLowRank: on a factor of the kernel matrix a soft margin and the square loss have the answers of the
// whole matrix, covariances among them, and the same ones again. (With more sites than one task takes, rows
// of G are read side by side.)
func TestLowRank(t *testing.T) {
	set := synthetic(t, "synthetic:blobs,n=300,d=2,seed=5")
	k, _ := gram(t, kernel.Spec{Gamma: 0.1}, set.X)
	factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, linalg.RankOptions{Tol: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []loss.Loss{loss.Hinge{C: 10}, loss.Square{Noise: 0.1}} {
		solve := func(k linalg.Kernel) (s *solver.Solution, covariance []float64) {
			s = mustConverge(t, solver.Problem{Gram: k, Y: set.Y, Loss: l, Law: resample.Poisson{Ratio: 1}},
				solver.Settings{})
			covariance = make([]float64, s.Sites())
			if err := s.Covariance(covariance, 3); err != nil {
				t.Fatal(err)
			}
			return s, covariance
		}
		whole, want := solve(k)
		low, got := solve(factor)
		again, _ := solve(factor)
		if !slices.Equal(low.Mean, again.Mean) || !slices.Equal(low.Var, again.Var) {
			t.Errorf("%s: the same solve has two answers", l.Name())
		}
		for i, m := range whole.Mean {
			// Both stop at a residual of 1e-6, relative to the predictor's size.
			if math.Abs(low.Mean[i]-m) > 1e-4*(1+math.Abs(m)) ||
				math.Abs(low.Var[i]-whole.Var[i]) > 1e-3*(1e-2+whole.Var[i]) ||
				math.Abs(got[i]-want[i]) > 1e-3*(1e-2+want[3]) {
				t.Fatalf("%s, site %d: mean %v, %v, variance %v, %v, covariance %v, %v", l.Name(), i, low.Mean[i], m,
					low.Var[i], whole.Var[i], got[i], want[i])
			}
		}
	}
}
