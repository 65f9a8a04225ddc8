package tune

import (
	"errors"
	"math"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// TestGradient: the derivatives by all hyperparameters at once are the differences of
// models that are built and solved anew. Solves to 1e-10 leave 1e-8 in differences of steps
// 1e-3, whose own error is a millionth of the third derivative.
func TestGradient(t *testing.T) {
	set := testutil.Must(dataset.Load("synthetic:friedman1,n=30", dataset.Options{}))(t)
	scales := make([]float64, set.D())
	for k := range scales {
		scales[k] = 3 + float64(k)/3
	}
	scaled := kernel.Spec{LengthScale: scales, Amplitude: 20, Constant: 3, Jitter: 0.1}
	labels := *set
	signs := make([]float64, set.N())
	for i, y := range set.Targets(0) {
		signs[i] = math.Copysign(1, y-14)
	}
	labels.Columns = []dataset.Column{{Y: signs}}
	if err := labels.Classify(""); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec model.Spec
		test loss.Test
		over []string
	}{
		{model.Spec{Set: set, Loss: loss.Square{Noise: 2}, Kernel: scaled, NormalizeTarget: true},
			loss.SquareTest{}, []string{"noise", "length-scale", "amplitude", "constant", "jitter"}},
		{model.Spec{Set: set, Loss: loss.EpsInsensitive{C: 0.5, Epsilon: 1},
			Kernel: kernel.Spec{Kind: kernel.Matern52,
				LengthScale: []float64{4}}, NormalizeTarget: true}, loss.SquareTest{},
			[]string{"epsilon", "C", "length-scale"}},
		{model.Spec{Set: &labels, Loss: loss.Hinge{C: 2}, Kernel: kernel.Spec{Kind: kernel.Matern32,
			Gamma: 0.1}}, loss.ZeroOne{}, []string{"gamma", "C"}},
		{model.Spec{Set: &labels, Loss: loss.Hinge{C: 2, ClassWeights: loss.ClassWeights{Negative: 0.7,
			Positive: 1.5}},
			Kernel: kernel.Spec{Gamma: 0.1}, Bias: true}, loss.ZeroOne{},
			[]string{"class-weight", "C", "gamma"}},
		{model.Spec{Set: &labels, Loss: loss.Logistic{C: 2}, Kernel: kernel.Spec{Gamma: 0.1}}, loss.ZeroOne{},
			[]string{"class-weight"}},
	} {
		c.spec.Standardize = true
		objective := adjoint.Objective{Criterion: adjoint.Err632Plus, Test: c.test}
		solved := func(spec model.Spec) (*model.Model, *solver.Solution) {
			m := testutil.Must(model.Build(t.Context(), spec))(t)
			s, err := m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-10})
			if err != nil || s.Status != solver.Converged {
				t.Fatal(err, s.Status)
			}
			return m, s
		}
		m, s := solved(c.spec)
		var over []model.Hyperparameter
		for _, name := range c.over {
			over = append(over, testutil.Must(m.Hyperparameters(name))(t)...)
		}
		gradient := testutil.Must(gradient(t.Context(), m, s, objective, over))(t)
		value := testutil.Must(objective.Value(s))(t)
		if len(gradient) != len(over) {
			t.Fatal(gradient)
		}
		for k, h := range over {
			if h.Feature > 1 {
				continue
			}
			at := func(step float64) float64 {
				moved := m.Spec
				if err := h.Set(&moved, h.Value(&m.Spec)*math.Exp(step)); err != nil {
					t.Fatal(err)
				}
				_, s := solved(moved)
				v := testutil.Must(objective.Value(s))(t)
				return v
			}
			want := (at(1e-3) - at(-1e-3)) / 2e-3
			if math.Abs(gradient[k]-want) > 1e-5*(math.Abs(want)+0.1*value) {
				t.Errorf("%s by %v: %g, differences %g", c.spec.Loss.Name(), h, gradient[k], want)
			}
		}
		for _, name := range []string{"delta", "degree"} {
			if _, err := m.Hyperparameters(name); !errors.Is(err, model.ErrInput) {
				t.Errorf("%s: hyperparameter %s: %v", c.spec.Loss.Name(), name, err)
			}
		}
		_, gamma := m.Hyperparameters("gamma")
		if _, scale := m.Hyperparameters("length-scale"); gamma == nil && scale == nil {
			t.Errorf("%s: gamma beside a length scale", c.spec.Loss.Name())
		}
	}
}
