package model_test

import (
	"context"
	"errors"
	"testing"

	"bootbench/blas"
	"bootbench/dataset"
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
	few, fewLabels := load(t, "synthetic:friedman1,n=250"), load(t, "synthetic:rings,n=250,d=5") // for what is slow
	law, ctx := resample.Poisson{Ratio: 1}, context.Background()
	check := func(t *testing.T, what string, bytes float64, forecast int64, tolerance float64) {
		t.Helper()
		if q := bytes / float64(forecast); q < 1-tolerance || q > 1+tolerance {
			t.Errorf("%s: %.0f bytes at most, %d forecast (%.2f)", what, bytes, forecast, q)
		}
	}
	for _, c := range []struct {
		set  *dataset.Set
		loss loss.Loss
	}{
		{regression, loss.Square{Noise: 1}}, {regression, loss.EpsInsensitive{C: 1, Epsilon: 0.1}}, {regression, loss.LeastAbsolute{C: 1}},
		{regression, loss.Huber{C: 1, Delta: 1}}, {few, loss.Student{Dof: 4, Scale: 1}},
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
				bytes := peak(func() {
					if _, err := m.RetrainBy(ctx, model.Single, law, how); err != nil {
						t.Error(err)
					}
				})
				check(t, "retraining", bytes, m.RetrainBytes(model.Single, law, how), tolerance)
			}
			if forecast := m.FitBytes(); forecast > 0 && tolerance < 0.3 {
				check(t, "the fit to all", peak(func() { m.FullFit() }), forecast, tolerance)
			}
			_, proximal := c.loss.(loss.Proximal)
			if !proximal {
				return
			}
			how := model.RetrainSettings{Settings: retrain.Settings{Resamples: 300, Workers: 2}}
			bytes := peak(func() {
				if _, err := m.RetrainBy(ctx, model.Batch, law, how); err != nil {
					t.Error(err)
				}
			})
			check(t, "retraining in batches", bytes, m.RetrainBytes(model.Batch, law, how), tolerance)
		})
	}
}

// TestForecastsOfNewInputs is TestForecasts for predictions at 40,000 new inputs, and for refining at
// some; one byte less than a forecast is refused.
func TestForecastsOfNewInputs(t *testing.T) {
	skipUnderRace(t)
	spec := model.Spec{Set: load(t, "synthetic:friedman1,n=300"), Loss: loss.Square{Noise: 1}, Kernel: kernel.Spec{Amplitude: 25, Constant: 200}, Standardize: true}
	m := build(t, spec)
	law, ctx := resample.Poisson{Ratio: 1}, context.Background()
	s, err := m.Solve(ctx, law, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	many := &dataset.Inputs{X: load(t, "synthetic:friedman1,n=40000,seed=2").X}
	bytes := peak(func() {
		if _, err := m.Predict(s, many); err != nil {
			t.Error(err)
		}
	})
	if q := bytes / float64(m.PredictBytes(many.M())); q < 0.85 || q > 1.15 {
		t.Errorf("predicting: %.0f bytes at most, %d forecast (%.2f)", bytes, m.PredictBytes(many.M()), q)
	}
	some := &dataset.Inputs{X: load(t, "synthetic:friedman1,n=3000,seed=2").X}
	cross, err := m.CrossAllInputs(some)
	if err != nil {
		t.Fatal(err)
	}
	how := model.RefineSettings{Resamples: 300, Workers: 2, Tests: []loss.Test{loss.SquareTest{}}, Cross: cross}
	bytes = peak(func() {
		if _, err := m.Refine(ctx, s, law, how); err != nil {
			t.Error(err)
		}
	})
	if q := bytes / float64(m.RefineBytes(how)); q < 0.85 || q > 1.15 {
		t.Errorf("refining: %.0f bytes at most, %d forecast (%.2f)", bytes, m.RefineBytes(how), q)
	}
	m.MaxBytes = linalg.SymBytes(300) + m.PredictBytes(many.M()) - 1
	if _, err := m.Predict(s, many); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("predicting with too little memory: %v", err)
	}
	m.MaxBytes = linalg.SymBytes(300) + 8<<20 // less than the new inputs take, whatever the blocks
	if _, err := m.Refine(ctx, s, law, how); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("refining with too little memory: %v", err)
	}
}
