package solver_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"

	"pgregory.net/rapid"
)

// friedman is synthetic regression of n examples in 10 standardised inputs, rbf
// kernel of gamma 0.5/d, noise a tenth of the targets' variance, targets centred.
func friedman(b rapid.TB, n int) solver.Problem {
	set := synthetic(b, fmt.Sprintf("synthetic:friedman1,n=%d", n))
	y, targets := set.Targets(0), linalg.NewMatrix(n, 1)
	copy(targets.Data, y)
	_, standardizer := dataset.Standardize(targets)
	for i := range y {
		y[i] -= standardizer.Mean[0]
	}
	variance := standardizer.SD[0] * standardizer.SD[0]
	k, _ := gram(b, kernel.Spec{Kind: kernel.RBF, Gamma: 0.5 / 10, Amplitude: variance}, set.X)
	return bootstrap(k, y, loss.Square{Noise: 0.1 * variance}, 1)
}

// BenchmarkSteps times whole solves by the steps of M03 and by ours: on the Boston data and on synthetic
// regression, and with hard margins on the four sets of M04, where the diagonal alone does not determine d.
// It counts the refreshes of each kind; ms/refresh is the time of a solve over the exact, single and
// woodbury ones. flops/n3 counts the factorisations: 2/3 for diag(G), 1 for all of G, half in single
// precision. units is the least time divided by the time of n^3 flops of dgemm. The fit of one resample at
// ratio 1, its repeated rows merged, takes 0.084 of these.
func BenchmarkSteps(b *testing.B) {
	regression := []solver.Steps{solver.ExactSteps, solver.CubicSteps, solver.WoodburySteps,
		solver.PaperSteps, solver.MixedSteps}
	classification := []solver.Steps{solver.ExactSteps, solver.WoodburySteps, solver.MixedSteps}
	benchmarkSteps(b, "boston", func() solver.Problem { return boston(b, 1) }, regression)
	for _, n := range []int{250, 500, 1000, 2000, 4000} {
		benchmarkSteps(b, "friedman1", func() solver.Problem { return friedman(b, n) }, regression)
	}
	for _, set := range []string{"sonar", "crabs", "pima", "wisconsin"} {
		gammaD := 0.5
		if set == "crabs" {
			gammaD = 1
		}
		benchmarkSteps(b, set, func() solver.Problem { return margin(b, set, gammaD, loss.HardMargin{}) },
			classification)
	}
}

func benchmarkSteps(b *testing.B, data string, problem func() solver.Problem, all []solver.Steps) {
	p := problem()
	n, square := p.Gram.N(), p.Loss.Name() == loss.Square{}.Name()
	backend := blas.Bound().Name()
	for _, steps := range all {
		b.Run(fmt.Sprintf("data=%s/steps=%v/backend=%s/n=%d", data, steps, backend, n), func(b *testing.B) {
			if n > 1000 && backend != blas.OpenBLAS {
				b.Skip("minutes in pure Go")
			}
			cube := newCube(n)
			least, unit := math.Inf(1), math.Inf(1)
			var s *solver.Solution
			for b.Loop() {
				began := time.Now()
				s = mustConverge(b, p, solver.Settings{Steps: steps})
				least = math.Min(least, time.Since(began).Seconds())
				b.StopTimer()
				unit = math.Min(unit, cube.seconds())
				b.StartTimer()
			}
			r := s.Stats.Refreshes
			count := func(unit string, n int) { b.ReportMetric(float64(n), unit) }
			count("exact", r.Exact)
			count("single", r.Single)
			count("woodbury", r.Woodbury)
			count("diagonal", r.Diagonal)
			flops := float64(r.Exact) + 0.5*float64(r.Single)
			if square && (steps == solver.ExactSteps || steps == solver.WoodburySteps) {
				flops = (2*float64(r.Exact) + min(1, float64(r.Woodbury))) / 3 // all of G for updates
			}
			b.ReportMetric(1e3*least, "least-ms")
			b.ReportMetric(1e3*least/float64(r.Exact+r.Single+r.Woodbury), "ms/refresh")
			b.ReportMetric(flops, "flops/n3")
			b.ReportMetric(least/unit, "units")
		})
	}
}
