package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// TestSinglePrecision: the kernels in single precision do to a matrix what those
// in double do, but for rounding of well-conditioned float32, and touch nothing
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
				if math.Abs(float64(single[i])-v) > 1e-5 && v != untouched || v == untouched && single[i] != untouched {
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

// BenchmarkSingle is BenchmarkKernel in single precision.
func BenchmarkSingle(b *testing.B) {
	for _, backend := range backends() {
		s, ok := backend.(Single)
		if !ok {
			continue
		}
		bindFor(b, backend)
		for _, n := range []int{500, 1000, 2000, 4000} {
			lda := 8*((n+8)/8|1) + 8
			double, _ := definite(n, lda, blas.Lower, rand.New(rand.NewPCG(1, 1)))
			source, work, c := make([]float32, len(double)), make([]float32, len(double)), make([]float32, len(double))
			for i, v := range double {
				source[i] = float32(v)
			}
			cube := float64(n) * float64(n) * float64(n)
			run := func(kernel string, flops float64, call func()) {
				b.Run(fmt.Sprintf("kernel=%s/backend=%s/n=%d", kernel, backend.Name(), n), func(b *testing.B) {
					for range b.N {
						b.StopTimer()
						copy(work, source)
						b.StartTimer()
						call()
					}
					b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
			run("gemm32", 2*cube, func() {
				s.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, source, lda, source, lda, 0,
					c, lda)
			})
			run("potrf32", cube/3, func() { s.Potrf32(blas.Lower, n, work, lda) })
			run("trtri32", cube/3, func() { s.Trtri32(blas.Lower, n, work, lda) })
			run("lauum32", cube/3, func() { s.Lauum32(blas.Lower, n, work, lda) })
		}
	}
}
