package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// margin is a problem of M04: an embedded set of labels, rbf kernel of gamma gammaD/d, Poisson ratio 1.
func margin(t testing.TB, set string, gammaD float64, l loss.Loss) solver.Problem {
	p := kernelOf(t, set, gammaD)
	p.Loss, p.Law = l, resample.Poisson{Ratio: 1}
	return p
}

// TestSteps counts the refreshes of the steps of M03, and of the default ones, to a relative change of
// 1e-6. An independent program of another language counted want, in the order of Steps; its start values
// differ a little, hence the tolerance of one. Of the default steps on regressions it has n^3 units, 3.0
// and 2.5: mixed are the factorisations in double and single precision that make these; in pure Go all are
// in double.
func TestSteps(t *testing.T) {
	type counts [2]int // refreshes, rank updates; or in double precision, single
	_, single := blas.Bound().(blas.Single)
	checkMixed := func(name string, r solver.Refreshes, want counts) {
		t.Helper()
		if abs(r.Exact+r.Single-want[0]-want[1]) > 1 || single && abs(r.Single-want[1]) > 1 {
			t.Errorf("%s, mixed: %+v, want %v", name, r, want)
		}
	}
	for name, c := range map[string]struct {
		problem solver.Problem
		mixed   counts // {}: unknown
		want    [4]counts
	}{
		"boston, 0.5":     {boston(t, 0.5), counts{}, [4]counts{{21}, {9}, {17, 4}, {8, 1}}},
		"boston, 1":       {boston(t, 1), counts{2, 2}, [4]counts{{16}, {7}, {12, 4}, {6, 1}}},
		"boston, 2":       {boston(t, 2), counts{}, [4]counts{{8}, {5}, {8, 0}, {4, 1}}},
		"friedman1, 500":  {friedman(t, 500), counts{2, 1}, [4]counts{{7}, {4}, {7}, {4}}},
		"friedman1, 1000": {friedman(t, 1000), counts{2, 1}, [4]counts{{7}, {4}, {7}, {4}}},
	} {
		if testing.Short() && (name == "friedman1, 1000" || name == "boston, 0.5") {
			continue // the run without -short has it
		}
		mixed := mustConverge(t, c.problem, solver.Settings{})
		if c.mixed != (counts{}) {
			checkMixed(name, mixed.Stats.Refreshes, c.mixed)
		}
		for k, want := range c.want {
			steps := solver.Steps(k + 1)
			s := mustConverge(t, c.problem, solver.Settings{Steps: steps})
			got := s.Stats.Refreshes
			if abs(got.Exact-want[0]) > 1 || abs(got.Woodbury-want[1]) > 1 || got.Single > 0 {
				t.Errorf("%s, %v: %+v, want %v", name, steps, got, want)
			}
			sameAnswer(t, s, mixed, 30*solver.DefaultTolerance)
		}
	}
	// Margin losses: sweeps of ExactSteps, refreshes of MixedSteps.
	for _, c := range []struct {
		set   string
		loss  loss.Loss
		plain int
		mixed counts
	}{
		{"sonar", loss.HardMargin{}, 16, counts{3, 3}}, {"sonar", loss.Hinge{C: 1}, 14, counts{2, 3}},
		{"wisconsin", loss.HardMargin{}, 30, counts{2, 4}}, {"pima", loss.Hinge{C: 1}, 23, counts{2, 4}},
	} {
		p := margin(t, c.set, 0.5, c.loss)
		mixed, exact := mustConverge(t, p, solver.Settings{}), mustConverge(t, p, solver.Settings{Steps: 1})
		few := mustConverge(t, p, solver.Settings{Steps: solver.WoodburySteps})
		name := c.set + ", " + c.loss.Name()
		checkMixed(name, mixed.Stats.Refreshes, c.mixed)
		e, w := exact.Stats.Refreshes, few.Stats.Refreshes
		if abs(e.Exact-c.plain) > 1 || w.Exact > e.Exact || w.Woodbury == 0 {
			t.Errorf("%s: exact %+v, want %d; woodbury %+v", name, e, c.plain, w)
		}
		x, _ := few.LeftOut(loss.ZeroOne{})
		y, _ := mixed.LeftOut(loss.ZeroOne{})
		sameNumber(t, "left-out error", x, y, 1e-4)
	}
	for _, steps := range []solver.Steps{solver.CubicSteps, solver.PaperSteps, -1, 5} {
		_, err := solver.Solve(context.Background(), ordinaryMargin(), solver.Settings{Steps: steps})
		if !errors.Is(err, solver.ErrProblem) {
			t.Errorf("steps %d of a margin loss: %v", int(steps), err)
		}
	}
}

// TestPasses: without Newton's method passes at fixed G bring the refreshes of a margin under half of the
// exact steps'.
func TestPasses(t *testing.T) {
	p := margin(t, "crabs", 0.5, loss.HardMargin{})
	few := mustConverge(t, p, solver.Settings{MaxBytes: -1}).Stats
	many := mustConverge(t, p, solver.Settings{MaxBytes: -1, Steps: solver.ExactSteps}).Stats
	taken := few.Refreshes.Exact + few.Refreshes.Single
	if taken > 18 || few.Passes < taken || many.Passes > 0 {
		t.Errorf("%+v, exact steps %+v", few, many)
	}
}

func abs(n int) int { return max(n, -n) }

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
