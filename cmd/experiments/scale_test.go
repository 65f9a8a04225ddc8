package main

import (
	"math"
	"slices"
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/linalg"
	"bootbench/solver"
)

// Both engines on the same data: the low-rank row knows its rank and is near the exact one; figures that can
// be known by other means are as they must be.
func TestScale(t *testing.T) {
	cases := need.One(scaleCases(600, 600))(t)
	lowrank := cases[2]
	lowrank.spec.RankTol = 1e-4
	exact, exactVariances := need.Two(cases[0].solve(t.Context(), 600))(t)
	approximate, variances := need.Two(lowrank.solve(t.Context(), 600))(t)
	for _, r := range []scaleRow{exact, approximate} {
		if r.Status != "converged" || !(r.GramS > 0) || !(r.SolveS > 0) || !(r.SweepS > 0 && r.SweepS < r.SolveS) ||
			math.Abs(r.TotalS-r.GramS-r.SolveS) > 1e-12 || r.Sites != r.N || r.D != 4 ||
			r.Refreshes.Exact+r.Refreshes.Single < 2 || r.Linear < 1 {
			t.Errorf("%+v", r)
		}
	}
	if exact.Engine != "exact" || exact.Rank != 0 || exact.PeakBytes < linalg.SymBytes(600) {
		t.Errorf("%+v", exact)
	}
	// The noise is 0.01, so a residual of 1e-4 is one percent of it.
	if approximate.Engine != "lowrank" || approximate.Rank < 50 || approximate.Rank > 500 ||
		!(approximate.RankResidual <= 1e-4) || math.Abs(approximate.Error/exact.Error-1) > 0.05 ||
		!(medianOff(variances, exactVariances) < 0.05) {
		t.Errorf("%+v", approximate)
	}
	lowrank.spec.RankTol, lowrank.spec.MaxRank = 0, 3
	if r, _ := need.Two(lowrank.solve(t.Context(), 50))(t); r.Status != solver.TooCoarse.String() {
		t.Errorf("rank 3: %+v", r)
	}
}

// TestGrowth: 5 n^2.5 grows like n^2.5, whatever the sizes; and sizes double.
func TestGrowth(t *testing.T) {
	var rows []scaleRow
	for _, n := range []int{100, 250, 1000, 7000} {
		r := scaleRow{TotalS: 5 * math.Pow(float64(n), 2.5)}
		r.N = n
		rows = append(rows, r)
	}
	if p := growth(rows); math.Abs(p-2.5) > 1e-12 || !math.IsNaN(growth(rows[:1])) {
		t.Errorf("exponent %v", p)
	}
	if sizes := doubling(20000); !slices.Equal(sizes, []int{2500, 5000, 10000, 20000}) {
		t.Errorf("sizes %v", sizes)
	}
	if c := need.One(scaleCases(300, 20))(t); c[0].spec.Storage != model.Exact || c[0].spec.Set.N() != 300 {
		t.Errorf("%+v", c)
	}
}
