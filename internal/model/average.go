package model

import (
	"context"

	"bootbench/resample"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See
// solver.Solve for its errors; the solution lives in the kernel matrix's
// scratch triangle until the next solve or full fit (a low-rank one in itself).
// Where Spec.MaxBytes bounds the memory and Settings.MaxBytes is not set, it is what
// the kernel matrix and its engine leave.
//
// Where a low-rank kernel matrix changes the left-out error by more than Spec.RankError (see RankError) a
// warning says so, and unless rank or RankTol are the user's the status is TooCoarse. See Settle.
func (m *Model) Solve(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	s, err := m.solve(ctx, law, settings)
	if err == nil && s.Status == solver.Converged {
		if off := m.RankError(s); off > m.rankGoal() {
			m.noteRankError(s, off)
		}
	}
	return s, err
}

// solve is Solve without a word on the rank.
func (m *Model) solve(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	if settings.MaxBytes == 0 {
		settings.MaxBytes = m.Forecast().SolveRoom()
	}
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Weights: m.Set.Weights, Loss: m.Loss, Law: law,
	}, settings)
}
