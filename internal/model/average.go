package model

import (
	"cmp"
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See solver.Solve for its errors; the
// solution uses the kernel matrix's scratch triangle, if dense, until the next solve or full fit. If only
// Spec.MaxBytes is set, Settings.MaxBytes becomes that minus the memory of the kernel matrix and its engine.
//
// If a low-rank kernel matrix changes the left-out error by more than Spec.RankError (see RankError) a
// warning says so, and the status is TooCoarse unless RankTol was set and RankError was not. See Settle.
func (m *Model) Solve(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	s, err := solve(ctx, m, law, settings)
	if err == nil && s.Status == solver.Converged {
		if off := m.RankError(s); off > m.rankGoal() {
			noteRank(m, s, off)
		}
	}
	return s, err
}

// solve is Solve without a check of the rank.
func solve(ctx context.Context, m *Model, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	if err := checkLaw(m.Loss, law); err != nil {
		return nil, err
	}
	if settings.MaxBytes == 0 {
		settings.MaxBytes = solveRoom(m)
	}
	byError := m.Form() == LowRank && m.Spec.RankTol == 0 && m.Sites() >= ApproximateFrom
	if byError && cmp.Or(settings.Tolerance, solver.DefaultTolerance) == solver.DefaultTolerance {
		settings.Tolerance = m.rankGoal() / 100 // more digits than the rank's error has cost sweeps
	}
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Y, Weights: m.Set.Weights, Loss: m.Loss, Law: law,
	}, settings)
}

// checkLaw refuses real weights for hard margins, for which only the sign of a weight matters.
func checkLaw(l loss.Loss, law resample.CountDistribution) error {
	if _, real := law.(resample.Bayesian); real && math.IsInf(loss.TraitsOf(l).C, 1) {
		return InputError(errors.New(
			"every resample of Bayesian weights has the same hard margin, that of all examples: " +
				"take Spec.Loss hinge, with a large Hinge.C, or another Options.Scheme"))
	}
	return nil
}

// Limits of SolveRoughly.
const (
	// roughRank is the rank of the factor that determines the sites' parameters. Iterations of fits on magic
	// and california, n = 5000, by rank: 100: 5700, 8400, 3300; 200: 5100, 7400, 2600; 500: 4800, -, 2500;
	// exact parameters: 4800, 5300, 2500.
	roughRank      = 200
	roughTolerance = 0.1
	// Below leastRough sites a solve of the theory to fewTolerance takes no longer.
	leastRough   = 700
	fewTolerance = 1e-2
	// mostCondition is the sum of d K_ii above which Cholesky factors of I + d^1/2 K d^1/2 may be inaccurate.
	mostCondition = 1e6
)

// SolveRoughly refreshes G once, at the sites' parameters of the theory on a factor of rank roughRank. Exact
// fits around it converge in about as many iterations as around the theory, for a seventh of the time; the
// solution's averages are not accurate. For a matrix that is not dense, or nearly singular, it solves the
// theory.
func (m *Model) SolveRoughly(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*solver.Solution, error) {
	if m.Form() != Exact {
		return m.Solve(ctx, law, settings)
	}
	if m.Sites() < leastRough {
		settings.Tolerance = fewTolerance
		return m.Solve(ctx, law, settings)
	}
	factor, err := linalg.PivotedCholesky(ctx, m.Gram(), linalg.RankOptions{
		MaxRank: roughRank, MaxBytes: m.MaxBytes, Offset: m.Spec.Kernel.Constant})
	if err != nil {
		return nil, err
	}
	coarse, err := solve(ctx, on(m, factor), law, solver.Settings{Tolerance: roughTolerance})
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
	s, err := solve(ctx, m, law, settings)
	if err == nil {
		s.Warnings = nil // of no convergence
	}
	return s, err
}

// EmptyShare is the probability of a resample without examples, which predicts the prior mean 0 in theory and
// in retraining. It is 0 for schemes of fixed size.
func EmptyShare(m *Model, scheme resample.Scheme) float64 {
	switch scheme.(type) {
	case resample.Poisson, resample.Bernoulli:
		return resample.ProbZero(scheme, len(m.Y))
	}
	return 0
}

// MissingClass is the probability that a resample lacks one of the two classes (or both), for independent
// counts; 0 for regression, and for designs.
func MissingClass(m *Model, law resample.CountDistribution) float64 {
	needed, _ := needsLabels(m.Loss)
	if _, designed := law.(resample.Designed); designed || !needed {
		return 0
	}
	absent, n := resample.ProbZero(law, 1), float64(len(m.Y))
	positive := (n + floats.Sum(m.Y)) / 2
	return 1 - (1-math.Pow(absent, positive))*(1-math.Pow(absent, n-positive))
}
