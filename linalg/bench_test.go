package linalg

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// BenchmarkRefresh times what an engine does with G, in GFLOP/s at the flops
// counted below and as a share of dgemm's rate at the same order, measured in
// the same process just before.
//
//	diag    diag(G): factor, invert the factor, column norms   2n^3/3
//	full    all of G                                           n^3
func BenchmarkRefresh(b *testing.B) {
	for _, n := range benchmarkOrders() {
		k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))
		d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
		gemm := gemmRate(n)
		for name, build := range engines {
			if name == "lowrank" {
				continue // other flops: see BenchmarkLowRank
			}
			for _, what := range []string{"diag", "full"} {
				e := build(k)
				flops := 2 * float64(n) * float64(n) * float64(n) / 3
				if what == "full" {
					flops *= 1.5
				}
				b.Run(fmt.Sprintf("what=%s/engine=%s/backend=%s/n=%d", what, name, blas.Bound().Name(), n), func(b *testing.B) {
					b.ReportAllocs()
					for range b.N {
						if err := e.Refresh(d); err != nil {
							b.Fatal(err)
						}
						if what == "full" {
							e.Expand()
						}
					}
					rate := flops * float64(b.N) / b.Elapsed().Seconds() / 1e9
					b.ReportMetric(rate, "GFLOP/s")
					b.ReportMetric(rate/gemm, "of-dgemm")
				})
			}
		}
	}
}

// BenchmarkStep times the O(n^2) steps between refreshes, and a low-rank
// update of n/16 sites.
func BenchmarkStep(b *testing.B) {
	for _, n := range benchmarkOrders() {
		k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))
		d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
		e := NewExact(k)
		if err := e.Refresh(d); err != nil {
			b.Fatal(err)
		}
		e.Expand()
		x, y, move := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range move {
			x[i], move[i] = 1, 1e-3*d[i]
		}
		steps := map[string]func(){
			"square":   func() { e.OffSquareMulVec(y, x) },
			"product":  func() { e.OffMulVec(y, x) },
			"estimate": func() { e.Estimate(move, y, x) },
			"update": func() {
				for i := range move[:n/16] {
					move[i] = -move[i]
				}
				if err := e.Update(firstSites(n/16), move[:n/16]); err != nil {
					b.Fatal(err)
				}
			},
		}
		for _, step := range []string{"square", "product", "estimate", "update"} {
			b.Run(fmt.Sprintf("step=%s/backend=%s/n=%d", step, blas.Bound().Name(), n), func(b *testing.B) {
				for range b.N {
					steps[step]()
				}
			})
		}
	}
}

func firstSites(n int) []int {
	sites := make([]int, n)
	for i := range sites {
		sites[i] = i
	}
	return sites
}

func benchmarkOrders() []int {
	if blas.Bound().Name() == "gonum" {
		return []int{500, 1000}
	}
	return []int{500, 1000, 2000, 4000}
}

// gemmRate is the best of three products of order n, in GFLOP/s.
func gemmRate(n int) float64 {
	square := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n, Data: drawSites(n*n, siteRegimes["even"], rand.New(rand.NewPCG(3, 3)))}
	}
	a, c := square(), square()
	best := 0.0
	for range 3 {
		began := time.Now()
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, a, a, 0, c)
		best = max(best, 2*float64(n)*float64(n)*float64(n)/time.Since(began).Seconds()/1e9)
	}
	return best
}
