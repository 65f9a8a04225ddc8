package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/internal/train"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// returns is a set of two classes, one narrow and one wide, so that some rows are far from all others.
func returns(n int) *dataset.Set {
	const d = 34
	rng := rand.New(rand.NewPCG(34, 350))
	x, y := dataset.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}, make([]float64, n)
	for i := range n {
		y[i] = -1
		scale := 1.5
		if rng.Float64() < 0.64 {
			y[i], scale = 1, 0.3
		}
		if rng.Float64() < 0.1 {
			scale *= 4
		}
		level := rng.NormFloat64()
		for j := range d {
			x.Data[i*d+j] = level*math.Cos(float64(j)/5) + scale*rng.NormFloat64()
		}
	}
	return &dataset.Set{Name: "returns", X: x, Y: y, Task: dataset.Classification}
}

// TestNarrowKernels: where kernels are so narrow that predictions for absent examples are smaller than the
// rounding of others' by many orders, batches have the signs of fits one by one, but for one in a thousand
// or two; so have refined estimates, and both whatever the order of the rows.
func TestNarrowKernels(t *testing.T) {
	sets, gammas := []*dataset.Set{returns(350), load(t, "sonar"), load(t, "wisconsin"), load(t, "pima")},
		[]float64{0.25, 1, 6, 15}
	losses, resamples := []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 1}, loss.Logistic{C: 1}}, 64
	if testing.Short() {
		sets, gammas, losses, resamples = sets[:2], gammas[1:], losses[:2], 20
	}
	for _, set := range sets {
		for _, gamma := range gammas {
			for _, l := range losses {
				t.Run(fmt.Sprintf("%s/%v/%s", set.Name, gamma, l.Name()), func(t *testing.T) {
					spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gamma}, Loss: l}
					agreeInSign(t, build(t, spec), resamples)
					reversed := *set
					reversed.X.Data = append([]float64(nil), set.X.Data...)
					reversed.Y = append([]float64(nil), set.Y...)
					n := set.N()
					for i := range n {
						copy(reversed.X.Row(i), set.X.Row(n-1-i))
						reversed.Y[i] = set.Y[n-1-i]
					}
					spec.Set = &reversed
					agreeInSign(t, build(t, spec), resamples)
				})
			}
		}
	}
}

// agreeInSign compares the signs of predictions for absent examples, and the errors that come of them.
func agreeInSign(t *testing.T, m *model.Model, resamples int) {
	t.Helper()
	ctx, law := context.Background(), resample.Poisson{Ratio: 1}
	var counts [][]float64
	var fits [][]float64
	settings := refit.RetrainSettings{Seed: 3, Settings: retrain.Settings{Resamples: resamples,
		Tests: []loss.Test{loss.ZeroOne{}}, OnFit: func(_ int, c, f []float64) {
			counts, fits = append(counts, slices.Clone(c)), append(fits, slices.Clone(f))
		}}}
	single := need.One(refit.RetrainSingly(ctx, m, law, settings))(t)
	wrong, absent := 0, 0
	settings.OnFit = func(b int, _, f []float64) {
		for i, k := range counts[b] {
			site := train.Sites(m.Site).At(i)
			if k > 0 {
				continue
			}
			absent++
			if (f[site] > 0) != (fits[b][site] > 0) {
				wrong++
			}
		}
	}
	s := need.One(m.Solve(ctx, law, solver.Settings{}))(t)
	together, stats := need.Two(refit.RetrainAround(ctx, m, s, law, settings))(t)
	if stats.Exact > 0 {
		t.Errorf("%d fits are left to the single trainer", stats.Exact)
	}
	if wrong > 1+absent/1000 {
		t.Errorf("%d of %d signs differ from those of single fits", wrong, absent)
	}
	refined := need.One(refit.Refine(ctx, m, s, law, refit.RefineSettings{Resamples: resamples, Seed: 3,
		Tests: []loss.Test{loss.ZeroOne{}}}))(t).TestError()
	want := single.LeftOut[0]
	if got := together.LeftOut[0].Error; math.Abs(got-want.Error) > 0.2*want.SE+1e-4 {
		t.Errorf("batches err by %v, single fits by %v +- %v", got, want.Error, want.SE)
	}
	// on the same draws, but not with the same weights
	if math.Abs(refined.Error-want.Error) > 3*math.Hypot(want.SE, refined.StandardError) {
		t.Errorf("refined error %v, of single fits %v +- %v", refined.Error, want.Error, want.SE)
	}
}
