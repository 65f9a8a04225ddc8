package fits_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/train"
)

// TestBiasOfOneClass: resamples of one class predict that class's label everywhere, in batches as one by one,
// and are counted.
func TestBiasOfOneClass(t *testing.T) {
	set := load(t, "synthetic:blobs,n=30,seed=2")
	y := set.Columns[0].Y
	for i := range y {
		y[i] = 1
	}
	y[4], y[9] = 0, 0
	for _, l := range []loss.Loss{loss.Hinge{C: 1}, loss.SquaredHinge{C: 1}, loss.Logistic{C: 1}} {
		m := modelOf(t, model.Spec{Set: set, Loss: l, Standardize: true, Bias: true})
		lacking, seen := 0, 0
		settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 100,
			OnFit: func(_ int, weight, f []float64) {
				if seen++; weight[4]+weight[9] > 0 {
					return
				}
				lacking++
				for _, v := range f {
					if v != 1 {
						t.Errorf("%s: a resample of one class predicts %v", l.Name(), v)
					}
				}
			}}}
		solution := testutil.Must(m.Solve(t.Context(), law, solver.Settings{}))(t)
		single := testutil.Must(model.Retrain(t.Context(), m, model.Single, law, settings))(t)
		one := lacking
		together := testutil.Must(model.RetrainAround(t.Context(), m, solution, law, settings))(t)
		if one < 10 || lacking != 2*one || single.OneClass != one || together.OneClass != one || seen != 200 {
			t.Errorf("%s: %d and %d resamples of one class, %d and %d counted, of %d", l.Name(), one,
				lacking-one, single.OneClass, together.OneClass, seen)
		}
	}
}

// threeInputs are the kernel rows of two inputs, one between examples, and one at example 7.
func threeInputs(t *testing.T, m *model.Model) blas64.General {
	t.Helper()
	x := m.Set.X.Gather([]int{0, 5, 7})
	for j, v := range m.Set.X.Row(1) {
		x.Row(0)[j] = (x.Row(0)[j] + v) / 2
	}
	return testutil.Must(m.CrossAll(&dataset.Inputs{X: x}))(t)
}

// returns is a set of two classes, one narrow and one wide, so that some rows are far from all others.
func returns(t *testing.T, n int) *dataset.Set {
	const d = 34
	rng := rand.New(rand.NewPCG(34, 350))
	x, y := linalg.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}, make([]float64, n)
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
	set := &dataset.Set{Name: "returns", X: x, Columns: []dataset.Column{{Name: "y", Y: y}}}
	if err := set.Classify(""); err != nil {
		t.Fatal(err)
	}
	return set
}

// TestNarrowKernels: where kernels are so narrow that predictions for absent examples are smaller than the
// rounding of others' by many orders, batches have the signs of fits one by one, except one in a thousand
// or two; so have refined estimates, and both whatever the order of the rows.
func TestNarrowKernels(t *testing.T) {
	sets, gammas := []*dataset.Set{returns(t, 350), load(t, "sonar"), load(t, "wisconsin"), load(t, "pima")},
		[]float64{0.25, 1, 6, 15}
	losses, resamples := []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 1}, loss.Logistic{C: 1}}, 64
	if testing.Short() {
		sets, gammas, losses, resamples = sets[:1], gammas[1:3], losses[:2], 20 // narrower ones take long
	}
	for _, set := range sets {
		for _, gamma := range gammas {
			for _, l := range losses {
				t.Run(fmt.Sprintf("%s/%v/%s", set.Name, gamma, l.Name()), func(t *testing.T) {
					spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gamma},
						Loss: l}
					agreeInSign(t, modelOf(t, spec), resamples)
					var order []int
					for i := range set.N() {
						order = append(order, set.N()-1-i)
					}
					spec.Set = set.Subset(order)
					agreeInSign(t, modelOf(t, spec), resamples)
				})
			}
		}
	}
}

// agreeInSign compares the signs of predictions for absent examples, and the errors that come of them.
func agreeInSign(t *testing.T, m *model.Model, resamples int) {
	t.Helper()
	ctx := t.Context()
	var counts [][]float64
	var predicted [][]float64
	settings := model.RetrainSettings{Seed: 3, Settings: fits.Settings{Resamples: resamples,
		Tests: []loss.Test{loss.ZeroOne{}}, OnFit: func(_ int, c, f []float64) {
			counts, predicted = append(counts, slices.Clone(c)), append(predicted, slices.Clone(f))
		}}}
	single := testutil.Must(model.Retrain(ctx, m, model.Single, law, settings))(t)
	wrong, absent := 0, 0
	settings.OnFit = func(b int, _, f []float64) {
		for i, k := range counts[b] {
			site := train.Sites(m.Site).At(i)
			if k > 0 {
				continue
			}
			absent++
			if (f[site] > 0) != (predicted[b][site] > 0) {
				wrong++
			}
		}
	}
	s := testutil.Must(m.Solve(ctx, law, solver.Settings{}))(t)
	together := testutil.Must(model.RetrainAround(ctx, m, s, law, settings))(t)
	if stats := together.Batch; stats.Exact > 0 {
		t.Errorf("%d fits are left to the single trainer", stats.Exact)
	}
	if wrong > 1+absent/1000 {
		t.Errorf("%d of %d signs differ from those of single fits", wrong, absent)
	}
	refined := testutil.Must(model.Refine(ctx, m, s, law, model.RefineSettings{
		RetrainSettings: settings}))(t).Tests[0]
	want := single.Tests[0]
	if got := together.Tests[0].Error; math.Abs(got-want.Error) > 0.2*want.SE+1e-4 {
		t.Errorf("batches err by %v, single fits by %v +- %v", got, want.Error, want.SE)
	}
	// on the same draws, but not with the same weights
	if math.Abs(refined.Error-want.Error) > 3*math.Hypot(want.SE, refined.SE) {
		t.Errorf("refined error %v, of single fits %v +- %v", refined.Error, want.Error, want.SE)
	}
}
