package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// BenchmarkLowRank times what the low-rank engine does, in GFLOP/s at the flops
// counted below and as a share of dgemm's rate. One thread: OPENBLAS_NUM_THREADS=1 GOMAXPROCS=1.
//
//	factor    pivoted Cholesky, kernel included   n r^2
//	refresh   M, its factor, diag(G)              2 n r^2
//	square    (G o G) x                           2 n r^2
func BenchmarkLowRank(b *testing.B) {
	const n = 20000
	k := newRandomPoints(n, rand.New(rand.NewPCG(1, 1)))
	d, x := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2))), make([]float64, n)
	for _, r := range []int{200, 1000} {
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
			b.Run(fmt.Sprintf("what=%s/backend=%s/n=%d/rank=%d", step.what, blas.Bound().Name(), n, r),
				func(b *testing.B) {
					b.ReportAllocs()
					gemm := gemmRate(2000) // in the same seconds
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

// randomPoints is the kernel exp(-|x-x'|^2) of random points in 6 dimensions, computed when it is asked for.
type randomPoints struct{ x [][6]float64 }

func newRandomPoints(n int, rng *rand.Rand) randomPoints {
	c := randomPoints{make([][6]float64, n)}
	for i := range c.x {
		for j := range c.x[i] {
			c.x[i][j] = 2 * rng.Float64()
		}
	}
	return c
}

func (c randomPoints) N() int { return len(c.x) }

func (c randomPoints) Diagonal(dst []float64) error {
	for i := range dst {
		dst[i] = 1
	}
	return nil
}

func (c randomPoints) Columns(dst []float64, sites []int, first, last int) error {
	core.Parallel(len(sites), func(p int) {
		for i, x := range c.x[first:last] {
			sum := 0.0
			for j, v := range c.x[sites[p]] {
				sum += (v - x[j]) * (v - x[j])
			}
			dst[p*(last-first)+i] = math.Exp(-sum)
		}
	})
	return nil
}
