package batch_test

import (
	"context"
	"fmt"
	"testing"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
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
		{"boston", loss.Huber{C: 1, Delta: 1}, 0.5},
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
				r, stats := need.Two(m.RetrainBatch(context.Background(), s, scheme,
					model.RetrainSettings{Settings: retrain.Settings{Resamples: b.N}}))(b)
				b.ReportMetric(float64(stats.Iterations)/float64(r.Resamples), "iterations")
			})
			b.Run("method=single", func(b *testing.B) {
				if _, err := m.Retrain(context.Background(), scheme,
					model.RetrainSettings{Settings: retrain.Settings{Resamples: b.N}}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkFitLowRank compares batches on a low-rank matrix with one fit of the same matrix
// per resample, f = (K^-1 + diag(k/noise))^-1 (k y/noise), which takes all threads.
func BenchmarkFitLowRank(b *testing.B) {
	for _, n := range []int{20000} {
		set := need.One(dataset.Load(fmt.Sprintf("synthetic:waves,n=%d,seed=1", n), dataset.Options{}))(b)
		const noise = 0.05
		m := need.One(model.Build(model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: 0.1},
			Loss: loss.Square{Noise: noise}, Storage: model.LowRank, RankTol: 1e-4}))(b)
		scheme := resample.Poisson{Ratio: 1}
		s := solve(b, m, scheme, 1e-2)
		name := fmt.Sprintf("n=%d/rank=%d", n, m.Factor.Rank())
		b.Run(name+"/method=batch", func(b *testing.B) {
			r, stats := need.Two(m.RetrainBatch(context.Background(), s, scheme,
				model.RetrainSettings{Settings: retrain.Settings{Resamples: b.N}}))(b)
			b.ReportMetric(float64(stats.Iterations)/float64(r.Resamples), "iterations")
		})
		b.Run(name+"/method=single", func(b *testing.B) {
			engine := m.Factor.Engine()
			counts, d, f := make([]int, n), make([]float64, n), make([]float64, n)
			for i := range b.N {
				resample.Draw(scheme, 0, i, counts)
				for j, k := range counts {
					d[j] = float64(k) / noise
				}
				if err := engine.Factorize(d); err != nil {
					b.Fatal(err)
				}
				chi, _ := engine.Diag()
				for j, y := range m.Set.Y {
					d[j] *= y
				}
				engine.MulVecOffDiag(f, d)
				for j := range f {
					f[j] += chi[j] * d[j]
				}
			}
		})
	}
}
