package model_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/batch"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

func blobs(t *testing.T, l loss.Loss) *model.Model {
	t.Helper()
	return build(t, model.Spec{Set: load(t, "synthetic:blobs,n=40,noise=0.5"), Kernel: kernel.Spec{Gamma: 0.5},
		Loss: l, Standardize: true})
}

// TestMarginTrainers: the full fit and retraining obey the Kuhn-Tucker
// conditions of their loss, recomputed from the predictor alone: K^-1 f gives
// the weights beta, which must lie in the boxes.
func TestMarginTrainers(t *testing.T) {
	for name, l := range map[string]loss.Loss{"hard": loss.HardMargin{}, "hinge": loss.Hinge{C: 2}} {
		m := blobs(t, l)
		f := need.One(m.FullFit())(t)
		fit := need.One(m.Fit(model.FitSettings{Tolerance: 1e-8}))(t)
		r := fit.SVM
		for i, y := range m.Set.Y {
			margin, weight := y*r.F[m.Site[i]], r.Alpha[i]
			if math.Abs(f[m.Site[i]]-r.F[m.Site[i]]) > 0.01 { // both at their tolerances, 1e-3 and 1e-8
				t.Errorf("%s: full fit %v, training %v", name, f[m.Site[i]], r.F[m.Site[i]])
			}
			switch {
			case weight > 0 && margin > 1+1e-7, name == "hard" && margin < 1-1e-7, name == "hinge" && weight < 2 &&
				margin < 1-1e-7:
				t.Errorf("%s, example %d: margin %v with weight %v", name, i, margin, weight)
			}
		}
		result, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
			refit.RetrainSettings{Settings: retrain.Settings{Resamples: 20, Tests: []loss.Test{loss.ZeroOne{}}}})
		if err != nil || result.Resamples != 20 || !(result.LeftOut[0].Error < 0.5) {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}

// TestMarginExtras: new inputs that repeat training inputs get their prediction.
func TestMarginExtras(t *testing.T) {
	m := blobs(t, loss.Hinge{C: 1})
	cross, err := m.CrossAll(model.Dense(blas64.General(m.Set.X.Gather([]int{3, 9}))))
	if err != nil {
		t.Fatal(err)
	}
	_, err = refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: retrain.Settings{Resamples: 5,
			OnFit: func(_ int, _, f []float64) {
				for e, example := range []int{3, 9} {
					if got, want := f[m.Sites()+e], f[m.Site[example]]; math.Abs(got-want) > 1e-9 {
						t.Errorf("new input %d: %v, site %v", e, got, want)
					}
				}
			}}, Cross: cross})
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
	if got := refit.MissingClass(m, scheme); math.Abs(got-lacking) > 4*math.Sqrt(0.25/draws) {
		t.Errorf("probability %v, drawn %v", got, lacking)
	}
	regression := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Square{Noise: 1}})
	if refit.MissingClass(regression, scheme) != 0 {
		t.Error("regression lacks a class")
	}
}

