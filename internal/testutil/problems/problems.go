// Package problems has kernel matrices and random numbers for the tests of trainers and of the theory.
package problems

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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

// Plane is the kernel exp(-|x-x'|^2/2) over m points of the plane, drawn from the standard normal law.
func Plane(rng *rand.Rand, m int) *linalg.Sym {
	x := make([][2]float64, m)
	for i := range x {
		x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	return Symmetric(m, func(i, j int) float64 {
		a, b := x[i][0]-x[j][0], x[i][1]-x[j][1]
		return math.Exp(-(a*a + b*b) / 2)
	})
}

// Limit extrapolates answers for the kernels K + c to infinite c, from c = most, a tenth and a hundredth of
// that.
func Limit(k *linalg.Sym, most float64, answer func(k *linalg.Sym) []float64) []float64 {
	var f [3][]float64
	for i, c := range []float64{most / 100, most / 10, most} {
		f[i] = slices.Clone(answer(Symmetric(k.N(), func(i, j int) float64 { return k.At(i, j) + c })))
	}
	at := make([]float64, len(f[0]))
	for i := range at {
		first, second := (10*f[1][i]-f[0][i])/9, (10*f[2][i]-f[1][i])/9
		at[i] = (100*second - first) / 99
	}
	return at
}

// Near ends a test unless the elements of two lists agree within tol.
func Near(t testutil.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatal(what, "has length", len(got), "and not", len(want))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tol) {
			t.Fatal(fmt.Sprintf("%s: element %d is %v, want %v within %g", what, i, got[i], v, tol))
		}
	}
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
