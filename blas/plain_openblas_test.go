//go:build openblas

package blas

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// openPlain is OpenBLAS's own LAPACK.
type openPlain struct{}

func (openPlain) potrf(uplo blas.Uplo, n int, a []float64, lda int) int {
	return dpotrf(uplo, n, a, lda)
}
func (openPlain) trtri(uplo blas.Uplo, n int, a []float64, lda int) { dtrtri(uplo, n, a, lda) }
func (openPlain) lauum(uplo blas.Uplo, n int, a []float64, lda int) { dlauum(uplo, n, a, lda) }

func plainOf(b Backend) plain {
	if b.Name() == "openblas" {
		return openPlain{}
	}
	return tiles{}
}

// TestOpenBLASAllocatesNothing: a refresh runs many thousand times.
func TestOpenBLASAllocatesNothing(t *testing.T) {
	b := Bound()
	const n = 150
	source, _ := definite(n, n, blas.Lower, rand.New(rand.NewPCG(11, 1)))
	a := make([]float64, len(source))
	if allocations := testing.AllocsPerRun(50, func() {
		copy(a, source)
		b.Potrf(blas.Lower, n, a, n)
		b.Trtri(blas.Lower, n, a, n)
		b.Lauum(blas.Lower, n, a, n)
	}); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

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
