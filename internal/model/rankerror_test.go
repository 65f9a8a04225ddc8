package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// eight is regression on n rows of 8 inputs with a broad kernel and little noise, where the
// left-out error feels what a factor leaves out of the kernel.
func eight(t testing.TB, n int, gamma, noise float64) model.Spec {
	t.Helper()
	return model.Spec{
		Set: load(t, fmt.Sprintf("synthetic:waves,n=%d,d=8", n)), Standardize: true,
		Loss: loss.Square{Noise: noise}, Kernel: kernel.Spec{Gamma: gamma},
	}
}

// solveAt solves at a ratio and returns the left-out square error.
func solveAt(t testing.TB, m *model.Model, ratio float64) (float64, *solver.Solution) {
	t.Helper()
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: ratio}, solver.Settings{}))(t)
	mean, _ := s.LeftOut(loss.SquareTest{})
	return mean, s
}

// settledAt is solveAt of the model that Settle makes, and that.
func settledAt(t testing.TB, m *model.Model) (float64, *solver.Solution, *model.Model) {
	t.Helper()
	m, _ = need.Two(m.Settle(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	mean, s := solveAt(t, m, 1)
	return mean, s, m
}

// TestRankError: the change of the left-out error against the exact engine is within what the
// model states, at default ranks and at one that is far too low, and by default below the goal
// of 1%. A residual of a hundredth of the noise, the default once, changed the error by
// 15 to 30% here.
func TestRankError(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for _, gamma := range []float64{0.002, 0.01} {
		for _, noise := range []float64{0.001, 0.01, 0.1} {
			spec := eight(t, 500, gamma, noise)
			for _, ratio := range []float64{0.5, 2} {
				want, _ := solveAt(t, build(t, spec), ratio)
				for _, tol := range []float64{0, 0.01 * noise, 0.001 * noise} {
					low := spec
					low.Storage, low.RankTol = model.LowRank, tol
					m := build(t, low)
					got, s := solveAt(t, m, ratio)
					off, stated := math.Abs(got/want-1), m.RankError(s)
					if !(off <= stated) || tol == 0 && !(stated <= model.DefaultRankError) {
						t.Errorf("gamma %g, noise %g, ratio %g, tolerance %g: off by %.2g, stated %.2g", gamma, noise, ratio,
							tol, off, stated)
					}
					warned := strings.Contains(strings.Join(s.Warnings, "; "), "may change the left-out error")
					if warned != (stated > model.DefaultRankError) || s.Status != solver.Converged {
						t.Errorf("stated %.2g, status %v, warnings %q", stated, s.Status, s.Warnings)
					}
				}
			}
		}
	}
}

// TestSettledRank: the left-out error at the rank that Settle takes is off by no more than the goal, and by
// no more than twice what is stated; the rank is at most the one that the bound asks for, of labels well
// below it, and the solution that of the model.
func TestSettledRank(t *testing.T) {
	labels := model.Spec{Set: load(t, "synthetic:blobs,n=500,d=6"), Standardize: true, Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 0.03}}
	for name, spec := range map[string]model.Spec{"square": eight(t, 500, 0.01, 0.1), "hinge": labels} {
		law := resample.Poisson{Ratio: 1}
		var test loss.Test = loss.SquareTest{}
		if name == "hinge" {
			test = loss.ZeroOne{}
		}
		want, _ := need.One(build(t, spec).Solve(t.Context(), law, solver.Settings{}))(t).LeftOut(test)
		spec.Storage, spec.RankError = model.LowRank, 0.01
		m := build(t, spec)
		first, _ := m.Approximation()
		m, s := need.Two(m.Settle(t.Context(), law, solver.Settings{}))(t)
		got, _ := s.LeftOut(test)
		again, _ := need.One(m.Solve(t.Context(), law, solver.Settings{}))(t).LeftOut(test)
		a, _ := m.Approximation()
		off, stated := math.Abs(got/want-1), m.RankError(s)
		if !(off <= 2*stated && off <= 0.01 && stated <= 0.01) || a.Rank > first.Rank || name == "hinge" &&
			a.Rank > first.Rank*4/5 ||
			math.Abs(again/got-1) > 1e-5 {
			t.Errorf("%s: rank %d of %d, off by %.2g, stated %.2g; %g solved again %g", name, a.Rank, first.Rank, off,
				stated, got, again)
		}
	}
}

// TestRankErrorGoal: a goal that is given decides, over the rank and over the status.
func TestRankErrorGoal(t *testing.T) {
	spec := eight(t, 500, 0.01, 0.01)
	spec.Storage = model.LowRank
	rank := func(goal float64) int {
		spec.RankError = goal
		a, _ := build(t, spec).Approximation()
		return a.Rank
	}
	if fine, coarse := rank(1e-4), rank(0.1); !(fine > coarse+20) {
		t.Errorf("rank %d for a change of 0.01%%, %d for 10%%", fine, coarse)
	}
	spec.RankError, spec.Rank = 0.01, 20
	if _, s := solveAt(t, build(t, spec), 1); s.Status != solver.TooCoarse || s.Status.Err() == nil {
		t.Errorf("at rank 20 the status is %v", s.Status)
	}
	for _, bad := range []float64{-0.1, 1, math.NaN()} {
		spec.RankError = bad
		if _, err := model.Build(spec); err == nil {
			t.Errorf("a rank error of %v is taken", bad)
		}
	}
}

// TestAutoKeepsRankError: a matrix that does not fit into memory is approximated within the
// goal. Where memory or the largest rank forbid that, Auto does not call the answer converged;
// where the exact engine fits, it takes that.
func TestAutoKeepsRankError(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	spec := eight(t, 1500, 0.01, 0.01)
	want, _ := solveAt(t, build(t, spec), 1)
	spec.Storage = model.Auto
	spec.MaxBytes = linalg.SymBytes(1500) * 2 / 3 // for few ranks, whatever the number of threads
	check := func(what string, m *model.Model) {
		t.Helper()
		got, s, m := settledAt(t, m)
		if off := math.Abs(got/want - 1); s.Status != solver.TooCoarse || !(off <= m.RankError(s)) || off < 0.01 {
			t.Errorf("%s: off by %.2g, stated %.2g, %v", what, off, m.RankError(s), s.Status)
		}
	}
	m := build(t, spec)
	check("little memory", m)
	m.MaxBytes = 0
	got, s, m := settledAt(t, m)
	if s.Status != solver.Converged || m.RankError(s) > model.DefaultRankError ||
		math.Abs(got/want-1) > model.DefaultRankError {
		t.Errorf("with more memory: error %g, exactly %g, stated %.2g; %v", got, want, m.RankError(s), s.Status)
	}
	spec.MaxRank = 30
	check("a small largest rank", build(t, spec))

	// By the rule for losses without a noise, a residual of 1e-4, this factor is too coarse.
	hinge := model.Spec{
		Set: load(t, "synthetic:blobs,n=1500,d=8"), Standardize: true, Loss: loss.Hinge{C: 1000},
		Kernel:  kernel.Spec{Gamma: 0.002},
		Storage: model.Auto, MaxBytes: linalg.SymBytes(1500) * 2 / 3,
	}
	m = build(t, hinge)
	if _, s, _ = settledAt(t, m); s.Status != solver.TooCoarse {
		t.Errorf("hinge in little memory: stated %.2g, %v", m.RankError(s), s.Status)
	}
	m.MaxBytes = 0
	if _, s, m = settledAt(t, m); s.Status != solver.Converged || m.RankError(s) > model.DefaultRankError {
		t.Errorf("hinge: stated %.2g, %v", m.RankError(s), s.Status)
	}
}

// TestLimitedRank: where the largest rank allowed, or memory, does not reach the goal the
// answer is given but does not count as converged, and says what was aimed at; where not
// even rank 1 fits, the number of inputs that would is named.
func TestLimitedRank(t *testing.T) {
	spec := eight(t, 600, 0.02, 0.01)
	spec.Storage = model.LowRank
	for name, limit := range map[string]func(*model.Spec){
		"rank":   func(s *model.Spec) { s.MaxRank = 20 },
		"memory": func(s *model.Spec) { s.MaxBytes = 2_500_000 },
	} {
		limited := spec
		limit(&limited)
		m := build(t, limited)
		_, s := solveAt(t, m, 1)
		if a, _ := m.Approximation(); s.Status != solver.TooCoarse || a.Rank == 0 || name == "rank" &&
			a.Rank != 20 || !slices.ContainsFunc(s.Warnings,
			func(w string) bool { return strings.Contains(w, "1% is the goal") }) {
			t.Errorf("%s: rank %d, %v, %q", name, a.Rank, s.Status, s.Warnings)
		}
	}
	spec.MaxBytes = 300_000
	if _, err := model.Build(spec); !errors.Is(err, linalg.ErrMemory) || !strings.Contains(err.Error(),
		"for about") {
		t.Errorf("no room: %v", err)
	}
}
