package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bootbench/blas"
	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
)

// breadthSet is n examples of a set by name, with standard targets: friedman1 and
// boston, and others where BOOTBENCH_DATA names a folder that holds them.
func breadthSet(b *testing.B, name string, n int) *dataset.Set {
	path := name
	switch name {
	case "friedman1":
		path = fmt.Sprintf("synthetic:friedman1,n=%d", n)
	case "california", "pumadyn8nm":
		if os.Getenv("BOOTBENCH_DATA") == "" {
			b.Skip("BOOTBENCH_DATA is not set")
		}
		path = filepath.Join(os.Getenv("BOOTBENCH_DATA"), name+".csv")
	}
	set := need.One(dataset.Load(path, dataset.Options{}))(b)
	if n > set.N() {
		b.Skip("not so many examples")
	}
	return standardTargets(set.Shuffled(rand.New(rand.NewPCG(0, 0))).Head(n))
}

// BenchmarkBreadth is the theory, a low-rank factor or the search for one included, in
// fits of a resample with repeated rows merged: the shortest of the one over the
// shortest of the other, both timed in turn. rank is 0 for the exact engine.
// Targets are standard, the kernel rbf of amplitude 1 on standard inputs.
func BenchmarkBreadth(b *testing.B) {
	for _, name := range []string{"friedman1", "boston", "pumadyn8nm", "california"} {
		for _, n := range []int{250, 500, 1000, 2000, 4000} {
			for _, gammaD := range []float64{0.01, 0.05, 0.2, 1} {
				for _, noise := range []float64{0.1, 1e-3} {
					for _, engine := range []model.Storage{model.Exact, model.Auto} {
						b.Run(fmt.Sprintf("data=%s/n=%d/gammad=%g/noise=%g/engine=%v", name, n, gammaD, noise, engine),
							func(b *testing.B) {
								if n > 1000 && blas.Bound().Name() != "openblas" {
									b.Skip("minutes in pure Go")
								}
								set := breadthSet(b, name, n)
								breadth(b, model.Spec{
									Set: set, Standardize: true, Loss: loss.Square{Noise: noise}, Storage: engine,
									Kernel: kernel.Spec{Gamma: gammaD / float64(set.D())},
								})
							})
					}
				}
			}
		}
	}
}

func breadth(b *testing.B, spec model.Spec) {
	whole := spec
	whole.Storage = model.Exact
	exact, err := model.Build(whole)
	if err != nil {
		b.Fatal(err)
	}
	scheme := resample.Poisson{Ratio: 1}
	x := &experiment{spec: spec, scheme: scheme, model: exact}
	trainer, err := exact.NewTrainer()
	if err != nil {
		b.Fatal(err)
	}
	f := make([]float64, exact.Sites())
	var theory, fits []float64
	var s *solver.Solution
	m := exact
	for b.Loop() {
		began := time.Now()
		if spec.Storage != model.Exact {
			if m, err = model.Build(spec); err != nil {
				b.Fatal(err)
			}
			if m.Factor == nil {
				began = began.Add(exact.GramTime) // both sides need the kernel matrix
			}
		}
		if s, err = m.Solve(context.Background(), scheme, solver.Settings{}); err != nil ||
			s.Status != solver.Converged {
			b.Fatal(s, err)
		}
		s.LeftOut(loss.SquareTest{})
		theory = append(theory, time.Since(began).Seconds())
		for draw := range 3 {
			weight := x.draw(draw).weight
			began := time.Now()
			if err := trainer.Fit(weight, x.model.Set.Y, f); err != nil {
				b.Fatal(err)
			}
			fits = append(fits, time.Since(began).Seconds())
		}
	}
	a, _ := m.Approximation()
	r := s.Stats.Refreshes
	b.ReportMetric(slices.Min(theory)/slices.Min(fits), "fits")
	b.ReportMetric(float64(a.Rank), "rank")
	b.ReportMetric(float64(r.Exact+r.Single), "refreshes")
	b.ReportMetric(float64(s.Stats.Linear), "products")
}
