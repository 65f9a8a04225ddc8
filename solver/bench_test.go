package solver_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/solver"
)

// friedman is synthetic regression of n examples in 10 standardised inputs, rbf
// kernel of gamma 0.5/d, noise a tenth of the targets' variance, targets centred.
func friedman(b *testing.B, n int) solver.Problem {
	set := synthetic(b, fmt.Sprintf("synthetic:friedman1,n=%d", n))
	y, targets := set.Y, dataset.NewMatrix(n, 1)
	copy(targets.Data, y)
	_, standardizer := dataset.Standardize(targets)
	for i := range y {
		y[i] -= standardizer.Mean[0]
	}
	variance := standardizer.SD[0] * standardizer.SD[0]
	k, _ := gram(b, kernel.Spec{Kind: kernel.RBF, Gamma: 0.5 / 10, Amplitude: variance}, set.X)
	return bootstrap(k, y, loss.Square{Noise: 0.1 * variance}, 1)
}

// BenchmarkSolve is with all accelerations and without any. flops/n3 counts what the refreshes cost by order
// of magnitude, and single precision half of it: what is left when the machine is noisy; units are all of G
// at dgemm's rate. The fit of one resample at ratio 1, its repeated rows merged, takes 0.084 of it.
func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{500, 1000, 2000, 4000} {
		for _, c := range []struct {
			name     string
			settings solver.Settings
		}{
			{"all", solver.Settings{}},
			{"exact", solver.Settings{Plain: true}},
		} {
			b.Run(fmt.Sprintf("steps=%s/backend=%s/n=%d", c.name, blas.Bound().Name(), n), func(b *testing.B) {
				if n > 1000 && blas.Bound().Name() != "openblas" {
					b.Skip("minutes in pure Go")
				}
				p, cube := friedman(b, n), newCube(n)
				solve, unit := math.Inf(1), math.Inf(1)
				var s *solver.Solution
				for b.Loop() {
					began := time.Now()
					s = mustConverge(b, p, c.settings)
					solve = math.Min(solve, time.Since(began).Seconds())
					unit = math.Min(unit, cube.seconds())
				}
				b.ReportMetric(1e3*solve, "least-ms")
				b.ReportMetric(solve/unit, "units")
				r := s.Stats.Refreshes
				b.ReportMetric(float64(r.Exact), "exact")
				b.ReportMetric(float64(r.Single), "single")
				b.ReportMetric(float64(r.Woodbury), "low-rank")
				b.ReportMetric(float64(r.Diagonal), "estimates")
				b.ReportMetric(float64(s.Stats.Linear), "linear")
				whole := 1.0 // all of G, for the estimates
				if c.settings.Plain {
					whole = 2. / 3
				}
				b.ReportMetric(whole*float64(r.Exact)+0.5*float64(r.Single), "flops/n3")
			})
		}
	}
}
