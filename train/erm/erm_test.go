package erm_test

import (
	"errors"
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

// losses are the losses under test; all take labels.
func losses() []erm.Loss {
	return []erm.Loss{
		loss.Square{Noise: 0.3}, loss.Hinge{C: 1.5}, loss.SquaredHinge{C: 1},
		loss.EpsInsensitive{C: 3, Epsilon: 0.2}, loss.LeastAbsolute{C: 1}, loss.Huber{C: 4, Epsilon: 0.5},
		loss.Logistic{C: 2}, loss.Logistic{C: 1, ClassWeights: loss.ClassWeights{Negative: 0.6, Positive: 4}},
	}
}

// bootstrap draws multiplicities.
func bootstrap(rng *rand.Rand, w []float64) {
	clear(w)
	for range w {
		w[rng.IntN(len(w))]++
	}
}

// near is problems.Near.
var near = problems.Near

// small is a Gaussian kernel plus ridge over m points of the plane, and n examples with labels anywhere on
// them.
func small(rng *rand.Rand, m, n int, ridge float64) (*linalg.Sym, train.Set) {
	k := problems.Plane(rng, m)
	k.AddDiag(ridge)
	p := train.Set{Y: make([]float64, n), Site: make([]int, n), Weight: make([]float64, n)}
	for i := range n {
		p.Y[i], p.Site[i], p.Weight[i] = float64(2*rng.IntN(2)-1), rng.IntN(m), float64(rng.IntN(3))
	}
	return k, p
}

func mustTrain(t testing.TB, k *linalg.Sym, l erm.Loss, p train.Set, s train.Settings) *erm.Result {
	t.Helper()
	r := testutil.Must(trainOnce(k, l, p, s))(t)
	if r.Status != train.Converged {
		t.Fatalf("%s: %v, gap %g of %g after %d steps and %d sweeps", l.Name(), r.Status, r.Gap, r.Objective,
			r.Steps, r.Sweeps)
	}
	return r
}

// plainField is K a by a double loop.
func plainField(k *linalg.Sym, a []float64) []float64 {
	f := make([]float64, len(a))
	for i := range f {
		for j, v := range a {
			f[i] += v * k.At(i, j)
		}
	}
	return f
}

// siteLoss is L_i(f).
func siteLoss(l erm.Loss, p train.Set, site int, f float64) float64 {
	v := 0.0
	for j, k := range p.Weight {
		if k > 0 && p.Site.At(j) == site {
			v += k * l.Value(f, p.Y[j])
		}
	}
	return v
}

// objective is (T1) at f = K a.
func objective(k *linalg.Sym, l erm.Loss, p train.Set, a []float64) float64 {
	f, v := plainField(k, a), 0.0
	for i := range f {
		v += a[i]*f[i]/2 + siteLoss(l, p, i, f[i])
	}
	return v
}

// trainOnce is erm.NewTrainer and Trainer.Train in one.
func trainOnce(k *linalg.Sym, l erm.Loss, p train.Set, s train.Settings) (*erm.Result, error) {
	t, err := erm.NewTrainer(k, l)
	if err != nil {
		return nil, err
	}
	return t.Train(p, s)
}

// TestLowRank: on a factor K~ = R R' + diag(delta) every loss finds the predictor that it
// finds on K~ multiplied out, for resamples with absent sites and for all data, within what
// the two gaps allow. At rank 40 of 60, and of 60, where delta is rounding; with a jitter.
func TestLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	whole, p := small(rng, 60, 90, 0)
	for _, rank := range []int{0, 12, 40, 60} {
		factor := testutil.Must(linalg.PivotedCholesky(t.Context(), whole,
			linalg.RankOptions{MaxRank: max(1, rank)}))(t)
		if rank == 12 {
			factor.AddDiag(0.01)
		}
		k := factor.Dense()
		for _, l := range losses() {
			trainer := testutil.Must(erm.NewTrainer(factor, l))(t)
			for trial := range 3 {
				if trial > 0 {
					bootstrap(rng, p.Weight)
				}
				want := mustTrain(t, k, l, p, train.Settings{})
				got, err := trainer.Train(p, train.Settings{})
				if err != nil || got.Status != train.Converged {
					t.Fatalf("rank %d, %s: %v, %v", rank, l.Name(), err, got.Status)
				}
				for i, f := range got.F {
					most := math.Sqrt(2*k.At(i, i)*(got.Gap+want.Gap+1e-13*(1+math.Abs(want.Objective)))) * 2
					if math.Abs(f-want.F[i]) > most {
						t.Errorf("rank %d, %s, site %d: %v on the factor, %v on the matrix",
							rank, l.Name(), i, f, want.F[i])
					}
				}
				for i, f := range plainField(k, got.Weight) {
					if math.Abs(f-got.F[i]) > 1e-10*(1+math.Abs(f)) {
						t.Errorf("rank %d, %s, site %d: F is %v, K a is %v", rank, l.Name(), i, got.F[i], f)
					}
				}
			}
		}
	}
}

