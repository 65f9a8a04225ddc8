package model

import (
	"context"

	"bootbench/loss"
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
	if settings.MaxBytes == 0 {
		settings.MaxBytes = m.Forecast().SolveRoom()
	}
	if settings.Whole == nil && solver.Certain(law) {
		settings.Whole = m.wholeFit()
	}
	s, err := solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Loss: m.Loss, Law: law,
	}, settings)
	if err == nil && s.Status == solver.Converged {
		if off := m.RankError(s); off > m.rankGoal() {
			m.noteRankError(s, off)
		}
	}
	return s, err
}

// wholeFit is the fit to all data where a loss with a proximal map has one, nil where the theory is
// iterated instead. The solver judges how good it is.
func (m *Model) wholeFit() *solver.WholeFit {
	if _, ok := m.Loss.(loss.Proximal); !ok || quadratic(m.Loss) || m.Form() != Exact {
		return nil
	}
	tolerance := 1e-13 // of the objective
	if _, margin := marginCost(m.Loss); margin {
		tolerance = 1e-9 // of y f
	}
	fit, err := m.Fit(FitSettings{Tolerance: tolerance})
	if err != nil {
		return nil
	}
	return &solver.WholeFit{F: fit.F, Weight: fit.Weight}
}
