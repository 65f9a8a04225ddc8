package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/internal/testutil"
)

// BenchmarkRefresh times what an engine does with G, in GFLOP/s at the flops counted below. of-dgemm is the
// best call's rate as a share of the rate of the best dgemm of the same order, one before each call. On one
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
		gemm := products(n)
		for name, build := range engines {
			if name != "exact" && !(name == "recursions" && blas.SmallWork(n) > 0) {
				continue // the others do other flops
			}
			for _, what := range []string{"diag", "full", "single"} {
				share := map[string]float64{"diag": 2. / 3, "full": 1, "single": 1}[what] // of n^3 flops
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
							bestGemm = min(bestGemm, gemm())
							b.StartTimer()
							began := time.Now()
							call()
							best = min(best, time.Since(began).Seconds())
						}
						flops := share * math.Pow(float64(n), 3)
						b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
						b.ReportMetric(share/2*bestGemm/best, "of-dgemm")
					})
			}
		}
	}
}

// refreshes are the ways of an engine to move G.
func refreshes(t testing.TB, e Engine, d []float64) map[string]func() {
	ways := map[string]func(){
		"diag": func() { testutil.Check(t, e.Factorize(d)) },
		"full": func() { testutil.Check(t, e.Factorize(d)); e.FormG() },
	}
	if dense, ok := e.(Dense); ok && !math.IsInf(dense.SingleError(d), 1) {
		ways["single"] = func() { testutil.Check(t, dense.FactorizeSingle(d)) }
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
						testutil.Check(b, e.Factorize(d))
						e.FormG()
						refresh = min(refresh, time.Since(began).Seconds())
						b.StartTimer()
						began = time.Now()
						testutil.Check(b, e.RankUpdate(firstSites(len(move)), move))
						update = min(update, time.Since(began).Seconds())
					}
					b.ReportMetric(float64(n)*float64(n)*float64(len(move))/update/1e9, "GFLOP/s")
					b.ReportMetric(update/refresh, "of-refresh")
				})
		}
	}
}

// BenchmarkDiagonal times the estimates of diag(G) after a change of d: M03's cubic one (M03-67), the one of
// Response to all orders, and the preparation of a Response. Each is one product with G o G, 3n^2 flops.
// of-refresh is the best time as a share of a refresh of all of G; error is the largest relative error
// of chi where d changes by +-10%, and less than 0.09/mean(G), which the cubic one is for.
func BenchmarkDiagonal(b *testing.B) {
	for _, n := range benchmarkOrders() {
		at := sync.OnceValue(func() *diagonalBench { return newDiagonalBench(b, n) })
		for _, step := range []struct {
			name string
			call func(*diagonalBench) bool
		}{
			{"cubic", func(d *diagonalBench) bool { return CubicDiag(d.engine, d.move, d.chi, d.b) }},
			{"response", func(d *diagonalBench) bool { return d.response.PredictDiag(d.move, d.chi, d.b) }},
			{"prepare", func(d *diagonalBench) bool { NewResponse(d.engine); return true }},
		} {
			name := fmt.Sprintf("step=%s/backend=%s/n=%d", step.name, blas.Bound().Name(), n)
			b.Run(name, func(b *testing.B) {
				best, d := math.Inf(1), at()
				for b.Loop() {
					began := time.Now()
					if !step.call(d) {
						b.Fatal("too far")
					}
					best = min(best, time.Since(began).Seconds())
				}
				b.ReportMetric(3*float64(n)*float64(n)/best/1e9, "GFLOP/s")
				b.ReportMetric(best/d.refresh, "of-refresh")
				if step.name != "prepare" {
					b.ReportMetric(far(d.chi, d.exact), "error")
				}
			})
		}
	}
}

// diagonalBench is an engine at d, a move of d, and diag(G) after it.
type diagonalBench struct {
	engine              *CholeskyEngine
	response            *Response
	move, chi, b, exact []float64
	refresh             float64 // seconds of all of G
}

func newDiagonalBench(t testing.TB, n int) *diagonalBench {
	rng := rand.New(rand.NewPCG(2, 2))
	d := drawSites(n, siteRegimes["even"], rng)
	at := &diagonalBench{engine: NewCholeskyEngine(gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))),
		move: make([]float64, n), chi: make([]float64, n), b: make([]float64, n)}
	testutil.Check(t, at.engine.Factorize(d))
	chi, _ := at.engine.Diag()
	largest := 0.09 / stat.Mean(chi, nil)
	for i, v := range d {
		at.move[i] = min(largest, v/10) * float64(1-2*rng.IntN(2))
	}
	testutil.Check(t, at.engine.Factorize(floats.AddTo(make([]float64, n), d, at.move)))
	at.exact = slices.Clone(chi)
	began := time.Now()
	testutil.Check(t, at.engine.Factorize(d))
	at.engine.FormG()
	at.refresh = time.Since(began).Seconds()
	at.response = NewResponse(at.engine)
	return at
}

// far is the largest relative difference of a from b.
func far(a, b []float64) float64 {
	worst := 0.0
	for i, v := range b {
		worst = max(worst, relative(a[i], v, 0))
	}
	return worst
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

// products times dgemm, in seconds, on square matrices of order n.
func products(n int) func() float64 {
	square := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n,
			Data: drawSites(n*n, siteRegimes["even"], rand.New(rand.NewPCG(3, 3)))}
	}
	a, c := square(), square()
	return func() float64 {
		began := time.Now()
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, a, a, 0, c)
		return time.Since(began).Seconds()
	}
}
