package retrain_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/erm"
	"bootbench/linalg"
	"bootbench/retrain"
)

// gaussian is the square loss (f-y)^2/(2 noise) by its proximal map, and the
// Gaussian likelihood by its tilted moments: both are regression.
type gaussian struct{ noise float64 }

func (gaussian) Name() string                 { return "gaussian" }
func (l gaussian) Value(f, y float64) float64 { return (f - y) * (f - y) / (2 * l.noise) }

func (l gaussian) Prox(c, h float64, y, k []float64) (f, slope float64) {
	_, f, variance := l.TiltedMoments(c, h, y, k)
	return f, c * variance
}

func (l gaussian) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	precision, shift := c, c*h
	for j := range y {
		precision += k[j] / l.noise
		shift += k[j] * y[j] / l.noise
	}
	return 0, shift / precision, 1 / precision
}

// absolute is the loss |f - y|, for one example a site.
type absolute struct{}

func (absolute) Name() string               { return "absolute" }
func (absolute) Value(f, y float64) float64 { return math.Abs(f - y) }
func (absolute) Prox(c, h float64, y, k []float64) (f, slope float64) {
	if math.Abs(h-y[0]) <= k[0]/c {
		return y[0], 0
	}
	return h - math.Copysign(k[0]/c, h-y[0]), 1
}

// strict bars every f but y.
type strict struct{ absolute }

func (strict) Value(f, y float64) float64 {
	if f != y {
		return math.Inf(1)
	}
	return 0
}

// Where both are regression, ERM and EP draw the same resamples as GP and find
// the same predictors, also at sites with several examples and at new inputs.
func TestGeneralTrainersAreRegression(t *testing.T) {
	p, regress := regression(12)
	s := retrain.Settings{Resamples: 50, Seed: 4, Tests: bothTests}
	want := run(t, p, regress.Trainers(p), s)
	l := gaussian{regress.Noise}
	for name, newTrainer := range map[string]func() (retrain.Trainer, error){
		"erm": retrain.ERM{Kernel: regress.Kernel, Loss: l, Cross: regress.Cross}.Trainers(p),
		"ep":  retrain.EP{Kernel: regress.Kernel, Likelihood: l, Cross: regress.Cross}.Trainers(p),
	} {
		got := run(t, p, newTrainer, s)
		for i := range want.Mean {
			if !near(got.Mean[i], want.Mean[i], 1e-6) || !near(got.Var[i], want.Var[i], 1e-6) {
				t.Errorf("%s: moments %v, %v of site %d, want %v, %v", name, got.Mean[i], got.Var[i], i, want.Mean[i],
					want.Var[i])
			}
		}
		if !near(got.LeftOut[0].Error, want.LeftOut[0].Error, 1e-6) {
			t.Errorf("%s: left-out error %v, want %v", name, got.LeftOut[0].Error, want.LeftOut[0].Error)
		}
	}
}

// The answer has the same bits for any number of workers: no fit starts from
// what its worker did before.
func TestGeneralTrainersForgetTheLastFit(t *testing.T) {
	p, regress := regression(14)
	p.Site, p.Y = nil, p.Y[:p.Sites]
	for name, newTrainer := range map[string]func() (retrain.Trainer, error){
		"erm": retrain.ERM{Kernel: regress.Kernel, Loss: absolute{}, Cross: regress.Cross}.Trainers(p),
		"ep":  retrain.EP{Kernel: regress.Kernel, Likelihood: gaussian{0.1}, Cross: regress.Cross}.Trainers(p),
	} {
		s := retrain.Settings{Resamples: 40, Seed: 5, Workers: 1, Tests: bothTests}
		want := text(run(t, p, newTrainer, s))
		s.Workers = 3
		if got := text(run(t, p, newTrainer, s)); got != want {
			t.Errorf("%s: the answer differs:\n%s\n%s", name, got, want)
		}
	}
}

func TestGeneralTrainersRefuse(t *testing.T) {
	p, regress := regression(8)
	k := linalg.NewSym(3)
	for name, newTrainer := range map[string]func() (retrain.Trainer, error){
		"erm kernel": retrain.ERM{Kernel: k, Loss: absolute{}, Cross: regress.Cross}.Trainers(p),
		"erm cross":  retrain.ERM{Kernel: regress.Kernel, Loss: absolute{}}.Trainers(p),
		"erm loss":   retrain.ERM{Kernel: regress.Kernel, Cross: regress.Cross}.Trainers(p),
		"ep kernel":  retrain.EP{Kernel: k, Likelihood: gaussian{1}, Cross: regress.Cross}.Trainers(p),
		"ep cross": retrain.EP{Kernel: regress.Kernel, Likelihood: gaussian{1},
			Cross: blas64.General{Rows: 1}}.Trainers(p),
		"ep likelihood":  retrain.EP{Kernel: regress.Kernel, Cross: regress.Cross}.Trainers(p),
		"erm without p":  retrain.ERM{Kernel: regress.Kernel, Loss: absolute{}}.Trainers(retrain.Problem{}),
		"ep without any": retrain.EP{Kernel: regress.Kernel, Likelihood: gaussian{1}}.Trainers(retrain.Problem{}),
	} {
		if _, err := newTrainer(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	// A loss that two examples of one site cannot meet together.
	var failed *retrain.FitError
	var infeasible *erm.InfeasibleError
	_, err := retrain.Run(context.Background(), p, retrain.ERM{Kernel: regress.Kernel, Loss: strict{},
		Cross: regress.Cross}.Trainers(p), retrain.Settings{Resamples: 20})
	if !errors.As(err, &failed) || !errors.As(err, &infeasible) {
		t.Errorf("contradicting examples: %v", err)
	}
}
