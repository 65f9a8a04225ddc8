package fits_test

import (
	"context"
	"fmt"
	"testing"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// BenchmarkFit trains resamples in blocks, and one by one with the exact trainers: ns/op
// is the time of one fit on all workers, iterations those of a fit.
func BenchmarkFit(b *testing.B) {
	for _, c := range []struct {
		set    string
		loss   loss.Loss
		gammaD float64
	}{
		{"boston", nil, 0},
		{"sonar", nil, 0},
		{"pima", nil, 0},
		{"crabs", nil, 0},
		{"wisconsin", nil, 0},
		{"pima", loss.Hinge{C: 1}, 0.5},
		{"pima", loss.SquaredHinge{C: 1}, 0.5},
		{"pima", loss.Logistic{C: 1}, 0.5},
		{"boston", loss.EpsInsensitive{C: 1, Epsilon: 0.1}, 0.5},
		{"boston", loss.Huber{C: 1, Epsilon: 1}, 0.5},
		{"synthetic:friedman1,n=500,seed=1", loss.Square{Noise: 1}, 0.5},
		{"synthetic:friedman1,n=1000,seed=1", loss.Square{Noise: 1}, 0.5},
		{"synthetic:friedman1,n=2000,seed=1", loss.Square{Noise: 1}, 0.5},
		{"synthetic:friedman1,n=4000,seed=1", loss.Square{Noise: 1}, 0.5},
	} {
		name := fmt.Sprintf("data=%s/loss=preset", c.set)
		if c.loss != nil {
			name = fmt.Sprintf("data=%s/loss=%s", c.set, c.loss.Name())
		}
		b.Run(name, func(b *testing.B) {
			m := build(b, c.set, c.loss, c.gammaD, 0)
			scheme := resample.Poisson{Ratio: 1}
			s := solve(b, m, scheme, 1e-6)
			b.Run("method=batch", func(b *testing.B) {
				r := testutil.Must(model.RetrainAround(context.Background(), m, s, scheme,
					model.RetrainSettings{Settings: fits.Settings{Resamples: b.N}}))(b)
				b.ReportMetric(float64(r.Batch.Iterations)/float64(r.Resamples), "iterations")
			})
			b.Run("method=single", func(b *testing.B) {
				if _, err := model.Retrain(context.Background(), m, model.Single, scheme,
					model.RetrainSettings{Settings: fits.Settings{Resamples: b.N}}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
