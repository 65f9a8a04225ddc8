package model_test

import (
	"context"
	"math"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/need"
	"bootbench/internal/predict"
	"bootbench/resample"
	"bootbench/solver"
)

// TestCovariances: at new inputs that are the sites themselves the covariances by their
// responses (M03-48) are those between sites by G (M03-41), merged inputs included; their
// diagonal is the variance. Both are sums over sites to rounding, of a solve to 1e-6.
func TestCovariances(t *testing.T) {
	m := build(t, grid(t, 80))
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1},
		solver.Settings{Tolerance: 1e-10}))(t)
	between := need.One(predict.Covariances(m, s, nil))(t)
	fresh := need.One(predict.Covariances(m, s, &dataset.Inputs{X: m.Set.X.Gather(m.First)}))(t)
	for i := range m.Sites() {
		for j := range m.Sites() {
			a, b := between.Data[i*between.Stride+j], fresh.Data[i*fresh.Stride+j]
			if scale := math.Sqrt(s.Var[i] * s.Var[j]); math.Abs(a-b) > 1e-9*scale || i == j &&
				math.Abs(a-s.Var[i]) > 1e-6*scale {
				t.Errorf("sites %d and %d: %v between sites, %v as new inputs, variance %v", i, j, a, b, s.Var[i])
			}
		}
	}
}
