package fits_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train/svm"
)

// repeated are a random table with whole weights, and the one in which every example is repeated as often,
// its copies a group; of are the examples of the latter's rows.
func repeated(t *rapid.T, labels bool) (weighted, copied *dataset.Set, of []int) {
	n := rapid.IntRange(8, 24).Draw(t, "examples")
	number := rapid.Float64Range(-2, 2)
	x := linalg.NewMatrix(n, 2)
	y := make([]float64, n)
	weighted = &dataset.Set{Name: "random", X: x, Columns: []dataset.Column{{Y: y}}}
	for i := range n {
		// all rows differ
		x.Data[i*x.Stride], x.Data[i*x.Stride+1] = number.Draw(t, "x"), float64(i)/float64(n)
		if y[i] = number.Draw(t, "y"); labels {
			y[i] = math.Copysign(1, y[i])
		}
	}
	if labels {
		y[0], y[1] = 1, -1
		if err := weighted.Classify(""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		of = append(of, slices.Repeat([]int{i}, rapid.IntRange(1, 4).Draw(t, "weight"))...)
	}
	copied = weighted.Subset(of)
	copied.Groups = of
	weighted.Weights = make([]float64, n)
	for _, i := range of {
		weighted.Weights[i]++
	}
	return weighted, copied, of
}

const tolerance = fits.DefaultBlockTolerance / 10 // of blocks, in standard deviations of the predictor

// fitsOf are the predictions of fits at the examples, by draws of whole groups.
func fitsOf(t *rapid.T, set *dataset.Set, l loss.Loss, scheme string,
	method model.RetrainMethod) (all [][]float64) {
	const count = 8
	spec := model.NewSpec(set, l)
	spec.Kernel = kernel.Spec{Gamma: 0.5, Amplitude: 1} // of its own, it has the variance of the targets
	// a bias that no free support vector fixes is any of an interval
	if method == model.Batch {
		spec.Bias = false
	}
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	law := testutil.Must(resample.Design{N: set.N(), Group: set.Groups}.Of(scheme,
		resample.Options{Ratio: 0.8, Folds: 4, N: set.N()}))(t)
	settings := model.RetrainSettings{Seed: 3, Settings: fits.Settings{Resamples: count,
		OnFit: func(_ int, _, f []float64) {
			at := make([]float64, set.N())
			for i, site := range m.Site {
				at[i] = f[site] + m.Mean
			}
			all = append(all, at)
		}}}
	settings.Batch.Tolerance = tolerance
	r := testutil.Must(model.Retrain(t.Context(), m, method, law, settings))(t)
	if r.Method != method || len(all) != count {
		t.Fatalf("%d fits by %v", len(all), r.Method)
	}
	return all
}

// TestWeightIsRepetition: a fit of weighted examples is the fit of the table in which they are repeated,
// whose copies share one count, fit by fit of one seed: to 1e-8 one by one, for support vectors and blocks to
// ten times the tolerance of their training.
func TestWeightIsRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]loss.Loss{loss.Square{Noise: 0.3}, loss.Hinge{C: 2}, loss.Logistic{C: 2},
			loss.SquaredHinge{C: 1}, loss.EpsInsensitive{C: 2, Epsilon: 0.1}, loss.Huber{C: 2,
				Epsilon: 0.5}}).Draw(t, "loss")
		scheme := rapid.SampledFrom([]string{"poisson", "multinomial", "bernoulli", "subsample",
			"kfold"}).Draw(t, "scheme")
		labels := slices.Contains([]string{"hinge", "logistic", "hinge2"}, l.Name())
		weighted, copied, of := repeated(t, labels)
		for _, c := range []struct {
			method model.RetrainMethod
			tol    float64
		}{{model.Single, 1e-8}, {model.Batch, 10 * tolerance}} {
			if _, hinge := l.(loss.Hinge); hinge && c.method == model.Single {
				c.tol = 10 * svm.DefaultTolerance
			}
			a, b := fitsOf(t, weighted, l, scheme, c.method), fitsOf(t, copied, l, scheme, c.method)
			for r := range a {
				for row, i := range of {
					largest := floats.Norm(weighted.Targets(0), math.Inf(1))
					if off := math.Abs(a[r][i] - b[r][row]); !(off <= c.tol*(1+largest)) {
						t.Fatalf("%s, %s, %v: fit %d predicts %v at example %d, repeated %v", l.Name(),
							scheme, c.method, r, a[r][i], i, b[r][row])
					}
				}
			}
		}
	})
}
