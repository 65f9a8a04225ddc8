package gp

import (
	"fmt"

	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
)

// FitFull trains on all data: site i holds count[i] >= 1 examples with mean
// target target[i], and noise >= 0 is their variance. It returns the fit at the
// sites. It factorises in the scratch triangle of k, where it leaves the Cholesky
// factor of K + diag(noise/count), and leaves k as it was; the bound BLAS may use
// all its threads. A failed factorisation is a *PivotError.
func FitFull(k *linalg.Sym, noise float64, count []int, target []float64) ([]float64, error) {
	return fitFull(k, noise, count, target, (*system).solve)
}

// FitFullWithBias is FitFull for a model with a bias.
func FitFullWithBias(k *linalg.Sym, noise float64, count []int, target []float64) ([]float64, error) {
	return fitFull(k, noise, count, target, func(s *system, b []float64, site []int, ridge []float64) error {
		_, err := s.solveWithBias(b, site, ridge)
		return err
	})
}

func fitFull(k *linalg.Sym, noise float64, count []int, target []float64, solve func(s *system, b []float64,
	site []int, ridge []float64) error) ([]float64, error) {
	if err := checkFull(k.N(), noise, count, target); err != nil {
		return nil, err
	}
	release, err := k.Reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	k.Claim()
	copyToScratch(k)
	scratch := k.Scratch()
	s := system{kernel: k, uplo: gonum.Lower, n: k.N(), stride: scratch.Stride, a: scratch.Data}
	site, ridge := make([]int, s.n), make([]float64, s.n)
	for i, c := range count {
		site[i], ridge[i] = i, noise/float64(c)
	}
	f := append([]float64{}, target...)
	if err := solve(&s, f, site, ridge); err != nil {
		return nil, err
	}
	for i, alpha := range f {
		f[i] = target[i] - ridge[i]*alpha
	}
	return f, nil
}

// FitByEngine is FitFull for a kernel matrix in any form, through its engine: with
// d = count/noise, f = G (d o target). noise must be positive. On a low-rank matrix
// it costs O(M rank^2).
func FitByEngine(k linalg.Kernel, noise float64, count []int, target []float64) ([]float64, error) {
	f, _, err := FitWithLeverages(k, noise, count, target)
	return f, err
}

// FitWithLeverages is FitByEngine, and b = 1 - d diag(G): 1 - b_i is the share of a
// site's mean target in the fit there.
func FitWithLeverages(k linalg.Kernel, noise float64, count []int, target []float64) (fit, b []float64,
	err error) {
	if err := checkFull(k.N(), noise, count, target); err != nil {
		return nil, nil, err
	}
	n := k.N()
	d, g, f := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, c := range count {
		d[i] = float64(c) / noise
		g[i] = d[i] * target[i]
	}
	engine := k.Engine()
	if err := engine.Factorize(d); err != nil {
		return nil, nil, err
	}
	engine.FormG()
	engine.MulVecOffDiag(f, g)
	chi, b := engine.Diag()
	for i := range f {
		f[i] += chi[i] * g[i]
	}
	return f, b, nil
}

func checkFull(m int, noise float64, count []int, target []float64) error {
	if err := checkNoise(noise); err != nil {
		return err
	}
	if err := checkTrainingSet(m, count, target); err != nil {
		return err
	}
	for i, k := range count {
		if k == 0 {
			return fmt.Errorf("site %d holds no example", i+1)
		}
	}
	return nil
}

// tile is the side of the square blocks in which copyToScratch transposes.
const tile = 64

// copyToScratch copies K into the scratch triangle, the lower one, in blocks and in
// parallel: rows of K become columns of the triangle.
func copyToScratch(k *linalg.Sym) {
	blocks := (k.N() + tile - 1) / tile
	linalg.Parallel(blocks, func(b int) { copyRowsToScratch(k, (blocks-1-b)*tile) }) // long rows first
}

// copyRowsToScratch fills rows first to first+tile-1 of the scratch triangle.
func copyRowsToScratch(k *linalg.Sym, first int) {
	from, to := k.Raw(), k.Scratch()
	end := min(first+tile, k.N())
	for c := 0; c < end; c += tile {
		for i := first; i < end; i++ {
			row := to.Data[i*to.Stride : i*to.Stride+i+1]
			for j := c; j < min(c+tile, i+1); j++ {
				row[j] = from.Data[j*from.Stride+i]
			}
		}
	}
}
