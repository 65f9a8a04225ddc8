// Package problems has kernel matrices and random numbers for the tests of trainers and of the theory.
package problems

import (
	"context"
	"math/rand/v2"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
)

// Symmetric is the matrix with elements f(i, j), i <= j.
func Symmetric(n int, f func(i, j int) float64) *linalg.Sym {
	k := linalg.ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, f(i, j))
		}
	}
	return k
}

// Normals are n standard normal numbers.
func Normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// Labels are n labels of either sign.
func Labels(rng *rand.Rand, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(2*rng.IntN(2) - 1)
	}
	return y
}

// Embedded is a standardised embedded set with the given kernel over its distinct inputs; gamma is in units
// of 1/d.
func Embedded(t testutil.T, name string, spec kernel.Spec) (k *linalg.Sym, y []float64, site []int) {
	t.Helper()
	set := testutil.Must(dataset.Open(name))(t)
	x, _ := dataset.Standardize(set.X)
	site, first := (&dataset.Set{X: x}).Distinct()
	spec.Gamma /= float64(x.Cols)
	in := testutil.Must(spec.Prepare(linalg.Design{X: x.Gather(first)}))(t)
	return testutil.Must(in.Gram(context.Background()))(t), set.Targets(0), site
}
