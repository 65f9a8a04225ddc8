package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/gp"
	"bootbench/linalg"
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

// RankError estimates by how much the left-out error of a solution is off, as a share of itself, because the
// kernel matrix is approximated; 0 where it is not. It is the bound, or what Settle has seen of it.
func (m *Model) RankError(s *solver.Solution) float64 {
	factor := m.Factor()
	if factor == nil {
		return 0
	}
	return cmp.Or(m.ofBound, 1) * rankErrorBound(factor, s.SitePrecision, m.Kernel.Jitter)
}

// rankErrorBound is the bound on the left-out error's change; the jitter is in the factor's residuals.
func rankErrorBound(factor *linalg.LowRankPlusDiag, d []float64, jitter float64) float64 {
	sum := 0.0
	for i, delta := range factor.Residual() {
		sum += d[i] * math.Max(0, delta-jitter)
	}
	return rankErrorFactor * sum / float64(max(1, factor.Rank()))
}

// enough guesses for the square loss whether the left-out error is off by no more than the goal at the rank
// that a factor has grown to: seen from the leave-one-out error of the fit to all data, whose residuals are
// (y - f)/b, at this rank and those before. That costs one refresh. Examples count twice, so that resamples
// of twice the data meet the goal, too. With little noise the guess can be wrong: Settle looks at the answer.
func (m choice) enough(noise float64) func(*linalg.LowRankPlusDiag) bool {
	count, mean := siteTargets(m.Model)
	noise /= 2
	d := floats.ScaleTo(make([]float64, len(count)), 1/noise, count)
	var seen []rankedAnswer
	return func(factor *linalg.LowRankPlusDiag) bool {
		f, b, err := gp.FitByEngine(m.on(factor).Matrix(), noise, count, mean)
		if err != nil {
			return false
		}
		now := rankedAnswer{bound: rankErrorBound(factor, d, 0)}
		for i := range f {
			out := (mean[i] - f[i]) / b[i]
			now.value += count[i] * out * out
		}
		seen = append(seen, now)
		share := shareOfBound(seen)
		m.grown = share > 0 && share*now.bound <= m.rankGoal()
		return m.grown
	}
}

// ranks are the ranks that the factor of a model may have.
type ranks struct{ *Model }

