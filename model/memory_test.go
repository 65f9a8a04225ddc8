package model_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"bootbench/blas"
	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// TestForecasts: what a fit, retraining by either method, predicting and refining hold at a time beside
// what there was before, for every loss, is what was forecast. Within 15%; the last factor of margin
// losses, between the free sites, is not known before, and 30% is allowed; so it is in pure Go, whose
// products have buffers.
func TestForecasts(t *testing.T) {
	skipUnderRace(t)
	labels, regression := load(t, "synthetic:rings,n=500,d=5"), load(t, "synthetic:friedman1,n=500")
	// for what is slow
	fewLabels := load(t, "synthetic:rings,n=250,d=5")
	law, ctx := resample.Poisson{Ratio: 1}, context.Background()
	for _, c := range []struct {
		set  *dataset.Set
		loss loss.Loss
	}{
		{regression, loss.Square{Noise: 1}}, {regression, loss.EpsInsensitive{C: 1, Epsilon: 0.1}},
		{regression, loss.LeastAbsolute{C: 1}},
		{regression, loss.Huber{C: 1, Delta: 1}},
		{labels, loss.HardMargin{}}, {labels, loss.Hinge{C: 1}}, {labels, loss.SquaredHinge{C: 1}},
		{labels, loss.Logistic{C: 1}}, {fewLabels, loss.Probit{}}, {fewLabels, loss.Logit{}},
	} {
		t.Run(c.loss.Name(), func(t *testing.T) {
			m := build(t, model.Spec{Set: c.set, Loss: c.loss, Kernel: kernel.Spec{Gamma: 0.3}, Standardize: true})
			tolerance := 0.15
			switch c.loss.(type) {
			case loss.HardMargin, loss.Hinge:
				tolerance = 0.3
			}
			if blas.Bound().Name() == "gonum" {
				tolerance = 0.3
			}
			for _, workers := range []int{1, 2} {
				how := model.RetrainSettings{Settings: retrain.Settings{Resamples: 12, Workers: workers}}
				forecasts(t, "retraining", m.RetrainBytes(model.Single, law, how), tolerance, func() {
					how.Lookup = together(workers)
					if _, err := m.RetrainBy(ctx, model.Single, law, how); err != nil {
						t.Error(err)
					}
				})
			}
			if forecast := m.FitBytes(); forecast > 0 && tolerance < 0.3 {
				forecasts(t, "the fit to all", forecast, tolerance, func() { m.FullFit() })
			}
			_, proximal := c.loss.(loss.Proximal)
			if !proximal {
				return
			}
			how := model.RetrainSettings{Settings: retrain.Settings{Resamples: 300, Workers: 2}}
			forecasts(t, "retraining in batches", m.RetrainBytes(model.Batch, law, how), tolerance, func() {
				if _, err := m.RetrainBy(ctx, model.Batch, law, how); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// forecasts compares a forecast with what f holds at a time.
func forecasts(t *testing.T, what string, forecast int64, tolerance float64, f func()) {
	t.Helper()
	holds := func(bytes float64) bool { return math.Abs(bytes/float64(forecast)-1) <= tolerance }
	if bytes := peakThat(holds, f); !holds(bytes) {
		t.Errorf("%s: %.0f bytes at most, %d forecast (%.2f)", what, bytes, forecast, bytes/float64(forecast))
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

// TestForecastsOfNewInputs is TestForecasts for predictions at 40,000 new inputs, and for refining at
// some; one byte less than a forecast is refused.
func TestForecastsOfNewInputs(t *testing.T) {
	skipUnderRace(t)
	spec := model.Spec{Set: load(t, "synthetic:friedman1,n=300"), Loss: loss.Square{Noise: 1},
		Kernel: kernel.Spec{Amplitude: 25, Constant: 200}, Standardize: true}
	m := build(t, spec)
	law, ctx := resample.Poisson{Ratio: 1}, context.Background()
	s := need.One(m.Solve(ctx, law, solver.Settings{}))(t)
	many := &dataset.Inputs{X: load(t, "synthetic:friedman1,n=40000,seed=2").X}
	forecasts(t, "predicting", m.PredictBytes(many.M()), 0.15, func() {
		if _, err := m.Predict(s, many); err != nil {
			t.Error(err)
		}
	})
	some := &dataset.Inputs{X: load(t, "synthetic:friedman1,n=3000,seed=2").X}
	cross := need.One(m.CrossAllInputs(some))(t)
	how := model.RefineSettings{Resamples: 300, Workers: 2, Tests: []loss.Test{loss.SquareTest{}}, Cross: cross}
	forecasts(t, "refining", m.RefineBytes(how), 0.15, func() {
		if _, err := m.Refine(ctx, s, law, how); err != nil {
			t.Error(err)
		}
	})
	m.MaxBytes = linalg.SymBytes(300) + m.PredictBytes(many.M()) - 1
	if _, err := m.Predict(s, many); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("predicting with too little memory: %v", err)
	}
	m.MaxBytes = linalg.SymBytes(300) + 8<<20 // less than the new inputs take, whatever the blocks
	if _, err := m.Refine(ctx, s, law, how); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("refining with too little memory: %v", err)
	}
}
