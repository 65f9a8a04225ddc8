package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// TestSinglePrecision: the kernels in single precision do to a matrix what those
// in double do, up to rounding of well-conditioned float32, and touch nothing
// else. What is not positive definite or not invertible they name alike.
func TestSinglePrecision(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		s, ok := b.(Single)
		if !ok {
			t.Skip("no single precision")
		}
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		double, _ := definite(n, lda, uplo, rng)
		single := make([]float32, len(double))
		for i, v := range double {
			single[i] = float32(v)
		}
		same := func(after string) {
			t.Helper()
			for i, v := range double {
				if math.Abs(float64(single[i])-v) > 1e-5 && v != untouched ||
					v == untouched && single[i] != untouched {
					t.Fatalf("%s: %g in single precision, %g in double", after, single[i], v)
				}
			}
		}
		if b.Potrf(uplo, n, double, lda)+s.Potrf32(uplo, n, single, lda) != 0 {
			t.Fatal("broke down")
		}
		same("potrf")
		if b.Trtri(uplo, n, double, lda)+s.Trtri32(uplo, n, single, lda) != 0 {
			t.Fatal("broke down")
		}
		same("trtri")
		b.Lauum(uplo, n, double, lda)
		s.Lauum32(uplo, n, single, lda)
		same("lauum")
		for _, bad := range []float32{-1, 0, float32(math.NaN())} {
			if n < 2 {
				continue
			}
			at := n / 2
			a := make([]float32, len(single))
			for i := range n {
				a[i*lda+i] = 1
			}
			a[at*lda+at] = bad
			if minor := s.Potrf32(uplo, n, a, lda); minor != at+1 {
				t.Fatalf("pivot %v: minor %d, want %d", bad, minor, at+1)
			}
		}
	})
}
