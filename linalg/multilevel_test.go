package linalg

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A coarser factor explains the columns of its pivots in full, leaves what a
// positive semidefinite matrix leaves elsewhere, and has the diagonal that the
// finer one has, jitter included. More than one panel is passed.
func TestCoarser(t *testing.T) {
	const n = 800
	f := mustFactorise(t, SymColumns{plane(n, 0.2, rand.New(rand.NewPCG(1, 11)))}, RankOptions{MaxRank: 640})
	f.AddDiag(1e-3)
	coarser, ok := f.Coarsen()
	if !ok || f.Rank() < 560 {
		t.Fatalf("nothing coarser than rank %d", f.Rank())
	}
	c := coarser.(*LowRankPlusDiag)
	if c.Rank() < f.Rank()/minCoarser || c.Rank() > f.Rank()/maxCoarser || c.Rank() <= c.panelRows() {
		t.Fatalf("rank %d of %d", c.Rank(), f.Rank())
	}
	pivot := make([]bool, n)
	for _, p := range c.Pivots() {
		pivot[p] = true
	}
	fine, coarse := f.Dense(), c.Dense()
	for i := range n {
		if off := math.Abs(fine.At(i, i) - coarse.At(i, i)); off > 1e-13 {
			t.Fatalf("diagonal element %d is off by %g", i, off)
		}
		for j := i + 1; j < n; j++ {
			allowed := math.Sqrt((c.Residual()[i] - 1e-3) * (c.Residual()[j] - 1e-3))
			if pivot[i] || pivot[j] {
				allowed = 0
			}
			if off := math.Abs(fine.At(i, j) - coarse.At(i, j)); !(off <= allowed+1e-12) {
				t.Fatalf("element (%d, %d) is off by %g, above %g", i, j, off, allowed)
			}
		}
	}
	levels := 1
	for ok {
		coarser, ok = coarser.(*LowRankPlusDiag).Coarsen()
		levels++
	}
	if small := mustFactorise(t, SymColumns{plane(n, 3, rand.New(rand.NewPCG(1, 11)))},
		RankOptions{MaxRank: minCoarser*smallestLevel - 1}); levels < 3 || levels > 6 {
		t.Errorf("%d levels from rank %d", levels, f.Rank())
	} else if _, ok := small.Coarsen(); ok {
		t.Errorf("a level below rank %d", small.Rank())
	}
}

// The estimate is exact where nothing moves and where one's own d does, and else
// wrong by a small part of what the others' moves do to a cavity, in proportion to
// the move. Without a coarser factor the cavities stay.
func TestPredictDiagOnCoarser(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(2, 11))
	f := mustFactorise(t, SymColumns{plane(n, 1, rng)}, RankOptions{Tol: 1e-11})
	d := drawSites(n, siteRegimes["even"], rng)
	k := f.Dense()
	at := func(d []float64) []float64 { // cavity precisions
		e := k.Engine()
		if err := e.Factorize(d); err != nil {
			t.Fatal(err)
		}
		chi, b := e.Diag()
		c := make([]float64, n)
		for i := range c {
			c[i] = b[i] / chi[i]
		}
		return c
	}
	e := NewLowRankEngine(f)
	if err := e.Factorize(d); err != nil {
		t.Fatal(err)
	}
	before := at(d)
	errorAt := func(size float64) (off, change float64) { // mean over sites
		move, moved, chi, b := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range move {
			move[i] = size * d[i] * (1 + math.Sin(float64(i)))
			moved[i] = d[i] + move[i]
		}
		if !NewResponse(e).PredictDiag(move, chi, b) {
			t.Fatalf("a move by %g is refused", size)
		}
		want := at(moved)
		for i, c := range want {
			if math.Abs(b[i]/chi[i]+moved[i]-1/chi[i]) > 1e-9/chi[i] {
				t.Fatalf("site %d: chi %g and b %g do not belong together", i, chi[i], b[i])
			}
			off += math.Abs(b[i]/chi[i]/c-1) / n
			change += math.Abs(before[i]/c-1) / n
		}
		return off, change
	}
	if off, _ := errorAt(0); off > 1e-9 {
		t.Errorf("off by %g where nothing moved", off)
	}
	large, change := errorAt(0.2)
	small, _ := errorAt(0.1)
	if !(large < 0.15*change) {
		t.Errorf("off by %g, the cavities moved by %g", large, change)
	}
	if q := large / small; q < 1.5 || q > 3 {
		t.Errorf("error %g at half of the move, %g at all", small, large)
	}

	alone := NewLowRankEngine(mustFactorise(t, SymColumns{k}, RankOptions{MaxRank: 20}))
	if err := alone.Factorize(d); err != nil {
		t.Fatal(err)
	}
	chi, b := make([]float64, n), make([]float64, n)
	if !NewResponse(alone).PredictDiag(d, chi, b) || alone.Coarse() != nil {
		t.Fatal("rank 20 has a coarser factor")
	}
	chi0, b0 := alone.Diag()
	for i := range chi {
		if relative(b[i]/chi[i], b0[i]/chi0[i], 0) > 1e-12 {
			t.Fatalf("cavity %d has moved", i)
		}
	}
	if e.Coarse() == nil || relative(e.Coarse().Precisions()[7], d[7], 0) > 0 {
		t.Error("the coarse engine is not where G stands")
	}
}
