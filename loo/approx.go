// Package loo estimates the leave-one-out error of trained classifiers.
package loo

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"

	"bootbench/blas"
	"bootbench/linalg"
)

// Approx is the Opper-Winther estimate of a hard-margin classifier's
// leave-one-out errors from one training: leaving out support vector i, alone
// on its site, moves its margin from 1 to
//
//	y_i f_i = 1 - alpha_i/(K_SV^-1)_ii,
//
// with K_SV the kernel matrix over the support vectors' sites. It is what the
// analytic bootstrap's left-out error tends to when resamples grow without
// bound.
type Approx struct {
	// Margin is y_i f_i of each example when it is left out, length N. Examples
	// without weight, and those whose input stands more than once, keep theirs.
	Margin []float64
	// Errors counts the examples whose margin is not positive.
	Errors int
}

// Approximate computes the estimate. k is the kernel matrix over M sites, site
// the site of each example (nil: example i is site i), y the labels, beta the
// trained weights of the sites (f = K beta) and f the predictor at the sites.
// A weight counts as a support vector's from tolerance times the largest on.
// It fails when the support vectors' kernel matrix is not positive definite.
func Approximate(k *linalg.Sym, site []int, y, beta, f []float64, tolerance float64) (*Approx, error) {
	at := func(i int) int {
		if site == nil {
			return i
		}
		return site[i]
	}
	copies := make([]int, k.N())
	for i := range y {
		copies[at(i)]++
	}
	slack, err := leverages(k, supportSites(beta, tolerance))
	if err != nil {
		return nil, err
	}
	a := &Approx{Margin: make([]float64, len(y))}
	for i, label := range y {
		s := at(i)
		a.Margin[i] = label * f[s]
		if inverse, support := slack[s]; support && copies[s] == 1 {
			a.Margin[i] -= math.Abs(beta[s]) / inverse
		}
		if a.Margin[i] <= 0 {
			a.Errors++
		}
	}
	return a, nil
}

func supportSites(beta []float64, tolerance float64) []int {
	largest := 0.0
	for _, b := range beta {
		largest = math.Max(largest, math.Abs(b))
	}
	var sites []int
	for s, b := range beta {
		if math.Abs(b) > tolerance*largest {
			sites = append(sites, s)
		}
	}
	return sites
}

// leverages are the diagonal elements of the inverse of k's principal
// submatrix on the listed sites, by site: squared column norms of L^-1.
func leverages(k *linalg.Sym, sites []int) (map[int]float64, error) {
	n := len(sites)
	a := make([]float64, n*n)
	for i := range sites {
		for j := 0; j <= i; j++ {
			a[i*n+j] = k.At(sites[i], sites[j])
		}
	}
	bound := blas.Bound()
	if minor := bound.Potrf(gblas.Lower, n, a, max(1, n)); minor != 0 {
		return nil, fmt.Errorf("approximate leave-one-out: %w", &linalg.PivotError{Minor: minor, N: n})
	}
	bound.Trtri(gblas.Lower, n, a, max(1, n))
	inverse := make(map[int]float64, n)
	for i := range sites {
		for j := 0; j <= i; j++ {
			inverse[sites[j]] += a[i*n+j] * a[i*n+j]
		}
	}
	return inverse, nil
}