// note says in the answer how coarse the factor is. It is no answer to a goal
// that was given, or that Auto keeps.
func (m ranks) note(s *solver.Solution, off float64) {
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

// Settle is the model whose kernel matrix suits the theory of law. It is m itself unless K is a factor whose
// rank is not given: then the smallest rank with which the left-out error is off by no more than
// Spec.RankError, or, with Auto, the whole matrix where that fits into memory and pays. The solution is of
// that model, nil where none was needed to see.
//
// Ranks rise by rankStep at most, from rankSteps below that of m on; every solve starts from the last one's
// solution, and those that are to show a change of the answer alone are rough beside the goal.
// The pivots are nested, so that the change of the answer shows what is still to come (ofBound).
func (m *Model) Settle(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*Model, *solver.Solution, error) {
	if m.Form() != LowRank || m.Spec.RankTol > 0 {
		return m, nil, nil
	}
	var seen []rankedAnswer
	known, tightened, sure := m.ofBound, 0, false // that the present rank will do, probably
	search := ranks{m}
	at := search.truncated(int(float64(m.Factor().Rank()) / math.Pow(rankStep, float64(search.steps(settings)))))
	for {
		coarse, roughly := at.Factor().Rank() < m.Factor().Rank(), settings
		if coarse && !sure {
			roughly.Tolerance = max(settings.Tolerance, min(mostRough, m.rankGoal()))
		}
		s, err := ranks{at}.solve(ctx, law, roughly)
		if err != nil || s.Status != solver.Converged {
			return at, s, err
		}
		at.ofBound = 0
		seen = append(seen, ranks{at}.answer(s))
		at.ofBound = cmp.Or(shareOfBound(seen), known)
		off := at.RankError(s)
		settings.From = &solver.Solution{SitePrecision: s.SitePrecision, Cavity: s.Cavity} // without the old factor
		switch {
		case off <= m.rankGoal():
			if roughly.Tolerance > settings.Tolerance {
				s, err = ranks{at}.solve(ctx, law, settings)
			}
			return at, s, err
		case coarse:
			at, sure = search.next(at, s)
			continue
		case m.grown: // the guess was wrong
			fine := m.on(m.K)
			fine.grown, fine.byBound = false, true
			k, err := choice{fine}.matrix()
			if fine.hold(k); err != nil || fine.Form() == Exact {
				return fine, nil, err
			}
			return fine.Settle(ctx, law, settings)
		}
		var finer linalg.Kernel
		if m.Spec.Storage == Auto {
			finer, err = choice{at}.finer(off, tightened)
		}
		if tightened++; err != nil || finer == nil {
			ranks{at}.note(s, off)
			return at, s, err
		}
		if at = at.on(finer); at.Form() == Exact {
			return at, nil, nil
		}
	}
}

// truncated is the model on the first pivots of its factor: itself where it has no more.
func (m ranks) truncated(rank int) *Model {
	if rank >= m.Factor().Rank() {
		return m.Model
	}
	return m.on(m.Factor().Truncate(rank))
}

// next is the model of the rank after that of one whose answer is off by too much: rankStep times it, or
// less if the bound there says that the goal will be met.
func (m ranks) next(at *Model, s *solver.Solution) (next *Model, sure bool) {
	rank, finest := float64(at.Factor().Rank()), float64(m.Factor().Rank())
	for _, times := range []float64{1.1, 1.2, 1.3} {
		if next = m.truncated(int(times * rank)); at.ofBound == 0 || next == m.Model {
			break
		}
		if next.ofBound = at.ofBound; next.RankError(s) <= nearGoal*m.rankGoal() {
			return next, true
		}
	}
	if times := math.Floor(rankStep * rank); times < nearGoal*finest {
		return m.truncated(int(times)), false
	}
	return m.Model, true
}

// Ranks that Settle tries.
const (
	rankStep  = 1.4
	rankSteps = 8
	// grownSteps is that of a factor which has grown to a guessed rank: shareOfBound then knows before the last.
	grownSteps = 4
	// seenTolerance is the tolerance of solves up to which changes of the answer by the rank are seen.
	seenTolerance = 1e-4
	mostRough     = 1e-2 // tolerance of coarser solves
	nearGoal      = 0.9  // share of the goal, or of the finest rank
)

// steps is the number of coarser factors to begin with: none where K is exact to the last digits, as with
// Auto up to ApproximateFrom, where solves are rough, or where an answer has been seen already.
func (m ranks) steps(settings solver.Settings) int {
	if m.ofBound > 0 || settings.Tolerance > seenTolerance ||
		m.Spec.Storage == Auto && m.Sites() < ApproximateFrom {
		return 0
	}
	if m.grown {
		return grownSteps
	}
	return min(rankSteps, int(math.Log(float64(m.Factor().Rank())/8)/math.Log(rankStep)))
}

// rankedAnswer is a left-out error and the bound on what the rank changes of it.
type rankedAnswer struct{ value, bound float64 }

func (m ranks) answer(s *solver.Solution) rankedAnswer {
	value, _ := s.LeftOut(DefaultTest(m.Set))
	return rankedAnswer{value, m.RankError(s)}
}

// shareOfBound is the share of the bound by which the last answer is off, seen from the three before it: 0
// where there are none. The error E falls at least as the root of the bound does, and faster near the end, so
// that the last is off by no more than
//
//	(|E' - E|/E) / ((bound'/bound)^(1/2) - 1).
//
// The largest of three such values, a tenth of the largest change and 1/200 of the bound, for answers
// that pass the true one or rest before it, is below the truth in 3 of 59 problems with a goal of 1% (n =
// 2000, 2 to 13 inputs, noise from 0.1% to 10%, Huber, hinge and logistic loss), 4.2 times it in the median;
// all met the goal, with 1.4 times the smallest rank that does in the median. At 0.3% and 3% it is below 4 of
// 50 and 2 of 68.
func shareOfBound(seen []rankedAnswer) float64 {
	if len(seen) < 4 {
		return 0
	}
	last, share := seen[len(seen)-1], leastShare
	for _, before := range seen[len(seen)-4 : len(seen)-1] {
		change := math.Abs(before.value-last.value) / math.Abs(last.value) / last.bound
		share = math.Max(share, math.Max(change/(math.Sqrt(before.bound/last.bound)-1), change/10))
	}
	return share
}

// leastShare is the least share of the bound that is stated: of 87 problems it was at most 0.25.
const leastShare = 0.005

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
