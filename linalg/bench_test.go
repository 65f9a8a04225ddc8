package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
)

// BenchmarkRefresh times what an engine does with G, in GFLOP/s at the flops counted below. of-dgemm is the
// best call's rate as a share of that of the best dgemm of the same order, one before each call. On one
// thread it should not fall below 0.35 for diag and full and 0.55 for single at n = 768 (OpenBLAS), nor below
// 0.4 for diag and full at n = 512 (pure Go): six tenths of what they had when these floors were set. What
// keeps the factorisations fast is guarded without a clock, by the count of flops in package blas.
//
//	diag    diag(G): factor, invert the factor, column norms   2n^3/3
//	full    all of G                                           n^3
//	single  all of G in single precision                       n^3
func BenchmarkRefresh(b *testing.B) {
	for _, n := range benchmarkOrders() {
		k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))
		d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
		gemm := newProduct(n)
		for name, build := range engines {
			if name != "exact" && !(name == "recursions" && blas.SmallWork(n) > 0) {
				continue // the others do other flops
			}
			for _, what := range []string{"diag", "full", "single"} {
				e := build(k)
				call, ok := refreshes(b, e, d)[what]
				if !ok {
					continue
				}
				b.Run(fmt.Sprintf("what=%s/engine=%s/backend=%s/n=%d", what, name, blas.Bound().Name(), n),
					func(b *testing.B) {
						b.ReportAllocs()
						best, bestGemm := math.Inf(1), math.Inf(1)
						for range b.N {
							b.StopTimer()
							bestGemm = min(bestGemm, gemm.seconds())
							b.StartTimer()
							began := time.Now()
							call()
							best = min(best, time.Since(began).Seconds())
						}
						flops := refreshFlops(what, n)
						b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
						b.ReportMetric(flops/best/(gemm.flops()/bestGemm), "of-dgemm")
					})
			}
		}
	}
}

// refreshes are the ways of an engine to move G.
func refreshes(t testing.TB, e Engine, d []float64) map[string]func() {
	ways := map[string]func(){
		"diag": func() { must(t, e.Factorize(d)) },
		"full": func() { must(t, e.Factorize(d)); e.FormG() },
	}
	if dense, ok := e.(Dense); ok && !math.IsInf(dense.SingleError(d), 1) {
		ways["single"] = func() { must(t, dense.FactorizeSingle(d)) }
	}
	return ways
}

// BenchmarkUpdate times Woodbury updates of a share of the sites beside a refresh of all
// of G, which comes before each of them: of-refresh is the best update's time as a share
// of the best refresh's. Where it passes 1 an update no longer pays.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range benchmarkOrders() {
		d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
		e := NewCholeskyEngine(gaussianGram(n, false, rand.New(rand.NewPCG(1, 1))))
		for _, parts := range []int{64, 32, 16, 8, 4, 2} {
			move := slices.Clone(d[:n/parts])
			floats.Scale(0.1, move)
			b.Run(fmt.Sprintf("share=%.3g/backend=%s/n=%d", 1/float64(parts), blas.Bound().Name(), n),
				func(b *testing.B) {
					update, refresh := math.Inf(1), math.Inf(1)
					for range b.N {
						b.StopTimer()
						began := time.Now()
						must(b, e.Factorize(d))
						e.FormG()
						refresh = min(refresh, time.Since(began).Seconds())
						b.StartTimer()
						began = time.Now()
						must(b, e.RankUpdate(firstSites(len(move)), move))
						update = min(update, time.Since(began).Seconds())
					}
					b.ReportMetric(update/refresh, "of-refresh")
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
	return []int{100, 200, 350, 500, 600, 1000, 2000, 4000}
}

// product is dgemm on square matrices of order n.
type product struct{ a, c blas64.General }

func newProduct(n int) product {
	square := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n,
			Data: drawSites(n*n, siteRegimes["even"], rand.New(rand.NewPCG(3, 3)))}
	}
	return product{square(), square()}
}

func (p product) run() { blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, p.a, p.a, 0, p.c) }

func (p product) seconds() float64 {
	began := time.Now()
	p.run()
	return time.Since(began).Seconds()
}

func (p product) flops() float64 { return 2 * cube(p.a.Rows) }

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// refreshFlops are the flops that BenchmarkRefresh counts.
func refreshFlops(what string, n int) float64 {
	if what == "diag" {
		return 2 * cube(n) / 3
	}
	return cube(n)
}
