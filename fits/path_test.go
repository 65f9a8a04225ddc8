package fits_test

import (
	"math"
	"testing"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// path is the plan of fits to all examples, with the penalty C times each of its factors.
type path struct {
	factors []float64
	y       []float64
}

func (p path) Fit(r int, weight []float64) (target []float64) {
	for i := range weight {
		weight[i] = p.factors[r]
	}
	return p.y
}

func (path) Period() int { return 1 }

// TestPath: fits along a path of C, or of noise, in blocks on one G are the fits of models that have each
// value.
func TestPath(t *testing.T) {
	const tolerance = 2e-3 // of the single trainers
	factors := []float64{0.1, 0.3, 0.6, 1, 1.7, 3, 6, 12}
	for _, c := range []struct {
		data string
		at   func(factor float64) loss.Loss
	}{
		{"crabs", func(k float64) loss.Loss { return loss.Hinge{C: k} }},
		{"crabs", func(k float64) loss.Loss { return loss.Logistic{C: k} }},
		{"boston", func(k float64) loss.Loss { return loss.Square{Noise: 2 / k} }},
	} {
		set := testutil.Must(dataset.Load(c.data, dataset.Options{}))(t)
		build := func(factor float64) *model.Model {
			spec := model.NewSpec(set, c.at(factor))
			spec.Bias = false // at the least C every bias of an interval is best
			return testutil.Must(model.Build(t.Context(), spec))(t)
		}
		m := build(1)
		predicted := make([][]float64, len(factors))
		settings := model.RetrainSettings{Batch: fits.BlockSettings{Tolerance: 1e-6}, Plan: path{factors,
			m.Y}}
		settings.Settings = fits.Settings{
			Resamples: len(factors), Tests: []loss.Test{loss.SquareTest{}},
			OnFit: func(r int, _, f []float64) { predicted[r] = append(predicted[r], f...) }}
		testutil.Must(model.Retrain(t.Context(), m, model.Batch, resample.Poisson{Ratio: 1}, settings))(t)
		for r, factor := range factors {
			want := testutil.Must(build(factor).FullFit(t.Context(), nil))(t)
			off, size := 0.0, 0.0
			for site, f := range want {
				off, size = math.Max(off, math.Abs(predicted[r][site]-f)), math.Max(size, math.Abs(f))
			}
			if !(off <= tolerance*size) {
				t.Errorf("%s: at %v times C fits differ by %.1e of the largest", m.Loss.Name(), factor,
					off/size)
			}
		}
	}
}
