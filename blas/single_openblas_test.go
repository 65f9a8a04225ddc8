//go:build openblas

package blas

import (
	"testing"

	"gonum.org/v1/gonum/blas"
)

// TestSinglePotrfOfNearlySingular: at a condition of 3e7, half of the most that
// float32 can carry, plain LAPACK leaves 8e-7 of A. (Leaves applied by their
// inverse under the bound for float64 call the matrix indefinite.)
func TestSinglePotrfOfNearlySingular(t *testing.T) {
	const n = 300
	a := smoothKernel(n, 1e-5)
	single, rounded := make([]float32, len(a)), make([]float64, len(a))
	for i, v := range a {
		single[i] = float32(v)
		rounded[i] = float64(single[i])
	}
	if minor := Bound().(Single).Potrf32(blas.Lower, n, single, n); minor != 0 {
		t.Fatalf("minor %d refused", minor)
	}
	l := make([]float64, len(a))
	for i, v := range single {
		l[i] = float64(v)
	}
	if e := leftOver(rounded, l, n); e > 4e-6 {
		t.Errorf("L L' is off by %g", e)
	}
}
