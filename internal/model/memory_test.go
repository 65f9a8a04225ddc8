package model_test

import (
	"context"
	"sync"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// TestForecasts: what a fit, retraining by either method, predicting and refining hold at a time beside what
// there was before is at most what was forecast, and a fifth of it at least: the free sites of margins are
// not known before.
func TestForecasts(t *testing.T) {
	skipUnderRace(t)
	labels, regression := load(t, "synthetic:rings,n=500,d=5"), load(t, "synthetic:friedman1,n=500")
	law, ctx := resample.Poisson{Ratio: 1}, context.Background()
	for _, c := range []struct {
		set  *dataset.Set
		loss loss.Loss
	}{
		{regression, loss.Square{Noise: 1}}, {regression, loss.Huber{C: 1, Delta: 1}}, {labels, loss.Hinge{C: 1}},
		{load(t, "synthetic:rings,n=250,d=5"), loss.Probit{}},
	} {
		t.Run(c.loss.Name(), func(t *testing.T) {
			m := build(t, model.Spec{Set: c.set, Loss: c.loss, Kernel: kernel.Spec{Gamma: 0.3}, Standardize: true})
			methods := []refit.RetrainMethod{refit.Single, refit.Batch}
			if _, proximal := c.loss.(loss.Proximal); !proximal {
				methods = methods[:1]
			}
			for _, method := range methods {
				how := refit.RetrainSettings{Settings: retrain.Settings{Resamples: 300, Workers: 2}}
				if method == refit.Single {
					how.Resamples = 12
				}
				forecasts(t, "retraining, "+method.String(), refit.NeedToRetrain(m, method, law, how), func() {
					if method == refit.Single {
						how.Lookup = together(how.Workers)
					}
					if _, err := refit.Retrain(ctx, m, method, law, how); err != nil {
						t.Error(err)
					}
				})
			}
			if forecast := m.Forecast().Fit(); forecast > 0 {
				forecasts(t, "the fit to all", forecast, func() { m.FullFit() })
			}
		})
	}
}

// forecasts compares a forecast with what f holds at a time.
func forecasts(t *testing.T, what string, forecast int64, f func()) {
	t.Helper()
	holds := func(bytes float64) bool { return bytes <= 1.2*float64(forecast) && bytes >= 0.2*float64(forecast) }
	if bytes := peakThat(holds, f); !holds(bytes) {
		t.Errorf("%s: %.0f bytes at most, %d forecast (%.2f)", what, bytes, forecast, bytes/float64(forecast))
	} else {
		t.Logf("%s %.2f", what, bytes/float64(forecast))
	}
}

// together is a retrain.Settings.Lookup that knows nothing and has every worker wait with its first
// resample until all have one, so that each trains.
func together(workers int) func(b int, f []float64) (bool, error) {
	var first sync.WaitGroup
	first.Add(workers)
	return func(b int, _ []float64) (bool, error) {
		if b < workers {
			first.Done()
			first.Wait()
		}
		return false, nil
	}
}
