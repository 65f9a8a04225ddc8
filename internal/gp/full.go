package gp

import (
	"fmt"
	"math"

	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
)

// FitFull trains on all data: site i has weight[i] > 0, as that many
// examples, and mean target target[i], and noise >= 0 is their variance. It returns the fit at the
// sites. It factorises in the scratch triangle of k, where it leaves the Cholesky
// factor of K + diag(noise/weight), and leaves k as it was; the bound BLAS may use
// all its threads. A failed factorisation is a *PivotError.
func FitFull(k *linalg.Sym, noise float64, weight, target []float64) ([]float64, error) {
	return fitFull(k, noise, weight, target, (*system).solve)
}

// FitFullWithBias is FitFull for a model with a bias.
func FitFullWithBias(k *linalg.Sym, noise float64, weight, target []float64) ([]float64, error) {
	return fitFull(k, noise, weight, target, func(s *system, b []float64, site []int, ridge []float64) error {
		_, err := s.solveWithBias(b, site, ridge)
		return err
	})
}

func fitFull(k *linalg.Sym, noise float64, weight, target []float64, solve func(s *system, b []float64,
	site []int, ridge []float64) error) ([]float64, error) {
	if err := checkFull(k.N(), noise, weight, target); err != nil {
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
	for i, w := range weight {
		site[i], ridge[i] = i, noise/w
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
// d = weight/noise, f = G (d o target). noise must be positive. On a low-rank matrix
// it costs O(M rank^2).
func FitByEngine(k linalg.Kernel, noise float64, weight, target []float64) ([]float64, error) {
	f, _, err := FitWithLeverages(k, noise, weight, target)
	return f, err
}

// FitWithLeverages is FitByEngine, and b = 1 - d diag(G): 1 - b_i is the share of a
// site's mean target in the fit there.
func FitWithLeverages(k linalg.Kernel, noise float64, weight, target []float64) (fit, b []float64,
	err error) {
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
	engine.MulVecOffDiag(f, g)
	chi, b := engine.Diag()
	for i := range f {
		f[i] += chi[i] * g[i]
	}
	return f, b, nil
}

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
