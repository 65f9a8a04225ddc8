package linalg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
)

// BenchmarkLowRank times what the low-rank engine does, in GFLOP/s at the flops
// counted below and as a share of dgemm's rate. The columns of the factorisation
// are those of a matrix that is held whole.
//
//	factor    pivoted Cholesky                    n r^2
//	refresh   M, its factor, diag(G)              2 n r^2
//	square    (G o G) x                           2 n r^2
func BenchmarkLowRank(b *testing.B) {
	const n = 4000
	gemm := gemmRate(2000)
	k := SymColumns{plane(n, 0.1, rand.New(rand.NewPCG(1, 1)))}
	d, x := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2))), make([]float64, n)
	for _, r := range []int{100, 400} {
		f := mustFactorise(b, k, RankOptions{MaxRank: r})
		e := NewLowRankEngine(f)
		if err := e.Factorize(d); err != nil {
			b.Fatal(err)
		}
		for _, step := range []struct {
			what  string
			flops float64
			run   func() error
		}{
			{"factor", 1, func() error { _, err := PivotedCholesky(k, RankOptions{MaxRank: r}); return err }},
			{"refresh", 2, func() error { return e.Factorize(d) }},
			{"square", 2, func() error { e.MulVecSquaredOffDiag(x, d); return nil }},
		} {
			b.Run(fmt.Sprintf("what=%s/backend=%s/n=%d/rank=%d", step.what, blas.Bound().Name(), n, r), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := step.run(); err != nil {
						b.Fatal(err)
					}
				}
				rate := step.flops * n * float64(r) * float64(r) * float64(b.N) / b.Elapsed().Seconds() / 1e9
				b.ReportMetric(rate, "GFLOP/s")
				b.ReportMetric(rate/gemm, "of-dgemm")
			})
		}
	}
}
