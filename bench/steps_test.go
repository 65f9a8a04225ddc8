package bench

import (
	"context"
	"errors"
	"math"
	"testing"

	"bootbench/loss"
)

// The parts of the time add up, no way of moving G changes the answer, and each
// way does what its name says.
func TestSteps(t *testing.T) {
	cases, err := DefaultSteps([]int{120, 300})
	if err != nil {
		t.Fatal(err)
	}
	emitted := 0
	rows, err := Steps(context.Background(), cases[len(cases)-1:], Settings{}, func([]StepsRow) { emitted++ })
	if err != nil || len(rows) != 10 || emitted != 2 {
		t.Fatalf("%d rows, %d emitted, %v", len(rows), emitted, err)
	}
	for i, r := range rows {
		first := rows[i/5*5]
		if r.Status != "converged" || math.Abs(r.Error/first.Error-1) > 1e-5 {
			t.Errorf("%s, n = %d: %s, error %v, with all steps %v", r.Steps, r.N, r.Status, r.Error, first.Error)
		}
		parts := r.ExactS + r.SingleS + r.FollowS + r.WoodburyS + r.RestS
		if math.Abs(parts-r.TotalS) > 1e-12 || !(r.RestS > 0) || !(r.ExactS > 0) || !(r.LimitS > 0) {
			t.Errorf("%+v", r)
		}
		switch {
		case r.Steps == "exact" && r.Refreshes.Diagonal+r.Refreshes.Single+r.Refreshes.Woodbury > 0,
			r.Steps == "double" && r.Refreshes.Single+r.Refreshes.Follow > 0,
			r.Steps == "nofollow" && r.Refreshes.Follow > 0,
			r.Steps == "all" && r.Refreshes.Exact > rows[i+4].Refreshes.Exact:
			t.Errorf("%+v", r)
		}
	}
}

// Margins have ways of their own; an end of the context keeps what was finished.
func TestStepsOfMargins(t *testing.T) {
	cases, err := DefaultSteps([]int{50})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	rows, err := Steps(ctx, cases[:2], Settings{}, func([]StepsRow) { cancel() })
	if !errors.Is(err, context.Canceled) || len(rows) != len(variants(loss.Hinge{})) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Data != "sonar" || r.Status != "converged" || math.Abs(r.Error-rows[0].Error) > 1e-5 {
			t.Errorf("%+v", r)
		}
	}
	if exact := rows[2]; exact.Steps != "exact" || exact.Refreshes.Exact <= rows[0].Refreshes.Exact {
		t.Errorf("exact refreshes only: %+v, with all steps %+v", exact.Refreshes, rows[0].Refreshes)
	}
}
