package blas

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
)

// BenchmarkKernel times the kernels of a refresh, in GFLOP/s of the best call, and of-dgemm as a share of the
// best rate of dgemm of the same order, one before each call:
//
//	gemm   a product                       2n^3
//	potrf  L L' = A                        n^3/3
//	trtri  L^-1                            n^3/3
//	lauum  L' L                            n^3/3
func BenchmarkKernel(b *testing.B) {
	bound := Bound()
	for _, n := range []int{250, 500, 1000, 2000} {
		a, out := smoothKernel(n, 1), make([]float64, n*n)
		factor := slices.Clone(a)
		bound.Potrf(blas.Lower, n, factor, n)
		gemm := func() {
			bound.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, a, n, 0, out, n)
		}
		for _, kernel := range []struct {
			name  string
			from  []float64
			flops float64 // over n^3
			call  func()
		}{
			{"gemm", a, 2, gemm},
			{"potrf", a, 1. / 3, func() { bound.Potrf(blas.Lower, n, out, n) }},
			{"trtri", factor, 1. / 3, func() { bound.Trtri(blas.Lower, n, out, n) }},
			{"lauum", factor, 1. / 3, func() { bound.Lauum(blas.Lower, n, out, n) }},
		} {
			b.Run(fmt.Sprintf("kernel=%s/backend=%s/n=%d", kernel.name, bound.Name(), n), func(b *testing.B) {
				least, product := math.Inf(1), math.Inf(1)
				for range b.N {
					b.StopTimer()
					product = min(product, seconds(gemm))
					copy(out, kernel.from)
					b.StartTimer()
					least = min(least, seconds(kernel.call))
				}
				cube := math.Pow(float64(n), 3)
				b.ReportMetric(kernel.flops*cube/least/1e9, "GFLOP/s")
				b.ReportMetric(kernel.flops/2*product/least, "of-dgemm")
			})
		}
	}
}

func seconds(call func()) float64 {
	began := time.Now()
	call()
	return time.Since(began).Seconds()
}
