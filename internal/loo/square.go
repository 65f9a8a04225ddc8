package loo

import (
	"fmt"
	"math"

	"bootbench/internal/gp"
	"bootbench/internal/train"
	"bootbench/linalg"
)

// Residuals are the left-out residuals y_i - f_-i of Gaussian-process
// regression, exact from one fit:
//
//	y_i - f_-i = (y_i - f_i)/(1 - H_ii),   H = K (K + noise I)^-1 over examples.
//
// k is the kernel matrix over M sites, with a bias or without, site the site of each example (nil:
// example i is site i), noise > 0 the variance. The c examples of a site share
// one row of H, of which each has 1/c: with d = c/noise, H has (1 - b)/c on its diagonal. The fit overwrites
// k's scratch triangle.
func Residuals(k linalg.Kernel, site train.Sites, y []float64, noise float64) ([]float64, error) {
	if !(noise > 0) || math.IsInf(noise, 1) {
		return nil, fmt.Errorf("left-out residuals need a positive noise variance, got %v", noise)
	}
	if err := site.Check(len(y), k.N()); err != nil {
		return nil, err
	}
	count, mean := make([]float64, k.N()), make([]float64, k.N())
	site.Merge(y, nil, count, mean)
	if own, ok := k.(linalg.Exclusive); ok {
		release, err := own.Reserve()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	fitted, b, err := gp.FitByEngine(k, noise, count, mean)
	if err != nil {
		return nil, err
	}
	residuals := make([]float64, len(y))
	for i, v := range y {
		s := site.At(i)
		residuals[i] = (v - fitted[s]) / (1 - (1-b[s])/count[s])
	}
	return residuals, nil
}
