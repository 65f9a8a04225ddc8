package model_test

import (
	"context"
	"math"
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// ownHinge is the hinge loss as a user would write it: not the type that package
// svm trains, but a proximal map.
type ownHinge struct{ loss.Hinge }

func (ownHinge) Name() string { return "own hinge" }

// Prox tries the three pieces, for one example a site.
func (l ownHinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	switch u, t := y[0]*h, k[0]*l.C/c; {
	case u >= 1:
		return h, 1
	case u < 1-t:
		return h + y[0]*t, 1
	}
	return y[0], 0
}

// ownGaussian is square loss as a likelihood.
type ownGaussian struct{ loss.Square }

func (ownGaussian) Name() string { return "own gaussian" }
func (l ownGaussian) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	precision, shift := c, c*h
	for j := range y {
		precision += k[j] / l.Noise
		shift += k[j] * y[j] / l.Noise
	}
	return 0, shift / precision, 1 / precision
}

// TestOwnLosses: a loss that has no trainer of its own is trained by its proximal
// map, a likelihood by expectation propagation. Both meet the trainers that
// the same losses have under their own names. Package svm stops at 1e-3.
func TestOwnLosses(t *testing.T) {
	for _, c := range []struct {
		own, known loss.Loss
		tol        float64
	}{
		{ownHinge{loss.Hinge{C: 2}}, loss.Hinge{C: 2}, 0.01},
		{ownGaussian{loss.Square{Noise: 0.2}}, loss.Square{Noise: 0.2}, 1e-6},
	} {
		own, known := blobs(t, c.own), blobs(t, c.known)
		f := need.One(own.FullFit())(t)
		want := need.One(known.FullFit())(t)
		for i := range f {
			if math.Abs(f[i]-want[i]) > c.tol {
				t.Errorf("%s: full fit %v at site %d, want %v", c.own.Name(), f[i], i, want[i])
			}
		}
		s := retrain.Settings{Resamples: 20, Tests: []loss.Test{loss.ZeroOne{}}}
		scheme := resample.Poisson{Ratio: 1}
		a := need.One(refit.RetrainSingly(context.Background(), own, scheme, refit.RetrainSettings{Settings: s}))(t)
		b := need.One(refit.RetrainSingly(context.Background(), known, scheme,
			refit.RetrainSettings{Settings: s}))(t)
		for i := range a.Mean {
			if math.Abs(a.Mean[i]-b.Mean[i]) > c.tol {
				t.Errorf("%s: retrained mean %v at site %d, want %v", c.own.Name(), a.Mean[i], i, b.Mean[i])
			}
		}
		if got, want := refit.MissingClass(own, scheme), refit.MissingClass(known, scheme); got != want {
			t.Errorf("%s: class missing with probability %v, want %v", c.own.Name(), got, want)
		}
	}
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Kernel: kernel.Spec{Gamma: 1},
		Loss: ownHinge{loss.Hinge{C: 1}}})
	if refit.MissingClass(m, resample.Poisson{Ratio: 0.4}) == 0 {
		t.Error("no resample lacks a class")
	}
}

// An input where K_ii = 0 has a predictor of zero in every resample, whatever the
// likelihood; a solve with one ends, and soon.
func TestKernelOfZero(t *testing.T) {
	set := load(t, "synthetic:rings,n=12,d=2").Head(6)
	for j := range set.X.Cols {
		set.X.Row(2)[j] = 0
	}
	for _, l := range []loss.Loss{loss.Probit{}, loss.Logit{}, loss.Logistic{C: 1}} {
		m := build(t, model.Spec{Set: set, Loss: l, Kernel: kernel.Spec{Kind: kernel.Linear}})
		s, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{MaxSweeps: 100})
		if err != nil || s.Status != solver.Converged || s.Mean[m.Site[2]] != 0 || s.Var[m.Site[2]] != 0 {
			t.Errorf("%s: %v, %+v", l.Name(), err, s)
		}
	}
}
