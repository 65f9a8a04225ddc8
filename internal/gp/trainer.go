package gp

import (
	"fmt"
	"math"

	"bootbench/internal/train"
	"bootbench/linalg"

	"gonum.org/v1/gonum/floats"
)

// Trainer fits weighted training sets over the sites of one kernel matrix, one
// after the other. It takes about 8 n^2 bytes for the largest number n of
// active sites met so far; once that has settled a fit allocates nothing beyond
// what the bound BLAS takes for itself. Trainers that share a
// kernel matrix only read it and may run at the same time; one Trainer serves
// one goroutine.
type Trainer struct {
	noise  float64
	biased bool
	system system
	active []int     // sites of positive weight, ascending
	ridge  []float64 // s2/weight over the active sites
	beta   []float64 // the system's right side, then its solution, over the active sites
	fitted []float64 // f at the active sites
	alpha  []float64 // beta spread over all M sites
	bias   float64
}

// NewTrainer returns a Trainer for kernel matrix k (M x M, positive
// semidefinite) and noise variance noise >= 0, untrained: it predicts the prior
// mean 0.
func NewTrainer(k *linalg.Sym, noise float64) (*Trainer, error) {
	if err := checkNoise(noise); err != nil {
		return nil, err
	}
	m := k.N()
	return &Trainer{
		noise:  noise,
		system: system{kernel: k},
		active: make([]int, 0, m),
		ridge:  make([]float64, m),
		beta:   make([]float64, m),
		fitted: make([]float64, m),
		alpha:  make([]float64, m),
	}, nil
}

// NewBiasedTrainer is NewTrainer for a model with a bias, a constant mean that costs nothing:
// f = K alpha + bias with sum alpha = 0.
func NewBiasedTrainer(k *linalg.Sym, noise float64) (*Trainer, error) {
	t, err := NewTrainer(k, noise)
	if err == nil {
		t.biased = true
	}
	return t, err
}

func checkNoise(noise float64) error {
	if !(noise >= 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("the noise variance must be finite and not negative, got %v", noise)
	}
	return nil
}

// Sites is the number M of sites.
func (t *Trainer) Sites() int { return t.system.kernel.N() }

// Fit trains on the set in which site i has weight[i] >= 0, as that many examples, and mean target
// target[i]; both have length M, and targets of sites of weight 0 are not
// looked at. A set without weights leaves the prior mean 0. A failed
// factorisation is a *PivotError. After an error the Trainer is untrained.
func (t *Trainer) Fit(weight, target []float64) error {
	if err := t.begin(weight, target); err != nil {
		return err
	}
	n := len(t.active)
	t.system.gather(t.active, t.Sites())
	for p, i := range t.active {
		t.ridge[p], t.beta[p] = t.noise/weight[i], target[i]
	}
	if err := t.solve(n); err != nil {
		t.active = t.active[:0]
		return err
	}
	t.finish(target)
	return nil
}

// solve overwrites beta, over n active sites, with the system's solution.
func (t *Trainer) solve(n int) (err error) {
	if t.biased {
		t.bias, err = t.system.solveWithBias(t.beta[:n], t.active, t.ridge[:n])
		return err
	}
	return t.system.solve(t.beta[:n], t.active, t.ridge[:n])
}

// forget leaves the prior mean 0.
func (t *Trainer) forget() {
	t.active, t.bias = t.active[:0], 0
	clear(t.alpha)
}

// begin forgets the last training set and lists the active sites of the next.
func (t *Trainer) begin(weight, target []float64) error {
	t.forget()
	if m := t.Sites(); len(weight) != m || len(target) != m {
		return fmt.Errorf("%d weights and %d targets do not fit %d sites", len(weight), len(target), m)
	}
	for i, w := range weight {
		if !(w >= 0) || math.IsInf(w, 1) {
			t.forget()
			return fmt.Errorf("site %d has weight %v, must be finite and at least 0", i+1, w)
		}
		if w > 0 {
			t.active = append(t.active, i)
		}
	}
	return nil
}

// finish writes the solution to alpha, and f at the active sites, which the system
// gives: K_aa alpha + bias = t_a - (s2/w_a) alpha.
func (t *Trainer) finish(target []float64) {
	for p, i := range t.active {
		t.alpha[i] = t.beta[p]
		t.fitted[p] = target[i] - t.ridge[p]*t.beta[p]
	}
}

// Alpha is a view of the dual weights over all M sites, f = K alpha + Bias, zero where
// the weight was 0. The next Fit overwrites it.
func (t *Trainer) Alpha() []float64 { return t.alpha }

// Bias is that of the last Fit, 0 of a Trainer without one.
func (t *Trainer) Bias() float64 { return t.bias }

// Predict writes the fit at all M sites into f (length M). Active sites cost
// nothing; the others take one pass over the stored triangle of K.
func (t *Trainer) Predict(f []float64) error {
	if len(f) != t.Sites() {
		return fmt.Errorf("%d places do not fit %d sites", len(f), t.Sites())
	}
	train.MulInactive(f, t.system.kernel, t.active, t.alpha)
	floats.AddConst(t.bias, f)
	for p, i := range t.active {
		f[i] = t.fitted[p]
	}
	return nil
}
