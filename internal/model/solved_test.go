package model_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

// TestSolved: rows that are added in two parts leave what a model of all rows at once has, for any that are
// left out, and that is the prediction of a model trained without them; weights count. What cannot be added
// changes nothing.
func TestSolved(t *testing.T) {
	set := testutil.Must(dataset.Load("synthetic:friedman1,n=60", dataset.Options{}))(t)
	weighted := *set
	for i := range set.N() {
		weighted.Weights = append(weighted.Weights, 0.5+float64(i%4))
	}
	for _, set := range []*dataset.Set{set, &weighted} {
		order := make([]int, set.N())
		for i := range order {
			order[i] = i
		}
		x, _ := dataset.Standardize(set.X)
		plain := *set // by the map of all rows: the map of the first is another
		plain.X = x
		spec := model.NewSpec(&plain, loss.Square{Noise: 2})
		spec.Standardize, spec.NormalizeTarget = false, false
		part := spec
		part.Set = plain.Subset(order[:40])
		grown := testutil.Must(model.NewSolved(t.Context(), part))(t)
		for _, rows := range [][]int{order[40:41], order[41:]} {
			if err := grown.Append(t.Context(), plain.Subset(rows)); err != nil {
				t.Fatal(err)
			}
		}
		whole := testutil.Must(model.NewSolved(t.Context(), spec))(t)
		for _, out := range [][]int{{3}, {59, 0, 17}, {45, 46, 47, 48, 49, 50}} {
			got, want := testutil.Must(grown.LeaveOut(out...))(t), testutil.Must(whole.LeaveOut(out...))(t)
			rest := slices.DeleteFunc(slices.Clone(order), func(i int) bool {
				return slices.Contains(out, i)
			})
			fresh := spec
			fresh.Set = plain.Subset(rest)
			fit := testutil.Must(testutil.Must(model.Build(t.Context(), fresh))(t).Fit(t.Context(),
				0))(t)
			p := testutil.Must(testutil.Must(model.Build(t.Context(), fresh))(t).Predictor(&fit.Result))(t)
			trained := testutil.Must(p.Predict(plain.Subset(out)))(t)
			for k := range out {
				if math.Abs(got[k]-want[k]) > 1e-9*math.Abs(want[k]) ||
					math.Abs(trained[k]-want[k]) > 1e-8*math.Abs(want[k]) {
					t.Errorf("%v without %v: grown %v, at once %v, trained %v", out[k], out, got[k], want[k],
						trained[k])
				}
			}
		}
		before := testutil.Must(grown.LeaveOut(5))(t)
		// there already, none
		for _, wrong := range []*dataset.Set{plain.Subset(order[:2]), plain.Subset(nil)} {
			if err := grown.Append(t.Context(), wrong); !errors.Is(err, model.ErrInput) {
				t.Errorf("%d rows: %v", wrong.N(), err)
			}
		}
		if after := testutil.Must(grown.LeaveOut(5))(t); after[0] != before[0] || grown.N() != 60 {
			t.Errorf("%v before, %v after what was refused", before, after)
		}
	}
	eps := model.NewSpec(set, loss.EpsInsensitive{C: 1, Epsilon: 0.1})
	if _, err := model.NewSolved(t.Context(), eps); !errors.Is(err,
		model.ErrInput) {
		t.Error(err)
	}
}
