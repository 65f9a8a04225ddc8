package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// What a low-rank factor leaves out of the kernel, delta_i at site i, is kept as a
// variance of each input's own: it acts as noise beside that of the site, 1/d_i. The
// directions that it takes from the predictor are about as many as the rank r, so that
//
//	rankErrorFactor sum_i d_i delta_i / r
//
// bounds the relative change of the left-out error: on four sets of 8 to 10 inputs, n = 1000,
// noise 1e-3 to 1, gamma d 0.01 to 1 and ratios 0.3 to 3 the change was at most 3.2
// times the sum over r, and 1.7 times but for one factor; for hinge and logistic losses
// at most 4.0 times, more than 1.8 in two models of 48 (doc/accuracy.md).
const (
	rankErrorFactor = 5

	// DefaultRankError is the Spec.RankError of zero.
	DefaultRankError = 0.01

	// factorShare is the share of the goal at which a factor for the square loss aims, at
	// d = 1/noise: resamples of up to four times the data, whose d is larger, then meet it.
	factorShare = 0.25

	// maxTightened is the number of times that Auto makes a finer factor after a solve.
	maxTightened = 2
)

// rankGoal is RankError or its default.
func (s *Spec) rankGoal() float64 {
	if s.RankError == 0 {
		return DefaultRankError
	}
	return s.RankError
}

// perRank is the sum of residuals per pivot at which a factor for the square loss ends;
// 0 for other losses.
func (m choice) perRank() float64 {
	square, ok := m.Loss.(loss.Square)
	if !ok {
		return 0
	}
	return factorShare * m.rankGoal() / rankErrorFactor * square.Noise
}

// RankError estimates by how much the left-out error of a solution is off, as a share of
// itself, because the kernel matrix is approximated; 0 where it is not.
func (m *Model) RankError(s *solver.Solution) float64 {
	factor := m.Factor()
	if factor == nil {
		return 0
	}
	sum := 0.0
	for i, delta := range factor.Residual() {
		sum += s.SitePrecision[i] * math.Max(0, delta-m.Kernel.Jitter)
	}
	return rankErrorFactor * sum / float64(max(1, factor.Rank()))
}

// noteRankError says in the answer how coarse the factor is. It is no answer to a goal
// that was given, or that Auto keeps.
func (m *Model) noteRankError(s *solver.Solution, off float64) {
	change := "more than 100%"
	if off <= 1 {
		change = fmt.Sprintf("%.4g%%", 100*off)
	}
	s.Warnings = append(s.Warnings,
		fmt.Sprintf("rank %d may change the left-out error by %s, where %.2g%% is the goal: allow a higher rank "+
			"or more memory, or take the exact engine",
			m.Factor().Rank(), change, 100*m.rankGoal()))
	if m.Spec.RankTol == 0 && (m.Spec.Storage == Auto || m.limited) || m.Spec.RankError > 0 {
		s.Status = solver.TooCoarse
	}
}

// Settle is the model whose kernel matrix suits the theory of law. It is m itself unless Auto has taken a
// factor for m with which the left-out error would be off by more than Spec.RankError: then a finer factor
// takes its place, or, where that fits into memory and pays, the whole matrix. The solution is of that model,
// nil where none was needed to see.
func (m *Model) Settle(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*Model, *solver.Solution, error) {
	if m.Form() != LowRank || m.Spec.Storage != Auto || m.Spec.RankTol > 0 {
		return m, nil, nil
	}
	for tightened := 0; ; tightened++ {
		s, err := m.Solve(ctx, law, settings)
		if err != nil || s.Status != solver.Converged && s.Status != solver.TooCoarse {
			return m, s, err
		}
		off := m.RankError(s)
		if off <= m.rankGoal() {
			return m, s, nil
		}
		finer := *m
		finer.making, finer.dense = new(sync.Mutex), nil
		if finer.K, err = (choice{&finer}).finer(off, tightened); err != nil || finer.K == nil {
			return m, s, err
		}
		if finer.Form() == Exact {
			return &finer, nil, nil
		}
		m = &finer
		settings.From = &solver.Solution{SitePrecision: s.SitePrecision, Cavity: s.Cavity} // without the old factor
	}
}

// finer is a kernel matrix to take the place of a factor with which the answer is off by too much; nil where
// memory has no room for one.
func (m choice) finer(off float64, tightened int) (linalg.Kernel, error) {
	exactError := m.checkExact()
	if tightened < maxTightened {
		most := m.Spec.MaxRank
		if exactError == nil {
			most = m.Sites() / worthRank
		}
		trace, _ := m.Factor().Accuracy()
		k, err := m.factorise(trace*m.rankGoal()/(2*off), most)
		if err == nil || !errors.Is(err, linalg.ErrRank) && !errors.Is(err, linalg.ErrMemory) {
			return k, err
		}
	}
	if exactError != nil {
		return nil, nil
	}
	return m.whole()
}
