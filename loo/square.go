package loo

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"

	"bootbench/blas"
	"bootbench/gp"
	"bootbench/linalg"
	"bootbench/train"
)

// Residuals are the left-out residuals y_i - f_-i of Gaussian-process
// regression, exact from one fit:
//
//	y_i - f_-i = (y_i - f_i)/(1 - H_ii),   H = K (K + noise I)^-1 over examples.
//
// k is the kernel matrix over M sites, site the site of each example (nil:
// example i is site i), noise > 0 the variance. The c examples of a site share
// one row of H, of which each has 1/c. The fit overwrites k's scratch triangle.
func Residuals(k *linalg.Sym, site []int, y []float64, noise float64) ([]float64, error) {
	sites, count, mean, err := merge(k, site, y, noise)
	if err != nil {
		return nil, err
	}
	before := k.Claims()
	fitted, err := gp.FitFull(k, noise, count, mean)
	if err != nil {
		return nil, err
	}
	release, err := k.Reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	if k.Claims() != before+1 { // the factor is gone
		return nil, linalg.ErrBusy
	}
	left := inverseDiagonal(k.Scratch().Data, k.N(), k.Scratch().Stride)
	residuals := make([]float64, len(y))
	for i, v := range y {
		s := sites.At(i)
		c := float64(count[s])
		// (K + D)^-1 has the diagonal element left, with D = noise/c.
		leverage := (1 - noise/c*left[s]) / c
		residuals[i] = (v - fitted[s]) / (1 - leverage)
	}
	return residuals, nil
}

// inverseDiagonal is the diagonal of (L L')^-1. It overwrites L, the factor that
// gp.FitFull leaves in the scratch triangle.
func inverseDiagonal(l []float64, n, stride int) []float64 {
	diagonal := make([]float64, n)
	if n == 0 {
		return diagonal
	}
	blas.Bound().Trtri(gblas.Lower, n, l, stride)
	for a := range n {
		for b, v := range l[a*stride : a*stride+a+1] {
			diagonal[b] += v * v
		}
	}
	return diagonal
}

// merge checks what Residuals are computed from, and merges the examples of a site.
func merge(k *linalg.Sym, site []int, y []float64, noise float64) (sites train.Sites, count []int,
	mean []float64, err error) {
	if !(noise > 0) || math.IsInf(noise, 1) {
		return nil, nil, nil, fmt.Errorf("left-out residuals need a positive noise variance, got %v", noise)
	}
	sites = site
	if err := sites.Check(len(y), k.N()); err != nil {
		return nil, nil, nil, err
	}
	count, mean = make([]int, k.N()), make([]float64, k.N())
	sites.Merge(y, nil, count, mean)
	return sites, count, mean, nil
}

// ResidualsWithBias is Residuals for a model with a bias, the limit of a constant added to k.
// With d = count/noise the fit is G (d o mean), and H has 1 - b over the examples of a site.
func ResidualsWithBias(k *linalg.Sym, site []int, y []float64, noise float64) ([]float64, error) {
	sites, count, mean, err := merge(k, site, y, noise)
	if err != nil {
		return nil, err
	}
	release, err := k.Reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	fitted, b, err := gp.FitWithLeverages(linalg.WithBias(k), noise, count, mean)
	if err != nil {
		return nil, err
	}
	residuals := make([]float64, len(y))
	for i, v := range y {
		s := sites.At(i)
		residuals[i] = (v - fitted[s]) / (1 - (1-b[s])/float64(count[s]))
	}
	return residuals, nil
}
