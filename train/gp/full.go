package gp

import (
	"errors"
	"fmt"
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
	var r rows
	for i, w := range weight {
		r.add(i, noise/w, 0)
	}
	scratch := k.Scratch()
	s := system{kernel: k, uplo: gonum.Lower, n: k.N(), stride: scratch.Stride, a: scratch.Data}
	if err := s.factorise(r.site, r.ridge); err != nil {
		return nil, err
	}
	fits := make([][]float64, len(targets))
	for t, target := range targets {
		f := slices.Clone(target)
		if _, err := s.solveAgain(f, r.site, biased); err != nil {
			return nil, err
		}
		for i, alpha := range f {
			f[i] = target[i] - r.ridge[i]*alpha
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
	n := k.N()
	d, g, f := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range weight {
		d[i] = w / noise
		g[i] = d[i] * target[i]
	}
	engine := k.Engine()
	if err := engine.Factorize(d); err != nil {
		return nil, nil, err
	}
	engine.FormG()
	linalg.MulVecOffDiag(engine, f, g)
	chi, b := engine.Diag()
	for i := range f {
		f[i] += chi[i] * g[i]
	}
	return f, b, nil
}

// checkFull is checkSites, and refuses sites of weight 0.
func checkFull(m int, noise float64, weight, target []float64) error {
	if err := checkNoise(noise); err != nil {
		return err
	}
	if i := slices.Index(weight, 0); i >= 0 {
		return fmt.Errorf("site %d has weight 0, must be positive", i+1)
	}
	return checkSites(m, weight, target)
}
