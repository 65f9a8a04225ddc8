package solver_test

import (
	"context"
	"math"
	"testing"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// A solve that one process or ranks began goes on in the other, and ends where one that was not stopped does:
// both to the tolerance, 1e-8 of the scale of cavities, hence 1e-6 of means and variances near 1. The states
// in between are over all sites on every rank.
func TestRanksTakeUpStates(t *testing.T) {
	set := synthetic(t, "synthetic:blobs,n=120,d=2,seed=5")
	k, _ := gram(t, kernel.Spec{Gamma: 0.1}, set.X)
	for _, l := range []loss.Loss{loss.Square{Noise: 0.5}, loss.Hinge{C: 1}} {
		solve := func(team linalg.Team, settings solver.Settings) *solver.Solution {
			factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, linalg.RankOptions{Tol: 1e-6, Team: team})
			if err != nil {
				t.Error(err)
				return nil
			}
			settings.Tolerance, settings.Disable = 1e-8, solver.Newton
			s, err := solver.Solve(context.Background(), solver.Problem{Gram: factor, Y: set.Y, Loss: l,
				Law: resample.Poisson{Ratio: 1}}, settings)
			if err != nil || s.Status != solver.Converged {
				t.Errorf("%s: %v, %v", l.Name(), s, err)
				return nil
			}
			return s.Whole()
		}
		stopped := func(team linalg.Team) (state *solver.State) {
			sweeps := 0
			solve(team, solver.Settings{Checkpoint: func(s *solver.State) error {
				if sweeps++; sweeps == 2 {
					state = s
				}
				return nil
			}})
			if state == nil {
				t.Errorf("%s: no second sweep", l.Name())
			}
			return state
		}
		want, alone := solve(nil, solver.Settings{}), stopped(nil)
		agree := func(where string, got *solver.Solution) {
			t.Helper()
			for i, m := range want.Mean {
				if got == nil || len(got.Mean) != len(want.Mean) || math.Abs(got.Mean[i]-m) > 1e-6 ||
					math.Abs(got.Var[i]-want.Var[i]) > 1e-6 {
					t.Fatalf("%s, %s: site %d is off", l.Name(), where, i)
				}
			}
		}
		states, onRanks := make([]*solver.State, 3), make([]*solver.Solution, 3)
		disttest.OnRanks(1, 3, func(g dist.Grid) {
			team := dist.NewTeam(g)
			states[g.Rank()] = stopped(team)
			onRanks[g.Rank()] = solve(team, solver.Settings{Resume: alone})
		})
		for rank := range states {
			agree("taken up on ranks", onRanks[rank])
			agree("taken up from ranks", solve(nil, solver.Settings{Resume: states[rank]}))
		}
	}
}
