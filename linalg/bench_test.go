package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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
//	single  all of G in single precision                       n^3
//	follow  a small move of all of G                           n^3
func BenchmarkRefresh(b *testing.B) {
	for _, n := range benchmarkOrders() {
		k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))
		d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
		gemm := gemmRate(n)
		for name, build := range engines {
			if name != "exact" {
				continue // other flops: see BenchmarkLowRank; ranks: see BenchmarkRanks
			}
			for _, what := range []string{"diag", "full", "single", "follow"} {
				e := build(k)
				call, ok := refreshes(b, e, d)[what]
				if !ok {
					continue
				}
				flops := float64(n) * float64(n) * float64(n)
				if what == "diag" {
					flops *= 2. / 3
				}
				b.Run(fmt.Sprintf("what=%s/engine=%s/backend=%s/n=%d", what, name, blas.Bound().Name(), n), func(b *testing.B) {
					b.ReportAllocs()
					for range b.N {
						call()
					}
					rate := flops * float64(b.N) / b.Elapsed().Seconds() / 1e9
					b.ReportMetric(rate, "GFLOP/s")
					b.ReportMetric(rate/gemm, "of-dgemm")
				})
			}
		}
	}
}

// refreshes are the ways of an engine to move G, the moves about d for follow.
func refreshes(t testing.TB, e Engine, d []float64) map[string]func() {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	ways := map[string]func(){
		"diag": func() { must(e.Refresh(d)) },
		"full": func() { must(e.Refresh(d)); e.Expand() },
	}
	if s, ok := e.(Single); ok && !math.IsInf(s.SingleRounding(d), 1) {
		ways["single"] = func() { must(s.RefreshSingle(d)) }
	}
	if f, ok := e.(Follower); ok && ways["single"] != nil {
		move := make([]float64, len(d))
		for i, v := range d {
			move[i] = 1e-4 * v
		}
		ready := false
		ways["follow"] = func() {
			if !ready {
				must(e.Refresh(d))
				ready = true
			}
			for i := range move {
				move[i] = -move[i]
			}
			must(f.Follow(move))
		}
	}
	return ways
}

// TestRates guards the rates of refreshes relative to dgemm's in the same process,
// loosely, against a change that makes one much slower: the best of several tries
// must reach the floor. It runs where BOOTBENCH_RATES is set, on a machine that
// has nothing else to do.
func TestRates(t *testing.T) {
	if os.Getenv("BOOTBENCH_RATES") == "" {
		t.Skip("BOOTBENCH_RATES is not set")
	}
	n, floors := 2000, map[string]float64{"diag": 0.5, "full": 0.5, "single": 0.8, "follow": 0.8}
	if blas.Bound().Name() == "gonum" {
		n, floors = 1000, map[string]float64{"diag": 0.4, "full": 0.4}
	}
	k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 1)))
	d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(2, 2)))
	ways := refreshes(t, NewExact(k), d)
	for what, floor := range floors {
		flops := float64(n) * float64(n) * float64(n)
		if what == "diag" {
			flops *= 2. / 3
		}
		best := 0.0
		for try := 0; try < 5 && best < floor; try++ {
			gemm := gemmRate(n)
			began := time.Now()
			ways[what]()
			best = max(best, flops/time.Since(began).Seconds()/1e9/gemm)
		}
		t.Logf("%s: %.2f of dgemm's rate", what, best)
		if best < floor {
			t.Errorf("%s: %.2f of dgemm's rate, less than %.2f", what, best, floor)
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
