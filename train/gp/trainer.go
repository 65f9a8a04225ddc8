package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// Trainer trains on one weighted set after the other over the sites of one kernel matrix. It takes about 8
// n^2 bytes for the largest number n of active sites so far; later trainings allocate nothing outside BLAS.
// Trainers that share a kernel matrix only read it and may run at the same time; one Trainer serves one
// goroutine.
type Trainer struct {
	noise       float64
	system      system
	rows                  // of the system
	total, mean []float64 // weight and mean target of each site
	result      train.Result
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
// 0.
func NewTrainer(k *linalg.Sym, noise float64) (*Trainer, error) {
	if k == nil {
		return nil, errNoKernel
	}
	t := &Trainer{noise: noise, system: system{kernel: k}}
	workspace.ResizeAll(k.N(), &t.total, &t.mean, &t.result.Weight, &t.result.F)
	return t, checkNoise(noise)
}

// Train trains on set, with the examples of a site merged. Predictions at inactive sites take one pass over
// the stored triangle of K. The error reports bad input; a failed factorisation is a *PivotError.
func (t *Trainer) Train(set train.Set) (*train.Result, error) {
	if err := set.Check(len(t.total), false); err != nil {
		return nil, err
	}
	set.Site.Merge(set.Y, set.Weight, t.total, t.mean)
	t.begin()
	for i, w := range t.total {
		if w > 0 {
			t.add(i, t.noise/w, t.mean[i])
		}
	}
	if err := t.solve(set.Bias); err != nil {
		return nil, err
	}
	r := &t.result
	workspace.MulInactive(r.F, t.system.kernel, t.site, r.Weight)
	floats.AddConst(r.Bias, r.F)
	for p, i := range t.site { // K_aa alpha + bias = t_a - (s2/w_a) alpha
		r.F[i] = t.mean[i] - t.ridge[p]*t.beta[p]
	}
	return r, nil
}

// begin empties the training set.
func (t *Trainer) begin() {
	t.rows = rows{t.site[:0], t.ridge[:0], t.right[:0], t.beta[:0]}
	clear(t.result.Weight)
}

// solve solves the system of the rows, and sums the solution over each site's rows.
func (t *Trainer) solve(biased bool) (err error) {
	t.system.gather(t.site, max(len(t.site), len(t.total)))
	t.beta = append(t.beta[:0], t.right...)
	t.result.Bias, err = t.system.solve(t.beta, t.site, t.ridge, biased)
	for p, i := range t.site {
		t.result.Weight[i] += t.beta[p]
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
