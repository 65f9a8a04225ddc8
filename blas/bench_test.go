package blas

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// BenchmarkKernel reports each kernel's rate at the flops that it needs:
// gemm 2n^3, potrf n^3/3, trtri n^3/3, lauum n^3/3, eigenvalues 4n^3/3. The plain
// ones are LAPACK's, without the recursions.
func BenchmarkKernel(b *testing.B) {
	for _, backend := range backends() {
		for _, n := range []int{500, 1000, 2000, 4000} {
			if n > 1000 && backend.Name() == "gonum" {
				continue
			}
			bindFor(b, backend) // its LAPACK may call the bound BLAS
			benchmarkOrder(b, backend, n)
		}
	}
}

func benchmarkOrder(b *testing.B, backend Backend, n int) {
	lda := 8*((n+8)/8|1) + 8
	source, _ := definite(n, lda, blas.Lower, rand.New(rand.NewPCG(1, 1)))
	work := make([]float64, len(source))
	cube := float64(n) * float64(n) * float64(n)
	run := func(kernel string, flops float64, prepare, call func()) {
		b.Run(fmt.Sprintf("kernel=%s/backend=%s/n=%d", kernel, backend.Name(), n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				b.StopTimer()
				copy(work, source)
				prepare()
				b.StartTimer()
				call()
			}
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	nothing := func() {}
	factor := func() { backend.Potrf(blas.Lower, n, work, lda) }
	w, c := make([]float64, n), make([]float64, len(source))
	run("gemm", 2*cube, nothing, func() {
		backend.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, source, lda, source, lda, 0, c, lda)
	})
	run("potrf", cube/3, nothing, factor)
	run("trtri", cube/3, factor, func() { backend.Trtri(blas.Lower, n, work, lda) })
	run("lauum", cube/3, factor, func() { backend.Lauum(blas.Lower, n, work, lda) })
	own := plainOf(backend)
	run("plain-potrf", cube/3, nothing, func() { own.potrf(blas.Lower, n, work, lda) })
	run("plain-trtri", cube/3, factor, func() { own.trtri(blas.Lower, n, work, lda) })
	run("plain-lauum", cube/3, factor, func() { own.lauum(blas.Lower, n, work, lda) })
	if n <= 1000 {
		run("eigenvalues", 4*cube/3, nothing, func() { backend.Eigenvalues(blas.Lower, n, work, lda, w) })
	}
}
