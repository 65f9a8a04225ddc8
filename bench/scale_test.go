package bench

import (
	"math"
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/linalg"
	"bootbench/solver"
)

// Both engines on the same data: the low-rank rows know their rank and are
// compared with the exact ones; figures that can be known by other means are as
// they must be.
func TestScale(t *testing.T) {
	spec := need.One(waves(600))(t)
	lowrank := spec
	lowrank.Storage, lowrank.RankTol = model.LowRank, 1e-4
	cases := []Case{{Name: "waves", Spec: spec, Ratio: 1, Sizes: []int{150, 600}}, {Name: "waves", Spec: lowrank,
		Ratio: 1, Sizes: []int{600}}}
	rows := need.One(Run(t.Context(), need.One(ScaleTasks(cases, Settings{}))(t)))(t)
	for _, r := range rows {
		if r.Status != "converged" || !(r.GramS > 0) || !(r.SolveS > 0) || !(r.SweepS > 0 && r.SweepS < r.SolveS) ||
			math.Abs(r.TotalS-r.GramS-r.SolveS) > 1e-12 || r.Sites != r.N || r.D != 4 ||
			r.Refreshes.Exact+r.Refreshes.Single < 2 || r.Linear < 1 {
			t.Errorf("%+v", r)
		}
	}
	exact, approximate := rows[1], rows[2]
	if exact.Engine != "exact" || exact.Rank != 0 || exact.Compared || exact.PeakBytes < linalg.SymBytes(600) {
		t.Errorf("%+v", exact)
	}
	if approximate.Engine != "lowrank" || approximate.Rank < 50 || approximate.Rank > 500 ||
		!(approximate.RankResidual <= 1e-4) {
		t.Errorf("%+v", approximate)
	}
	// The noise is 0.01, so a residual of 1e-4 is one percent of it.
	if !approximate.Compared || math.Abs(approximate.ErrorOff) > 0.05 || !(approximate.VarianceOff < 0.05) ||
		math.Abs(approximate.Error/exact.Error-1-approximate.ErrorOff) > 1e-12 {
		t.Errorf("%+v", approximate)
	}
}

// TestScaleTooCoarse: a rank that is too low is a status of the row.
func TestScaleTooCoarse(t *testing.T) {
	spec := need.One(waves(50))(t)
	spec.Storage, spec.MaxRank = model.LowRank, 3
	tasks := need.One(ScaleTasks([]Case{{Spec: spec, Ratio: 1}}, Settings{}))(t)
	if rows := need.One(Run(t.Context(), tasks))(t); rows[0].Status != solver.TooCoarse.String() {
		t.Errorf("%+v", rows)
	}
}

// 5 n^2.5 grows like n^2.5, whatever the sizes.
func TestGrowth(t *testing.T) {
	var rows []ScaleRow
	for _, n := range []int{100, 250, 1000, 7000} {
		rows = append(rows, ScaleRow{Setup: Setup{N: n},
			ScaleTimes: ScaleTimes{TotalS: 5 * math.Pow(float64(n), 2.5)}})
	}
	total := func(r ScaleRow) float64 { return r.TotalS }
	if p, ok := Growth(rows, total); !ok || math.Abs(p-2.5) > 1e-12 {
		t.Errorf("exponent %v, %v", p, ok)
	}
	if _, ok := Growth(rows[:1], total); ok {
		t.Error("one size tells an exponent")
	}
	if _, ok := Growth(rows, func(r ScaleRow) float64 { return r.SweepS }); ok {
		t.Error("zeros tell an exponent")
	}
}

// TestScaleCases: the default sizes.
func TestScaleCases(t *testing.T) {
	cases := need.One(DefaultScale(5000, 20000))(t)
	if len(cases) != 3 || cases[0].Spec.Storage != model.Exact || len(cases[0].Sizes) != 2 ||
		len(cases[1].Sizes) != 4 || cases[2].Sizes[3] != 20000 {
		t.Errorf("%+v", cases)
	}
}
