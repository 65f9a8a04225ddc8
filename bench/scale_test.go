package bench

import (
	"context"
	"errors"
	"math"
	"testing"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/linalg"
	"bootbench/model"
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
	emitted := 0
	rows, err := Scale(context.Background(), cases, Settings{}, func(ScaleRow) { emitted++ })
	if err != nil || len(rows) != 3 || emitted != 3 {
		t.Fatalf("%d rows, %d emitted, %v", len(rows), emitted, err)
	}
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

// TestScaleRefuses: sizes out of range are bad input; cancelled, or with a rank that is too low, the
// rows so far come with the error.
func TestScaleRefuses(t *testing.T) {
	spec := need.One(waves(50))(t)
	if _, err := Scale(context.Background(), []Case{{Spec: spec, Ratio: 1, Sizes: []int{51}}}, Settings{},
		nil); !errors.Is(err, model.ErrInput) {
		t.Errorf("more examples than there are: %v", err)
	}
	done, cancel := context.WithCancel(context.Background())
	two := []Case{{Spec: spec, Ratio: 1, Sizes: []int{40, 50}}}
	rows, err := Scale(done, two, Settings{}, func(ScaleRow) { cancel() })
	if len(rows) != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	spec.Storage, spec.MaxRank = model.LowRank, 3
	rows, err = Scale(context.Background(), []Case{{Spec: spec, Ratio: 1}}, Settings{}, nil)
	if err != nil || len(rows) != 1 || rows[0].Status != solver.TooCoarse.String() {
		t.Errorf("a rank that is too low: %+v, %v", rows, err)
	}
}

// 5 n^2.5 grows like n^2.5, whatever the sizes.
func TestGrowth(t *testing.T) {
	var rows []ScaleRow
	for _, n := range []int{100, 250, 1000, 7000} {
		rows = append(rows, ScaleRow{N: n, ScaleTimes: ScaleTimes{TotalS: 5 * math.Pow(float64(n), 2.5)}})
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

// TestScaleCases: the default sizes, and a case of a user's set: standard targets in regression (the
// set itself unchanged), labels as they are in classification.
func TestScaleCases(t *testing.T) {
	cases := need.One(DefaultScale(5000, 20000))(t)
	if len(cases) != 3 || cases[0].Spec.Storage != model.Exact || len(cases[0].Sizes) != 2 ||
		len(cases[1].Sizes) != 4 || cases[2].Sizes[3] != 20000 {
		t.Errorf("%+v", cases)
	}
	set := need.One(dataset.Open("boston"))(t)
	c := UserCase(set, model.LowRank, 300)
	mean, square := 0.0, 0.0
	for _, y := range c.Spec.Set.Y {
		mean += y / 506
		square += y * y / 506
	}
	if math.Abs(mean) > 1e-12 || math.Abs(square-1) > 1e-12 || set.Y[0] != 24 || c.Sizes[0] != 300 {
		t.Errorf("mean %g, mean square %g, first target %g", mean, square, set.Y[0])
	}
	labels := need.One(dataset.Open("sonar"))(t)
	if c := UserCase(labels, model.Exact); c.Spec.Loss.Name() != "hinge" || c.Spec.Set != labels {
		t.Errorf("%+v", c.Spec)
	}
}