// TestRetrainMethods: batches and single fits are the same fits of the same draws, so that the
// averages agree far within the Monte-Carlo error: 1e-3 standard deviations beside
// 1/sqrt(300). Auto takes batches where there are resamples and sites enough, and single
// fits where the loss is a likelihood.
func TestRetrainMethods(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "sonar"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.01},
		Loss: loss.SquaredHinge{C: 1}})
	settings := retrain.Settings{Resamples: 300, Tests: []loss.Test{loss.ZeroOne{}}}
	by := func(method refit.RetrainMethod) *refit.Retraining {
		r := need.One(refit.Retrain(context.Background(), m, method, resample.Poisson{Ratio: 1},
			refit.RetrainSettings{Settings: settings}))(t)
		return r
	}
	together, single := by(refit.AutoMethod), by(refit.Single)
	if together.Method != refit.Batch || together.Batch.Fits+together.Batch.Exact != 300 ||
		single.Method != refit.Single {
		t.Errorf("methods %v (%+v) and %v", together.Method, together.Batch, single.Method)
	}
	for i, v := range single.Var {
		sd := math.Sqrt(v)
		if math.Abs(together.Mean[i]-single.Mean[i]) > 2e-3*sd || math.Abs(together.Var[i]/v-1) > 1e-2 {
			t.Errorf("site %d: %v, %v by batches, %v, %v one by one", i, together.Mean[i], together.Var[i],
				single.Mean[i], v)
		}
	}
	if a, b := together.LeftOut[0], single.LeftOut[0]; math.Abs(a.Error-b.Error) > 0.1*b.SE {
		t.Errorf("left-out error %v by batches, %v one by one", a.Error, b.Error)
	}
	settings.Resamples = 20
	if r := by(refit.AutoMethod); r.Method != refit.Single {
		t.Errorf("20 resamples by %v", r.Method)
	}
	likely := build(t, model.Spec{Set: load(t, "crabs"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.2},
		Loss: loss.Probit{}})
	if _, err := refit.Retrain(context.Background(), likely, refit.Batch, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: settings}); !errors.Is(err, model.ErrInput) {
		t.Errorf("batches of a likelihood: %v", err)
	}
}

// namelessLoss is a loss that has sites, and nothing to be trained by.
type namelessLoss struct{ loss.Loss }

// TestUntrainable: a loss without a trainer has a theory, and every training of it is refused, rather than
// made with no trainer.
func TestUntrainable(t *testing.T) {
	m := blobs(t, namelessLoss{loss.Hinge{C: 1}})
	s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	training := refit.RetrainSettings{Settings: retrain.Settings{Resamples: 3,
		Tests: []loss.Test{loss.ZeroOne{}}}}
	for what, try := range map[string]func() error{
		"trainer":  func() error { _, err := m.NewTrainer(); return err },
		"full fit": func() error { _, err := m.FullFit(); return err },
		"fit":      func() error { _, err := m.Fit(model.FitSettings{}); return err },
		"retrain": func() error {
			_, err := refit.RetrainSingly(t.Context(), m, resample.Poisson{Ratio: 1}, training)
			return err
		},
		"batch": func() error { _, err := refit.NewBatch(m, s, training); return err },
	} {
		if err := try(); !errors.Is(err, model.ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTrainerWithoutMemory: hard margins on a factor are trained with the whole matrix; where that does not
// fit, no trainer is made, one by one or for what batches leave over, and the error says so.
func TestTrainerWithoutMemory(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:checker,n=900"), Kernel: kernel.Spec{Gamma: 20,
		Jitter: 0.01},
		Loss: loss.HardMargin{}, Storage: model.LowRank, Rank: 20, MaxBytes: 5 << 20})
	if _, err := m.NewTrainer(); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("one by one: %v", err)
	}
	s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{MaxSweeps: 20}))(t)
	_, _, err := refit.RetrainAround(t.Context(), m, s, resample.Poisson{Ratio: 1}, refit.RetrainSettings{
		Batch: batch.Settings{MaxIterations: 1}, Settings: retrain.Settings{Resamples: 3,
			Tests: []loss.Test{loss.ZeroOne{}}}})
	if !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("left over: %v", err)
	}
}

// TestStopped: a training that is told to stop ends, and is no answer.
func TestStopped(t *testing.T) {
	for name, l := range map[string]loss.Loss{"synthetic:blobs,n=300,d=3": loss.Hinge{C: 100},
		"synthetic:friedman1,n=300": loss.Huber{C: 100, Delta: 0.1}} {
		spec := model.NewSpec(load(t, name), l)
		asked := 0
		spec.Stop = func() bool { asked++; return true }
		m := need.One(model.Build(spec))(t)
		if f, err := m.FullFit(); !errors.Is(err, context.Canceled) || f != nil && err == nil || asked != 1 {
			t.Errorf("%s: %v after %d questions", l.Name(), err, asked)
		}
	}
}