// TestNoVariance: where K_ii = 0 the predictor is 0, and its losses count.
func TestNoVariance(t *testing.T) {
	k := linalg.ZeroSym(2)
	k.Set(0, 0, 4)
	p := train.Set{Y: []float64{1, -1}, Weight: []float64{1, 3}}
	r := mustTrain(t, k, loss.Hinge{C: 1}, p, train.Settings{})
	// f_0 = 1 with a_0 = 1/4: 1/2 f^2/4 = 1/8, and 3 from the other site.
	near(t, "f", append(r.F, r.Weight...), []float64{1, 0, 0.25, 0}, 1e-12)
	if math.Abs(r.Objective-3.125) > 1e-12 {
		t.Errorf("objective %v", r.Objective)
	}
}

func TestStatus(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	k, p := small(rng, 30, 60, 0)
	for _, c := range []struct {
		s    train.Settings
		want train.Status
	}{
		{train.Settings{}, train.Converged},
		{train.Settings{Tolerance: 1e-300}, train.Stalled},
		{train.Settings{Tolerance: 1e-300, Limit: 1}, train.IterationLimit},
	} {
		r := testutil.Must(trainOnce(k, loss.Logistic{C: 1}, p, c.s))(t)
		if r.Status != c.want {
			t.Errorf("%v after %d steps, gap %g, want %v", r.Status, r.Steps, r.Gap, c.want)
		}
		for _, v := range append(r.F, r.Weight...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v in the answer", v)
			}
		}
	}
}

func trainWithBias(t *testing.T, k *linalg.Sym, l erm.Loss, p train.Set) *erm.Result {
	t.Helper()
	trainer := testutil.Must(erm.NewTrainer(k, l))(t)
	p.Bias = true
	r, err := trainer.Train(p, train.Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(l.Name(), err)
	}
	return r
}

// TestBiasIsLimit: for every loss the weights sum to 0 and the predictor is the limit of those with K + c,
// extrapolated from c = 1e2, 1e3 and 1e4. A gap of 1e-11 of an objective of about 10 allows an error of f of
// (2 K gap)^1/2 = 1.4e-5 for a smooth loss; the tolerance is twice that.
func TestBiasIsLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for range 6 {
		k, p := small(rng, 20, 30, 0.05)
		for _, l := range losses() {
			r := trainWithBias(t, k, l, p)
			sum, size := 0.0, 0.0
			for _, a := range r.Weight {
				sum, size = sum+a, size+math.Abs(a)
			}
			if math.Abs(sum) > 1e-6*size {
				t.Errorf("%s: weights of size %g sum to %g", l.Name(), size, sum)
			}
			near(t, l.Name(), r.F, problems.Limit(k, 1e4, func(k *linalg.Sym) []float64 {
				return mustTrain(t, k, l, p, train.Settings{Tolerance: 1e-11}).F
			}), 3e-5)
		}
	}
}

// TestOneClass: a loss that decreases to infinity has no optimal bias; one with a flat part has the optimum
// nearest 0; a regression always has one.
func TestOneClass(t *testing.T) {
	k, _ := small(rand.New(rand.NewPCG(33, 1)), 3, 3, 0.1)
	set := train.Set{Y: []float64{-1, -1, -1}, Weight: []float64{1, 0, 2}, Bias: true}
	trainer := testutil.Must(erm.NewTrainer(k, loss.Logistic{C: 2}))(t)
	if _, err := trainer.Train(set, train.Settings{}); !errors.Is(err, erm.ErrNoFiniteBias) {
		t.Errorf("logistic loss of one class: %v", err)
	}
	for _, l := range []erm.Loss{loss.Hinge{C: 1.5}, loss.SquaredHinge{C: 1}, loss.Huber{C: 4, Epsilon: 0.5},
		loss.Square{Noise: 0.3}} {
		near(t, l.Name(), trainWithBias(t, k, l, set).F, []float64{-1, -1, -1}, 1e-5)
	}
	set.Weight = []float64{0, 0, 0}
	near(t, "no examples", trainWithBias(t, k, loss.Logistic{C: 2}, set).F, []float64{0, 0, 0}, 0)
}
