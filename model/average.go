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
// the kernel matrix and its engine leave. On ranks (Spec.Grid) ctx must end at the same
// place of the program on all, in Settings.Progress.
//
// Where a low-rank kernel matrix changes the left-out error by more than Spec.RankError
// (see RankError), Auto makes a finer one or takes the exact engine, and solves again;
// earlier solutions of this model are then no longer its. Where neither fits into memory the
// status is TooCoarse.
func (m *Model) Solve(ctx context.Context, law resample.CountDistribution, settings solver.Settings) (*solver.Solution, error) {
	if m.Factor == nil {
		return m.solveOnce(ctx, law, settings)
	}
	return m.solveAccurately(ctx, law, settings)
}

func (m *Model) solveOnce(ctx context.Context, law resample.CountDistribution, settings solver.Settings) (*solver.Solution, error) {
	if settings.MaxBytes == 0 {
		settings.MaxBytes = m.solveRoom()
	}
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Loss: m.Loss, Law: law,
	}, settings)
}
