package tune

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestQuickly: on new examples the model that was found is nearly as good as the best of
// a grid that knows them: within 15% for the 150 examples that it chose by. (With each
// hyperparameter one step of the grid off, the error is 1.3 to 3 times the best.)
func TestQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for _, c := range []struct {
		train, fresh string
		test         loss.Test
		losses       func(variance float64) []loss.Loss
	}{
		{"synthetic:friedman1,n=150,seed=5", "synthetic:friedman1,n=1000,seed=6", loss.SquareTest{},
			func(v float64) []loss.Loss {
				return []loss.Loss{loss.Square{Noise: 0.01 * v}, loss.Square{Noise: 0.05 * v},
					loss.Square{Noise: 0.2 * v},
					loss.Square{Noise: 0.5 * v}}
			}},
		{"synthetic:blobs,n=150,seed=5", "synthetic:blobs,n=1000,seed=6", loss.ZeroOne{},
			func(float64) []loss.Loss {
				return []loss.Loss{loss.Hinge{C: 0.1}, loss.Hinge{C: 1}, loss.Hinge{C: 10}}
			}},
	} {
		set, fresh := load(t, c.train), load(t, c.fresh)
		open := model.NewSpec(set, nil)
		fit := need.One(Quickly(t.Context(), open, nil))(t)
		if fit.Examples != 150 || fit.Models < 20 || !(fit.Value > 0) || fit.Criterion == "" {
			t.Errorf("%+v", fit)
		}
		best := math.Inf(1)
		for _, gamma := range []float64{0.05, 0.2, 0.8, 2} {
			for _, l := range c.losses(stat.PopVariance(set.Y, nil)) {
				spec := open
				spec.Kernel.Gamma, spec.Loss = gamma/float64(set.D()), l
				best = math.Min(best, freshError(t, spec, fresh, c.test))
			}
		}
		if own := freshError(t, fit.Spec, fresh, c.test); own > 1.15*best {
			t.Errorf("%s: error %v, the best of the grid %v", c.train, own, best)
		}
		again, err := Quickly(t.Context(), open, nil)
		if err != nil || again.Spec.Kernel.Gamma != fit.Spec.Kernel.Gamma || again.Spec.Loss != fit.Spec.Loss {
			t.Errorf("a second fit differs: %v, %v", again, err)
		}
	}
}

// freshError is the error on new examples of the mean predictor over resamples.
func freshError(t *testing.T, spec model.Spec, fresh *dataset.Set, test loss.Test) float64 {
	t.Helper()
	m := need.One(model.Build(spec))(t)
	s, err := m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	err = m.Cross(model.Dense(blas64.General(fresh.X)), func(first int, rows []float64) error {
		mean, _, err := s.Predict(rows)
		if err != nil {
			return err
		}
		for i, f := range mean {
			sum += test.Value(f+m.TargetMean, fresh.Y[first+i])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum / float64(fresh.N())
}

// TestQuicklyKeeps: what is given stays.
func TestQuicklyKeeps(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=60")
	spec := model.Spec{Set: set, Standardize: true, NormalizeTarget: true, Loss: loss.Square{Noise: 2}}
	fit, err := Quickly(t.Context(), spec, nil)
	if err != nil || fit.Spec.Loss != (loss.Square{Noise: 2}) || fit.Spec.Kernel.Gamma == 0 {
		t.Errorf("given noise: %+v, %v", fit, err)
	}
	spec.Loss, spec.Kernel = nil, kernel.Spec{LengthScale: []float64{3}, Amplitude: 25}
	fit, err = Quickly(t.Context(), spec, nil)
	if err != nil || fit.Spec.Kernel.Gamma != 0 || fit.Spec.Kernel.Amplitude != 25 || fit.Spec.Loss == nil {
		t.Errorf("given length scale: %+v, %v", fit, err)
	}
	large := load(t, "synthetic:blobs,n=2000")
	if fit, err := Quickly(t.Context(), model.Spec{Set: large, Standardize: true,
		Loss: loss.Hinge{C: 1}}, nil); err != nil || fit.Examples > 301 || fit.Spec.Set != large {
		t.Errorf("many examples: %+v, %v", fit, err)
	}
	text := load(t, "synthetic:text,n=120")
	if fit, err := Quickly(t.Context(), model.Spec{Set: text}, nil); err != nil ||
		!(fit.Spec.Kernel.Gamma > 0.01) {
		t.Errorf("sparse lines: %+v, %v", fit, err)
	}
	// Of classes on either side of a line far from the mean, a linear kernel is judged with the bias.
	uneven := load(t, "synthetic:blobs,n=150,d=2,noise=1.5")
	for i := range uneven.Y {
		uneven.Y[i] = math.Copysign(1, uneven.X.At(i, 0)-1.5)
	}
	linear := model.NewSpec(uneven, nil)
	linear.Kernel.Kind = kernel.Linear
	chosen := need.One(Quickly(t.Context(), linear, nil))(t)
	m := need.One(model.Build(chosen.Spec))(t)
	s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-6}))(t)
	if value, _ := s.LeftOut(loss.ZeroOne{}); !m.Bias || math.Abs(value-chosen.Value) > 1e-3 || value > 0.05 {
		t.Errorf("chosen by %v; with bias %v the left-out error is %v", chosen.Value, m.Bias, value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, spec := range map[string]model.Spec{"no data": {},
		"another loss": {Set: set, Loss: loss.HardMargin{}}, "labels": {Set: set, Loss: loss.Hinge{C: 1}}} {
		if _, err := Quickly(t.Context(), spec, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Quickly(ctx, model.Spec{Set: set}, nil); err == nil {
		t.Error("an ended context: no error")
	}
}
