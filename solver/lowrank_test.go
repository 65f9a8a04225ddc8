package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLowRank: on a factor that is K but for rounding the answer is the exact engine's, with a bias and
// without, covariances and a new input among it, and the same again to the last bit. (With more sites than
// one task takes, rows of G are read side by side.)
func TestLowRank(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(72, 1))
	x, k := line(rng, n, 0.3, 0)
	factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, linalg.RankOptions{Tol: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	targets, labels, row := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range x {
		targets[i] = 3 + math.Sin(5*v) + 0.3*rng.NormFloat64()
		labels[i] = math.Copysign(1, math.Sin(5*v)+0.5+0.5*rng.NormFloat64())
		row[i] = rbf(0.1, v, 0.3)
	}
	for _, p := range []solver.Problem{
		{Y: targets, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 1}},
		{Y: labels, Loss: loss.Hinge{C: 1}, Law: resample.Poisson{Ratio: 1}},
	} {
		for _, bias := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/bias=%t", p.Loss.Name(), bias), func(t *testing.T) {
				solve := func(k linalg.Kernel) (s *solver.Solution, covariance []float64) {
					p := p
					if p.Gram = k; bias {
						p = withBias(p)
					}
					s = mustConverge(t, p, solver.Settings{Tolerance: 1e-9})
					covariance = make([]float64, n)
					if err := s.Covariance(covariance, 3); err != nil {
						t.Fatal(err)
					}
					return s, covariance
				}
				exact, want := solve(k)
				m, v, err := exact.Predict(slices.Clone(row))
				if err != nil {
					t.Fatal(err)
				}
				first, _ := solve(factor)
				low, got := solve(factor)
				if !slices.Equal(low.Mean, first.Mean) || !slices.Equal(low.Var, first.Var) {
					t.Error("the same solve has two answers")
				}
				sameAnswer(t, low, exact, 1e-6)
				same(t, "covariances", got, want, 1e-5)
				coordinates := make([]float64, low.InputDim())
				for q, pivot := range factor.Pivots() {
					coordinates[q] = row[pivot]
				}
				factor.Coordinates(coordinates)
				lowMean, lowVar, err := low.Predict(coordinates)
				if err != nil {
					t.Fatal(err)
				}
				sameNumber(t, "mean at a new input", lowMean[0], m[0], 1e-6)
				sameNumber(t, "variance at a new input", lowVar[0], v[0], 1e-6)
			})
		}
	}
}
