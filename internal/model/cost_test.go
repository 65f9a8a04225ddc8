package model_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// BenchmarkCost holds the costs of fits to account: times per fit in blocks and one by one, and of the rough
// theory, over what is counted.
func BenchmarkCost(b *testing.B) {
	for _, c := range []struct {
		data  string
		loss  loss.Loss
		gamma float64
	}{
		{"crabs", loss.Hinge{C: 10}, 0.06}, {"sonar", loss.Hinge{C: 10}, 0.005}, {"wisconsin",
			loss.Hinge{C: 1}, 0.03},
		{"wisconsin", loss.Hinge{C: 10}, 0.3}, {"pima", loss.Hinge{C: 1}, 0.04}, {"pima", loss.HardMargin{},
			0.04},
		{"synthetic:rings,n=1000", loss.Hinge{C: 10}, 0.3}, {"synthetic:blobs,n=1000,d=5", loss.Hinge{C: 1},
			0.06},
		{"synthetic:rings,n=3000", loss.Hinge{C: 10}, 0.3}, {"synthetic:blobs,n=3000,d=3", loss.Hinge{C: 1},
			0.1},
		{"boston", loss.Square{Noise: 5}, 0.02}, {"synthetic:friedman1,n=1000", loss.Square{Noise: 1}, 0.03},
		{"synthetic:friedman1,n=2000", loss.Square{Noise: 1}, 0.03}, {"sonar", loss.Logistic{C: 1}, 0.005},
		{"pima", loss.Logistic{C: 1}, 0.04}, {"boston", loss.Huber{C: 1, Epsilon: 1}, 0.02},
		{"boston", loss.EpsInsensitive{C: 10, Epsilon: 0.1}, 0.02},
	} {
		for _, storage := range []model.Storage{model.Exact, model.LowRank} {
			b.Run(fmt.Sprintf("%s/%s/%v", c.data, c.loss.Name(), storage), func(b *testing.B) {
				spec := model.NewSpec(testutil.Must(dataset.Load(c.data, dataset.Options{}))(b), c.loss)
				spec.Kernel.Gamma, spec.Storage, spec.Bias = c.gamma, storage, !spec.Set.AreNumbers()
				benchmarkCost(b, testutil.Must(model.Build(context.Background(), spec))(b))
			})
		}
	}
}

// benchmarkCost measures times over what is counted.
func benchmarkCost(b *testing.B, m *model.Model) {
	law := resample.Poisson{Ratio: 1}
	c := m.Cost(b.Context(), law, resample.Resamples{Scheme: law, Y: m.Y})
	settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 64, Workers: 1}}
	measure := func(name string, counted float64, compute func()) {
		began := time.Now()
		compute()
		b.ReportMetric(float64(time.Since(began).Nanoseconds())/counted, name+"/counted")
	}
	for b.Loop() {
		var s *solver.Solution
		measure("single", 64*c.Single, func() {
			testutil.Must(model.Retrain(b.Context(), m, model.Single, law, settings))(b)
		})
		measure("theory", c.Theory, func() {
			testutil.Must(m.Solve(b.Context(), law, solver.Settings{}))(b)
		})
		measure("rough", c.Rough, func() {
			s = testutil.Must(m.SolveRoughly(b.Context(), law, solver.Settings{}))(b)
		})
		measure("block", 64*c.Block, func() {
			testutil.Must(model.RetrainAround(b.Context(), m, s, law, settings))(b)
		})
	}
}
