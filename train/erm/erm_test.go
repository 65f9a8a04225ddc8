package erm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/gp"
)

// TestSubgradients holds answers to the definition of the optimum, by the loss's values alone: f = K a,
// recomputed, and L_i(f + e) >= L_i(f) - a_i e for small and large e of either sign. A gap of 1e-10 of the
// objective allows errors of f of about 1e-5; the tolerance is 1e-7.
func TestSubgradients(t *testing.T) {
	specs := map[string]kernel.Spec{
		"rbf":    {Gamma: 0.5},
		"broad":  {Gamma: 0.01},
		"narrow": {Gamma: 8},
		"linear": {Kind: kernel.Linear},
	}
	for name, spec := range specs {
		for _, set := range []string{"sonar", "wisconsin"} {
			k, y, site := problems.Embedded(t, set, spec)
			for _, l := range losses() {
				t.Run(fmt.Sprintf("%s/%s/%s", set, name, l.Name()), func(t *testing.T) {
					t.Parallel()
					p := train.Set{Y: y, Site: site, Weight: make([]float64, len(y))}
					bootstrap(rand.New(rand.NewPCG(5, 5)), p.Weight)
					checkOptimal(t, k, l, p, mustTrain(t, k, l, p, train.Settings{}), 1e-7)
				})
			}
		}
	}
}

func checkOptimal(t *testing.T, k *linalg.Sym, l erm.Loss, p train.Set, r *erm.Result, tol float64) {
	t.Helper()
	size := 1.0
	for _, a := range r.Weight {
		size = max(size, math.Abs(a))
	}
	near(t, "f", r.F, plainField(k, r.Weight), 1e-11*size*float64(len(r.Weight)))
	if want := objective(k, l, p, r.Weight); math.Abs(r.Objective-want) > 1e-9*math.Abs(want) {
		t.Errorf("objective %v, want %v", r.Objective, want)
	}
	for i, f := range r.F {
		if k.At(i, i) == 0 {
			continue
		}
		for _, e := range []float64{1e-5, -1e-5, 1e-3, -1e-3, 0.3, -0.3, 5, -5} {
			rise := siteLoss(l, p, i, f+e) - siteLoss(l, p, i, f)
			if short := -r.Weight[i]*e - rise; short > tol*(1+math.Abs(r.Weight[i])) {
				t.Fatalf("site %d: f = %v, a = %v: L rises by %v over %v, %g too little",
					i, f, r.Weight[i], rise, e, short)
			}
		}
	}
}

// TestSquare: square loss is Gaussian-process regression, also with several
// examples of different targets on a site and on a singular K.
func TestSquare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		k, p := small(rng, 12, 30, 0)
		for i := range p.Y {
			p.Y[i] += rng.NormFloat64()
		}
		fit := testutil.Must(testutil.Must(gp.NewTrainer(k, 0.3))(t).Train(p))(t)
		r := mustTrain(t, k, loss.Square{Noise: 0.3}, p, train.Settings{})
		near(t, "f", r.F, fit.F, 1e-12)
		near(t, "a", r.Weight, fit.Weight, 1e-11)
		if r.Steps > 1 {
			t.Errorf("%d Newton steps for a linear problem", r.Steps)
		}
	}
}

// TestCertificate: the gap of a training that stops early bounds the optimum and the error of f.
func TestCertificate(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	k, y, site := problems.Embedded(t, "sonar", kernel.Spec{Gamma: 0.5})
	p := train.Set{Y: y, Site: site, Weight: make([]float64, len(y))}
	bootstrap(rand.New(rand.NewPCG(4, 4)), p.Weight)
	for _, l := range losses() {
		best := mustTrain(t, k, l, p, train.Settings{Tolerance: 1e-13})
		loose, early := 0, 0
		for steps := 1; steps < 12; steps++ {
			r := testutil.Must(trainOnce(k, l, p, train.Settings{Limit: steps, Tolerance: 1e-13}))(t)
			if r.Status == train.IterationLimit {
				early++
			}
			tiny := 1e-12 * best.Objective
			if r.Objective < best.Objective-tiny || r.Objective-r.Gap > best.Objective+tiny || r.Gap < 0 {
				t.Errorf("%s after %d steps: optimum in [%v, %v], is %v",
					l.Name(), steps, r.Objective-r.Gap, r.Objective, best.Objective)
			}
			if r.Objective-best.Objective > 1e-6*best.Objective {
				loose++
			}
			for i, f := range r.F {
				if bound := math.Sqrt(2 * k.At(i, i) * (r.Gap + tiny)); math.Abs(f-best.F[i]) > bound {
					t.Fatalf("%s after %d steps: f is off by %g, bound %g",
						l.Name(), steps, math.Abs(f-best.F[i]), bound)
				}
			}
		}
		if l.Name() == "hinge" && (loose == 0 || early == 0) {
			t.Error("no training ended early: the test says nothing")
		}
	}
}

// TestNothing: without an example of a weight the predictor is 0.
func TestNothing(t *testing.T) {
	k, p := small(rand.New(rand.NewPCG(6, 6)), 4, 6, 0.1)
	clear(p.Weight)
	r := mustTrain(t, k, loss.Logistic{C: 1}, p, train.Settings{})
	near(t, "nothing to train on", append(r.F, r.Weight...), make([]float64, 8), 0)
}
