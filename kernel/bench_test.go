package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
)

// BenchmarkGram times a kernel matrix over n inputs in 10 features: inner products, d n^2 flops, and one
// map of each of n^2/2 of them. bytes is the memory of a matrix.
func BenchmarkGram(b *testing.B) {
	const d = 10
	for _, n := range []int{250, 500, 1000, 2000, 4000} {
		x := dense(gaussian(rand.New(rand.NewPCG(1, 1)), n, d))
		for _, kind := range []Kind{RBF, Matern32, Linear, Poly} {
			b.Run(fmt.Sprintf("kind=%v/backend=%s/n=%d", kind, blas.Bound().Name(), n), func(b *testing.B) {
				in := mustPrepare(b, Spec{Kind: kind}, x)
				for b.Loop() {
					if _, err := in.Gram(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(8*float64(n)*float64(n), "bytes")
				b.ReportMetric(d*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
