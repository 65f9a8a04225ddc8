package gp

import (
	"errors"
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/blas"

	"bootbench/linalg"
	"bootbench/train/internal/workspace"
)

var errNoKernel = errors.New("there is no kernel matrix")

// FitFull trains on all data, with an unpenalised bias or without, for each target: site i counts as
// weight[i] > 0 examples of mean target target[i] and noise variance noise >= 0. It returns the fits at the
// sites. The scratch triangle of k then holds the Cholesky factor of K + diag(noise/weight); k is unchanged.
// A failed factorisation is a *PivotError.
func FitFull(k *linalg.Sym, noise float64, biased bool, weight []float64,
	targets ...[]float64) ([][]float64, error) {
	if k == nil {
		return nil, errNoKernel
	}
	for _, target := range targets {
		if err := checkFull(k.N(), noise, weight, target); err != nil {
			return nil, err
		}
	}
	release, err := linalg.Reserve(k)
	if err != nil {
		return nil, err
	}
	defer release()
	k.Claim()
	workspace.TransposeUpper(k.Scratch(), k.Raw())
	scratch, ridge := k.Scratch(), ridges(noise, weight)
	s := system{kernel: k, uplo: gonum.Lower, n: k.N(), stride: scratch.Stride, a: scratch.Data}
	if err := s.factorise(nil, ridge); err != nil {
		return nil, err
	}
	fits := make([][]float64, len(targets))
	for t, target := range targets {
		f := slices.Clone(target)
		if _, err := s.solve(f, nil, biased); err != nil {
			return nil, err
		}
		for i, alpha := range f {
			f[i] = target[i] - ridge[i]*alpha
		}
		fits[t] = f
	}
	return fits, nil
}

// FitByEngine is FitFull for a kernel matrix in any form, with a bias or without, through its engine: with d
// = weight/noise, f = G (d o target). noise must be positive. On a low-rank matrix it costs O(M rank^2). b =
// 1 - d diag(G); 1 - b_i is the leverage of a site's mean target.
func FitByEngine(k linalg.Kernel, noise float64, weight, target []float64) (fit, b []float64, err error) {
	if k == nil {
		return nil, nil, errNoKernel
	}
	if err := checkFull(k.N(), noise, weight, target); err != nil {
		return nil, nil, err
	}
	engine := k.Engine()
	if fit, _, err = meansBy(engine, noise, weight, target); err == nil {
		_, b = engine.Diag()
	}
	return fit, b, err
}

// meansBy computes the means G (d o target) of the regression on all sites by an engine, at d = weight/noise,
// and d o target.
func meansBy(e linalg.Engine, noise float64, weight, target []float64) (means, force []float64, err error) {
	n := len(weight)
	d, force, means := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range weight {
		d[i] = w / noise
		force[i] = d[i] * target[i]
	}
	if err := e.Factorize(d); err != nil {
		return nil, nil, err
	}
	e.FormG()
	linalg.MulVecOffDiag(e, means, force)
	chi, _ := e.Diag()
	for i := range means {
		means[i] += chi[i] * force[i]
	}
	return means, force, nil
}

// ridges are the variances of the noise at sites of these weights.
func ridges(noise float64, weight []float64) []float64 {
	ridge := make([]float64, len(weight))
	for i, w := range weight {
		ridge[i] = noise / w
	}
	return ridge
}

// checkFull reports what is wrong with weights > 0 and targets of m sites.
func checkFull(m int, noise float64, weight, target []float64) error {
	if err := checkNoise(noise); err != nil {
		return err
	}
	if len(weight) != m || len(target) != m {
		return fmt.Errorf("%d weights and %d targets do not fit %d sites", len(weight), len(target), m)
	}
	for i, w := range weight {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("site %d has weight %v, must be finite and positive", i+1, w)
		}
	}
	return nil
}
