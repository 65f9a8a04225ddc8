package gp

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train"
)

// Trainer fits weighted training sets over the sites of one kernel matrix, one after the other. It takes
// about 8 n^2 bytes for the largest number n of active sites so far; later fits allocate nothing outside
// BLAS. Trainers that share a kernel matrix only read it and may run at the same time; one Trainer serves one
// goroutine.
type Trainer struct {
	train.Result // of the last fit; F is the caller's
	noise        float64
	biased       bool
	system       system
	rows               // of the system
	order        []int // workspace of FitRows
}

// rows are the rows of a training system, K_aa + diag(ridge).
type rows struct {
	site        []int     // ascending
	ridge       []float64 // the variance of each row's noise
	right, beta []float64 // right-hand side, solution
}

// add appends a row.
func (r *rows) add(site int, ridge, target float64) {
	r.site, r.ridge, r.right = append(r.site, site), append(r.ridge, ridge), append(r.right, target)
}

// NewTrainer returns a Trainer for kernel matrix k (M x M, positive semidefinite) and noise variance noise >=
// 0, with an unpenalised bias or without: f = K alpha + bias, and with a bias sum alpha = 0.
func NewTrainer(k *linalg.Sym, noise float64, biased bool) (*Trainer, error) {
	return &Trainer{noise: noise, biased: biased, system: system{kernel: k},
		Result: train.Result{Weight: make([]float64, k.N())}}, checkNoise(noise)
}

// Fit trains on the set in which site i counts as weight[i] >= 0 examples of mean target target[i], and
// writes the fit at all sites into f. All have length M; targets of sites of weight 0 are ignored.
// Predictions at inactive sites take one pass over the stored triangle of K. A failed factorisation is a
// *PivotError.
func (t *Trainer) Fit(weight, target, f []float64) error {
	if err := checkSites(len(t.Weight), weight, target); err != nil {
		return err
	}
	t.begin()
	for i, w := range weight {
		if w > 0 {
			t.add(i, t.noise/w, target[i])
		}
	}
	if err := t.solve(); err != nil {
		return err
	}
	t.F = f
	train.MulInactive(f, t.system.kernel, t.site, t.Weight)
	floats.AddConst(t.Bias, f)
	for p, i := range t.site { // K_aa alpha + bias = t_a - (s2/w_a) alpha
		f[i] = target[i] - t.ridge[p]*t.beta[p]
	}
	return nil
}

// FitRows is Fit to single rows, given by their sites (0 to M-1) and targets: S rows make an S x S system,
// even if rows are repeated. It is the plain reference for Fit, and retraining without merging costs as much.
// With repeated rows the noise must be positive.
func (t *Trainer) FitRows(site []int, target, f []float64) error {
	t.begin()
	t.order = t.order[:0]
	for r := range site {
		t.order = append(t.order, r)
	}
	slices.SortStableFunc(t.order, func(r, s int) int { return cmp.Compare(site[r], site[s]) })
	for _, r := range t.order {
		t.add(site[r], t.noise, target[r])
	}
	if err := t.solve(); err != nil {
		return err
	}
	t.F = f
	blas64.Symv(1, t.system.kernel.Raw(), blas64.Vector{N: len(t.Weight), Data: t.Weight, Inc: 1}, 0,
		blas64.Vector{N: len(f), Data: f, Inc: 1})
	floats.AddConst(t.Bias, f)
	return nil
}

// begin empties the training set.
func (t *Trainer) begin() {
	t.rows = rows{t.site[:0], t.ridge[:0], t.right[:0], t.beta[:0]}
	clear(t.Weight)
}

// solve solves the system of the rows, and sums the solution over each site's rows.
func (t *Trainer) solve() (err error) {
	t.system.gather(t.site, max(len(t.site), len(t.Weight)))
	t.beta = append(t.beta[:0], t.right...)
	t.Bias, err = t.system.solve(t.beta, t.site, t.ridge, t.biased)
	for p, i := range t.site {
		t.Weight[i] += t.beta[p]
	}
	return err
}

func checkNoise(noise float64) error {
	if !(noise >= 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("the noise variance must be finite and not negative, got %v", noise)
	}
	return nil
}

// checkSites reports what is wrong with weights and targets of m sites.
func checkSites(m int, weight, target []float64) error {
	if len(weight) != m || len(target) != m {
		return fmt.Errorf("%d weights and %d targets do not fit %d sites", len(weight), len(target), m)
	}
	for i, w := range weight {
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("site %d has weight %v, must be finite and at least 0", i+1, w)
		}
	}
	return nil
}
