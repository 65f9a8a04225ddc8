package model_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/svm"
)

func blobs(t *testing.T, l loss.Loss) *model.Model {
	t.Helper()
	return build(t, model.Spec{Set: load(t, "synthetic:blobs,n=40,noise=0.5"), Kernel: kernel.Spec{Gamma: 0.5}, Loss: l, Standardize: true})
}

// TestMarginTrainers: the full fit and retraining obey the Kuhn-Tucker
// conditions of their loss, recomputed from the predictor alone: K^-1 f gives
// the weights beta, which must lie in the boxes.
func TestMarginTrainers(t *testing.T) {
	for name, l := range map[string]loss.Loss{"hard": loss.HardMargin{}, "hinge": loss.Hinge{C: 2}} {
		m := blobs(t, l)
		f, err := m.FullFit()
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.TrainSVM(svm.Settings{Tolerance: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range m.Set.Y {
			margin, weight := y*r.F[m.Site[i]], r.Alpha[i]
			if math.Abs(f[m.Site[i]]-r.F[m.Site[i]]) > 0.01 { // both at their tolerances, 1e-3 and 1e-8
				t.Errorf("%s: full fit %v, training %v", name, f[m.Site[i]], r.F[m.Site[i]])
			}
			switch {
			case weight > 0 && margin > 1+1e-7, name == "hard" && margin < 1-1e-7, name == "hinge" && weight < 2 && margin < 1-1e-7:
				t.Errorf("%s, example %d: margin %v with weight %v", name, i, margin, weight)
			}
		}
		result, err := m.Retrain(context.Background(), resample.Poisson{Ratio: 1}, blas64.General{},
			retrain.Settings{Resamples: 20, Tests: []loss.Test{loss.ZeroOne{}}})
		if err != nil || result.Resamples != 20 || !(result.LeftOut[0].Error < 0.5) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}

// TestMarginExtras: new inputs that repeat training inputs get their prediction.
func TestMarginExtras(t *testing.T) {
	m := blobs(t, loss.Hinge{C: 1})
	cross, err := m.CrossAll(blas64.General(m.Set.X.Gather([]int{3, 9})))
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Retrain(context.Background(), resample.Poisson{Ratio: 1}, cross, retrain.Settings{Resamples: 5,
		OnResample: func(_ int, _ []int, f []float64) {
			for e, example := range []int{3, 9} {
				if got, want := f[m.Sites()+e], f[m.Site[example]]; math.Abs(got-want) > 1e-9 {
					t.Errorf("new input %d: %v, site %v", e, got, want)
				}
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMissingClass against the share of drawn resamples that lack a class.
func TestMissingClass(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Hinge{C: 1}})
	scheme := resample.Poisson{Ratio: 0.4}
	const draws = 20000
	lacking, counts, rng := 0.0, make([]int, 8), rand.New(rand.NewPCG(3, 3))
	for range draws {
		scheme.Sample(rng, counts)
		seen := map[float64]bool{}
		for i, k := range counts {
			if k > 0 {
				seen[m.Set.Y[i]] = true
			}
		}
		if len(seen) < 2 {
			lacking += 1.0 / draws
		}
	}
	if got := m.MissingClass(scheme); math.Abs(got-lacking) > 4*math.Sqrt(0.25/draws) {
		t.Errorf("probability %v, drawn %v", got, lacking)
	}
	regression := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Square{Noise: 1}})
	if regression.MissingClass(scheme) != 0 {
		t.Error("regression lacks a class")
	}
}
