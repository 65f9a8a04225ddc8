package model_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/predict"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// at are the probabilities of a curve at fields.
func at(c calibration.Logistic, field []float64) []float64 {
	p := make([]float64, len(field))
	for i, f := range field {
		p[i] = c.Probability(f)
	}
	return p
}

// refitted are probabilities at new inputs by five folds: the average over the folds' models,
// each with a logistic curve of its own held-out fields (CalibratedClassifierCV), and one
// logistic curve of all held-out fields for the model trained on all data (svm-train -b 1).
func refitted(t *testing.T, m *model.Model, in *dataset.Inputs) (average, pooled []float64) {
	t.Helper()
	cross := need.One(m.CrossAll(in))(t)
	average = make([]float64, in.N())
	held, n := make([]float64, m.Set.N()), m.Set.N()
	run := func(scheme resample.Scheme, count int, take func(weight, f []float64)) {
		t.Helper()
		if _, err := refit.RetrainSingly(context.Background(), m, scheme, refit.RetrainSettings{Cross: cross,
			Settings: retrain.Settings{
				Resamples: count, OnFit: func(_ int, weight, f []float64) { take(weight, f) },
			}}); err != nil {
			t.Fatal(err)
		}
	}
	fit := func(field, label []float64) calibration.Logistic {
		c := need.One(calibration.FitLogistic(field, label, nil))(t)
		return c
	}
	run(resample.KFold{Folds: 5, N: n}, 5, func(weight, f []float64) {
		var field, label []float64
		for i, k := range weight {
			if k == 0 {
				held[i] = f[m.Site[i]]
				field, label = append(field, held[i]), append(label, m.Set.Y[i])
			}
		}
		for i, p := range at(fit(field, label), f[m.Sites():]) {
			average[i] += p / 5
		}
	})
	run(resample.Subsample{Size: n, N: n}, 1, func(_, f []float64) {
		pooled = at(fit(held, m.Set.Y), f[m.Sites():])
	})
	return average, pooled
}

// TestProbabilities: log loss and Brier score for new examples, on average over sets, are no
// worse than those of calibration by refitting.
func TestProbabilities(t *testing.T) {
	var mean [3]calibration.Scores
	for _, name := range []string{"pima", "crabs", "wisconsin", "synthetic:rings,n=600,d=3"} {
		set := load(t, name)
		drawn, fresh := need.Two(set.Split(min(set.N()*2/3, 250), rand.New(rand.NewPCG(0, 5))))(t)
		m, in := build(t, model.Spec{Set: drawn, Standardize: true, Loss: loss.Hinge{C: 1},
			Kernel: kernel.Spec{Gamma: 1 / float64(set.D())}}), &dataset.Inputs{X: fresh.X}
		s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
		p := need.One(predict.ProbabilitiesOf(m, s))(t)
		ours := need.One(p.AtInputs(m, s, in, need.One(predict.At(m, s, in, nil))(t)))(t)
		average, pooled := refitted(t, m, in)
		for k, probabilities := range [][]float64{ours, average, pooled} {
			scores := calibration.Judge(probabilities, fresh.Y, nil)
			mean[k].LogLoss += scores.LogLoss / 4
			mean[k].Brier += scores.Brier / 4
		}
	}
	for k := 1; k < 3; k++ {
		if mean[0].LogLoss > mean[k].LogLoss || mean[0].Brier > mean[k].Brier {
			t.Errorf("log loss and Brier score %+v, of refitting %+v", mean[0], mean[k])
		}
	}
}

// TestPosteriorProbabilities: at a training input the posterior's variance is chi of the
// engine, and E Phi(f) over a normal f is Phi(m/(1+v)^1/2); of a left-out example the
// variance is that of its cavity.
func TestPosteriorProbabilities(t *testing.T) {
	set := load(t, "synthetic:blobs,n=40,d=2")
	m := build(t, model.Spec{Set: set, Loss: loss.Probit{}, Kernel: kernel.Spec{Gamma: 0.5, Amplitude: 4},
		Standardize: true})
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	p, err := predict.ProbabilitiesOf(m, s)
	if err != nil || p.Method != "posterior" {
		t.Fatal(p, err)
	}
	in := &dataset.Inputs{X: set.X}
	points := need.One(predict.At(m, s, in, nil))(t)
	got := need.One(p.AtInputs(m, s, in, points))(t)
	engine := need.One(s.Engine())(t)
	chi, _ := engine.Diag()
	expect := func(mean, variance float64) float64 { return math.Erfc(-mean/math.Sqrt(2*(1+variance))) / 2 }
	for i, site := range m.Site {
		// moments of the table: 1e-9, and of the solve
		if want := expect(s.Mean[site], s.Var[site]+chi[site]); math.Abs(got[i]-want) > 1e-7 {
			t.Errorf("example %d: %v, want %v", i+1, got[i], want)
		}
		cavity := s.Cavity[site]
		if want := expect(cavity.Mean, cavity.Var+1/cavity.C); math.Abs(p.LeftOut[i]-want) > 1e-7 {
			t.Errorf("left-out example %d: %v, want %v", i+1, p.LeftOut[i], want)
		}
	}
}
