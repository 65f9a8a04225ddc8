package model

import (
	"cmp"
	"context"
	"errors"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See solver.Solve for its errors; the
// solution lives in the kernel matrix's scratch triangle until the next solve or full fit (a low-rank one in
// itself). Where Spec.MaxBytes bounds the memory and Settings.MaxBytes is not set, it is what the kernel
// matrix and its engine leave.
//
// Where a low-rank kernel matrix changes the left-out error by more than Spec.RankError (see RankError) a
// warning says so, and unless rank or RankTol are the user's the status is TooCoarse. See Settle.
func (m *Model) Solve(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	s, err := ranks{m}.solve(ctx, law, settings)
	if err == nil && s.Status == solver.Converged {
		if off := m.RankError(s); off > m.rankGoal() {
			ranks{m}.note(s, off)
		}
	}
	return s, err
}

// solve is Solve without a word on the rank.
func (m ranks) solve(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	if err := CheckLaw(m.Loss, law); err != nil {
		return nil, err
	}
	if settings.MaxBytes == 0 {
		settings.MaxBytes = m.Forecast().SolveRoom()
	}
	byError := m.Form() == LowRank && m.Spec.RankTol == 0 && m.Sites() >= ApproximateFrom
	if byError && cmp.Or(settings.Tolerance, solver.DefaultTolerance) == solver.DefaultTolerance {
		settings.Tolerance = m.rankGoal() / 100 // more digits than the rank's error has cost sweeps
	}
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Weights: m.Set.Weights, Loss: m.Loss, Law: law,
	}, settings)
}

// CheckLaw refuses real weights for hard margins, which know only whether a weight is above 0.
func CheckLaw(l loss.Loss, law resample.CountDistribution) error {
	_, hard := l.(loss.HardMargin)
	if _, real := law.(resample.Bayesian); hard && real {
		return InputError(errors.New(
			"every resample of Bayesian weights has the same hard margin, that of all examples: " +
				"take --loss hinge, with a large --C, or another --scheme"))
	}
	return nil
}

// Limits of SolveRoughly.
const (
	// roughRank is the rank of the factor from which the sites' parameters are. Iterations of fits on magic and
	// california, n = 5000, by rank: 100: 5700, 8400, 3300; 200: 5100, 7400, 2600; 500: 4800, -, 2500; the
	// theory's own parameters: 4800, 5300, 2500.
	roughRank      = 200
	roughTolerance = 0.1
	// Below leastRough sites the theory itself to fewTolerance takes no longer.
	leastRough   = 700
	fewTolerance = 1e-2
	// mostCondition is the sum of d K_ii above which Cholesky factors of I + d^1/2 K d^1/2 may not do.
	mostCondition = 1e6
)

// SolveRoughly is one refresh of G at the sites' parameters that the theory has on a factor of rank
// roughRank. Exact fits around it converge in about as many iterations as around the theory, and so does
// their average, for a seventh of the time; the solution's own averages are no answer. A matrix that is no
// whole one, or nearly singular, gets the theory.
func (m *Model) SolveRoughly(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	if m.Form() != Exact {
		return m.Solve(ctx, law, settings)
	}
	if m.Sites() < leastRough {
		settings.Tolerance = fewTolerance
		return m.Solve(ctx, law, settings)
	}
	factor, err := linalg.PivotedCholesky(m.Gram(), linalg.RankOptions{
		MaxRank: roughRank, MaxBytes: m.MaxBytes, Offset: m.Spec.Kernel.Constant})
	if err != nil {
		return nil, err
	}
	coarse, err := ranks{m.on(factor)}.solve(ctx, law, solver.Settings{Tolerance: roughTolerance})
	if err != nil {
		return nil, err
	}
	condition := 0.0
	for i, d := range coarse.SitePrecision {
		condition += d * m.Gram().At(i, i)
	}
	if coarse.Status == solver.NumericalFailure || !(condition <= mostCondition) {
		return m.Solve(ctx, law, settings)
	}
	settings.MaxSweeps = 1
	settings.From = &solver.Solution{SitePrecision: coarse.SitePrecision, Cavity: coarse.Cavity}
	s, err := ranks{m}.solve(ctx, law, settings)
	if err == nil {
		s.Warnings = nil // that it has not converged
	}
	return s, err
}
