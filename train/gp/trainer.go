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
	site        []int     // the active ones, ascending
	ridge, beta []float64 // of these: variances of the noise, right-hand side and then the solution
	total, mean []float64 // weight and mean target of each site
	result      train.Result
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
	t.site, t.ridge, t.beta = t.site[:0], t.ridge[:0], t.beta[:0]
	for i, w := range t.total {
		if w > 0 {
			t.site, t.ridge, t.beta = append(t.site, i), append(t.ridge, t.noise/w), append(t.beta, t.mean[i])
		}
	}
	t.system.gather(t.site, len(t.total))
	if err := t.system.factorise(t.site, t.ridge); err != nil {
		return nil, err
	}
	bias, err := t.system.solve(t.beta, t.site, set.Bias)
	if err != nil {
		return nil, err
	}
	r := &t.result
	r.Bias = bias
	clear(r.Weight)
	for p, i := range t.site {
		r.Weight[i] = t.beta[p]
	}
	workspace.MulInactive(r.F, t.system.kernel, t.site, r.Weight)
	floats.AddConst(r.Bias, r.F)
	for p, i := range t.site { // K_aa alpha + bias = t_a - (s2/w_a) alpha
		r.F[i] = t.mean[i] - t.ridge[p]*t.beta[p]
	}
	return r, nil
}

func checkNoise(noise float64) error {
	if !(noise >= 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("the noise variance must be finite and not negative, got %v", noise)
	}
	return nil
}
