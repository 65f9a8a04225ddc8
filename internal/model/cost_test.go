package model_test

import (
	"context"
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
			loss.Hinge{C: 1},
			0.03},
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
		b.Run(c.data+"/"+c.loss.Name(), func(b *testing.B) {
			spec := model.NewSpec(testutil.Must(dataset.Load(c.data, dataset.Options{}))(b), c.loss)
			spec.Kernel.Gamma, spec.Storage, spec.Bias = c.gamma, model.Exact, !spec.Set.AreNumbers()
			m, law := testutil.Must(model.Build(context.Background(), spec))(b), resample.Poisson{Ratio: 1}
			counted := model.CostOf(m, resample.Resamples{Scheme: law, Y: m.Y})
			settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 64, Workers: 1}}
			for b.Loop() {
				single := testutil.Must(model.Retrain(b.Context(), m, model.Single, law, settings))(b)
				began := time.Now()
				s := testutil.Must(m.SolveRoughly(b.Context(), law, solver.Settings{}))(b)
				solve := time.Since(began)
				blocks := testutil.Must(model.RetrainAround(b.Context(), m, s, law, settings))(b)
				b.ReportMetric(blocks.Stats.Elapsed.Seconds()*1e9/64/counted[1], "block/counted")
				b.ReportMetric(single.Stats.Elapsed.Seconds()*1e9/64/counted[2], "single/counted")
				b.ReportMetric(solve.Seconds()*1e9/counted[0], "solve/counted")
			}
		})
	}
}
