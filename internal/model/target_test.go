package model_test

import (
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// shifted is a set with targets a y + b.
func shifted(set *dataset.Set, a, b float64) *dataset.Set {
	moved := *set
	moved.Y = make([]float64, len(set.Y))
	for i, y := range set.Y {
		moved.Y[i] = a*y + b
	}
	return &moved
}

// TestNormalizedTarget: targets a y + b give a times the answer plus b, with a noise that
// is a share of the variance. All steps are linear in the targets or quadratic, and the
// stopping rules relative, so that only rounding differs: 1e-9 of the figure.
func TestNormalizedTarget(t *testing.T) {
	raw := load(t, "synthetic:friedman1,n=120,seed=2")
	mean, variance := stat.PopMeanVariance(raw.Y, nil)
	answer := func(a, b float64) (*model.Model, *solver.Solution, float64) {
		set := shifted(raw, a, b)
		m := build(t, model.Spec{
			Set: set, Kernel: kernel.Spec{Gamma: 0.1}, Standardize: true, NormalizeTarget: true,
			Loss: loss.Square{Noise: 0.1 * a * a * variance},
		})
		if &m.Set.Y[0] == &set.Y[0] {
			t.Fatal("the caller's targets were centred")
		}
		s, err := m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{})
		if err != nil || s.Status != solver.Converged {
			t.Fatal(s.Status, err)
		}
		left, _ := s.LeftOut(loss.SquareTest{})
		return m, s, left
	}
	m, s, left := answer(1, 0)
	near(t, "mean", m.TargetMean, mean, 1e-12)
	near(t, "amplitude", m.Kernel.Amplitude, variance, 1e-12)
	for _, c := range []struct{ a, b float64 }{{1, 1e4}, {-30, 7}, {0.01, -3}} {
		m2, s2, left2 := answer(c.a, c.b)
		near(t, "left-out error", left2/(c.a*c.a), left, 1e-9)
		for i := range s.Mean {
			near(t, "mean", (s2.Mean[i]+m2.TargetMean-c.b)/c.a, s.Mean[i]+m.TargetMean, 1e-9)
			near(t, "variance", s2.Var[i]/(c.a*c.a), s.Var[i], 1e-9)
		}
	}
}

// TestNormalizedTargetLeavesAlone: labels, given amplitudes and precomputed kernels.
func TestNormalizedTargetLeavesAlone(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "sonar"), Loss: loss.Hinge{C: 1}, NormalizeTarget: true})
	if m.TargetMean != 0 || m.Kernel.Amplitude != 0 || m.Set.Y[0] != load(t, "sonar").Y[0] {
		t.Errorf("labels: mean %v, amplitude %v", m.TargetMean, m.Kernel.Amplitude)
	}
	spec := grid(t, 12)
	spec.NormalizeTarget = true
	if m := build(t, spec); m.Kernel.Amplitude != 2 || m.TargetMean == 0 {
		t.Errorf("given amplitude: %v, mean %v", m.Kernel.Amplitude, m.TargetMean)
	}
}
