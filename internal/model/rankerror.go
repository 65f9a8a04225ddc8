package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train/gp"
)

// The residual of a low-rank factor, delta_i at site i, is kept as an independent variance of each input: it
// acts as noise in addition to the site's, 1/d_i. The predictor has about r degrees of freedom, the rank, so
// that
//
//	rankErrorFactor sum_i d_i delta_i / r
//
// bounds the relative change of the left-out error: on four sets of 8 to 10 inputs, n = 1000, noise 1e-3 to
// 1, gamma d 0.01 to 1 and ratios 0.3 to 3 the change was at most 3.2 times the sum over r, and at most 1.7
// times for all except one factor; for hinge and logistic losses at most 4.0 times, more than 1.8 in two
// models of 48 (doc/accuracy.md).
const (
	rankErrorFactor = 5

	// DefaultRankError is the default of Spec.RankError.
	DefaultRankError = 0.01

	// fineRankError is the default where Auto takes a factor because it is cheaper, not for memory or from
	// ApproximateFrom sites on: answers there have a standard error of more than 1%.
	fineRankError = 0.001

	// factorShare is the fraction of the goal that the bound of a factor for the square loss must reach at
	// d = 1/noise where it is tried whether a rank suffices.
	factorShare = 0.25

	// maxTightened is the number of times that Auto makes a finer factor after a solve.
	maxTightened = 2
)

// rankGoal is RankError or its default.
func (m *Model) rankGoal() float64 {
	if m.fine {
		return cmp.Or(m.Spec.RankError, fineRankError)
	}
	return cmp.Or(m.Spec.RankError, DefaultRankError)
}

// RankError estimates the relative error of a solution's left-out error by the approximation of the kernel
// matrix; 0 without approximation. It is the bound, or the fraction of it that Settle has observed.
func (m *Model) RankError(s *solver.Solution) float64 {
	factor := m.Factor()
	if factor == nil {
		return 0
	}
	weight := s.SitePrecision
	if m.ofBound == weightedShare {
		weight = siteWeights(s)
	}
	return cmp.Or(m.ofBound, 1) * rankErrorBound(factor, weight, m.Kernel.Jitter)
}

// siteWeights are the weights of the residuals delta_i in the bound where pivots are chosen by them: d_i,
// for the response of a site, and E xi_i^2 of its force xi_i, which moves other sites j by up to xi_i
// (delta_i delta_j)^1/2. At most examples within their margin d is nearly 0, and the force is not: by d
// alone rings were off by 24 times what was stated.
func siteWeights(s *solver.Solution) []float64 {
	weight := slices.Clone(s.SitePrecision)
	for i, g := range s.SiteMean {
		weight[i] += g*g + s.SiteVariance[i]
	}
	return weight
}

// rankErrorBound is the bound on the left-out error's change; the jitter is in the factor's residuals.
func rankErrorBound(factor *linalg.LowRankPlusDiag, d []float64, jitter float64) float64 {
	sum := 0.0
	for i, delta := range factor.Residual() {
		sum += d[i] * math.Max(0, delta-jitter)
	}
	return rankErrorFactor * sum / float64(max(1, factor.Rank()))
}

// enoughRank estimates for the square loss whether the left-out error at the present rank of a factor is
// within the goal: from the leave-one-out error of the fit to all data, with residuals (y - f)/b, at this
// and the previous ranks. That costs one refresh. Examples count twice, so that resamples of twice the data
// reach the goal, too. With little noise the estimate can be wrong: Settle checks the answer.
func enoughRank(m *Model) func(*linalg.LowRankPlusDiag) bool {
	count, mean := siteTargets(m)
	noise := loss.TraitsOf(m.Loss).Noise / 2
	d := floats.ScaleTo(make([]float64, len(count)), 1/noise, count)
	var seen []rankedAnswer
	return func(factor *linalg.LowRankPlusDiag) bool {
		f, b, err := gp.FitByEngine(on(m, factor).Matrix(), noise, count, mean)
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

// noteRank warns of a coarse factor. The solution counts as converged only if the tolerance of the factor was
// given, without a goal.
func noteRank(m *Model, s *solver.Solution, off float64) {
	change := fmt.Sprintf("%.4g%%", 100*off)
	if !(off <= 1) {
		change = "more than 100%"
	}
	s.Warnings = append(s.Warnings,
		fmt.Sprintf("rank %d may change the left-out error by %s, where %.2g%% is the goal",
			m.Rank(), change, 100*m.rankGoal()))
	if m.Spec.RankTol == 0 || m.Spec.RankError > 0 {
		s.Status = solver.TooCoarse
	}
}

// Settle is the model with a kernel matrix accurate enough for the theory of law. It is m unless K is a
// factor without a given rank: then it has the smallest rank with an error of the left-out error within
// Spec.RankError, or, with Auto, the dense matrix if that fits into memory and pays. The solution is of that
// model, nil if none was needed.
//
// For labels settleByWeight is tried first. Otherwise ranks increase by factors of at most rankStep, from
// rankSteps below the rank of m; every solve starts from the last solution, and solves that only measure a
// change of the answer have a tolerance relative to the goal. The pivots are nested, so that the changes of
// the answer predict the remaining one (ofBound).
func (m *Model) Settle(ctx context.Context, law resample.CountDistribution,
	settings solver.Settings) (*Model, *solver.Solution, error) {
	if m.Form() != LowRank || m.Spec.RankTol > 0 {
		return m, nil, nil
	}
	if m.chosen != nil {
		return settleChosen(ctx, m, law, settings)
	}
	if t := loss.TraitsOf(m.Loss); m.Labels() && !t.Quadratic && !t.Dense {
		if at, s, err := settleByWeight(ctx, m, law, &settings); err != nil || s != nil {
			return at, s, err
		}
	}
	var seen []rankedAnswer
	known, tightened, sure := m.ofBound, 0, false // the present rank probably suffices
	if m.fine {
		tightened = maxTightened // the next matrix is dense
	}
	at := truncated(m, int(float64(m.Rank())/math.Pow(rankStep, float64(coarserRanks(m, settings)))))
	for {
		coarse, roughly := at.Rank() < m.Rank(), settings
		if coarse && !sure {
			roughly.Tolerance = max(settings.Tolerance, min(mostRough, m.rankGoal()))
		}
		s, err := solve(ctx, at, law, roughly)
		if err != nil || s.Status != solver.Converged {
			if at.fine && err == nil && s.Status != solver.Cancelled {
				whole, err := wholeMatrix(ctx, at)
				return on(at, whole), nil, err
			}
			return at, s, err
		}
		at.ofBound = 0
		seen = append(seen, rankAnswer(at, s))
		at.ofBound = cmp.Or(shareOfBound(seen), known)
		off := at.RankError(s)
		// drops the old factor
		settings.From = &solver.Solution{SitePrecision: s.SitePrecision, Cavity: s.Cavity}
		switch {
		case off <= m.rankGoal():
			if roughly.Tolerance > settings.Tolerance {
				s, err = solve(ctx, at, law, settings)
			}
			return at, s, err
		case coarse:
			at, sure = nextRank(m, at, s)
			continue
		case m.grown: // the estimate was wrong
			fine := on(m, m.K)
			fine.grown, fine.byBound = false, true
			k, err := makeMatrix(ctx, fine)
			if hold(fine, k); err != nil || fine.Form() == Exact {
				return fine, nil, err
			}
			return fine.Settle(ctx, law, settings)
		}
		var finer linalg.Kernel
		if m.Spec.Storage == Auto {
			finer, err = finerMatrix(ctx, at, off, tightened)
		}
		if tightened++; err != nil || finer == nil {
			noteRank(at, s, off)
			return at, s, err
		}
		if at = on(at, finer); at.Form() == Exact {
			return at, nil, nil
		}
	}
}

// settleByWeight is Settle where few sites feel what a factor leaves out: labels with a soft margin. A rough
// solve on a coarse factor finds the weights of the sites, by which the pivots of the next factor are chosen.
// Where weights grew much with the rank, a further one follows. There is no solution if the rank would be
// more than weightedRanks times the first one, or the solve fails; settings.From is then the last iterate.
func settleByWeight(ctx context.Context, m *Model, law resample.CountDistribution,
	settings *solver.Settings) (*Model, *solver.Solution, error) {
	at, roughly := m, *settings
	if m.ofBound != weightedShare {
		all := slices.Repeat([]float64{1}, m.Sites())
		variance := floats.Sum(linalg.Diagonal(m.K)) - float64(m.Sites())*m.Spec.Kernel.Constant
		at = truncated(m, m.Factor().SmallestRank(all, func(_ int, sum float64) bool {
			return sum <= coarseResidual*variance
		}))
		roughly.Tolerance = max(settings.Tolerance, mostRough)
	}
	columns, err := kernelColumns(m)
	limit := linalg.RankOptions{MaxRank: weightedRanks * max(1, at.Rank()), MaxBytes: rankBytes(m),
		PerRank: nearGoal * m.rankGoal() / (rankErrorFactor * weightedShare)}
	if m.fine {
		limit.MaxRank = min(limit.MaxRank, m.Sites()/worthNewton)
	}
	if m.Spec.MaxRank > 0 {
		limit.MaxRank = min(limit.MaxRank, m.Spec.MaxRank)
	}
	if m.MaxBytes > 0 { // beside the present factor
		limit.MaxBytes = max(1, limit.MaxBytes-linalg.LowRankBytes(m.Sites(), m.Rank()))
	}
	for try := 0; err == nil && try <= maxTightened+1; try++ {
		s, err := solve(ctx, at, law, roughly)
		if err != nil || s.Status == solver.Cancelled {
			return at, s, err
		}
		settings.From = &solver.Solution{SitePrecision: s.SitePrecision, Cavity: s.Cavity}
		last := roughly.Tolerance == settings.Tolerance
		switch {
		case s.Status == solver.NumericalFailure || last && s.Status != solver.Converged:
			return m, nil, nil
		case last && at.RankError(s) <= m.rankGoal():
			return at, s, nil
		}
		limit.Weight, roughly = siteWeights(s), *settings
		factor, err := linalg.PivotedCholesky(ctx, columns, limit)
		if errors.Is(err, linalg.ErrRank) {
			break
		} else if err != nil {
			return m, nil, err
		}
		at = on(m, jittered(m, factor))
		at.ofBound = weightedShare
	}
	return m, nil, err
}

// truncated is the model on the first pivots of its factor; m if it has no more.
func truncated(m *Model, rank int) *Model {
	if rank >= m.Rank() {
		return m
	}
	return on(m, m.Factor().Truncate(rank))
}

// nextRank is the model of the next rank if the answer of at is not accurate enough: rankStep times its
// rank, or less if the bound there reaches the goal.
func nextRank(m *Model, at *Model, s *solver.Solution) (next *Model, sure bool) {
	rank, finest := float64(at.Rank()), float64(m.Rank())
	for _, times := range []float64{1.1, 1.2, 1.3} {
		if next = truncated(m, int(times*rank)); at.ofBound == 0 || next == m {
			break
		}
		if next.ofBound = at.ofBound; next.RankError(s) <= nearGoal*m.rankGoal() {
			return next, true
		}
	}
	if times := math.Floor(rankStep * rank); times < nearGoal*finest {
		return truncated(m, int(times)), false
	}
	return m, true
}

// Ranks that Settle tries.
const (
	rankStep  = 1.4
	rankSteps = 8
	// grownSteps is the number for a factor of estimated rank: shareOfBound is then known before the last.
	grownSteps = 4
	// seenTolerance is the largest tolerance of solves that resolve changes of the answer by the rank.
	seenTolerance = 1e-4
	mostRough     = 1e-2 // tolerance of coarser solves
	nearGoal      = 0.9  // fraction of the goal, or of the finest rank
	// coarseResidual is the mean residual, relative to the kernel's variance, of the factor that
	// settleByWeight begins with.
	coarseResidual = 1e-2
	// weightedShare is the fraction of the bound that is stated where pivots are chosen by weight: in 72
	// models of labels (doc/accuracy.md) the median change was 0.015 of what is stated, and 2 were larger.
	weightedShare = 0.5
	weightedRanks = 3
)

// coarserRanks is the number of coarser factors to begin with: none if K is exact to rounding, as with Auto
// up to ApproximateFrom, if solves are rough, or if ofBound is known.
func coarserRanks(m *Model, settings solver.Settings) int {
	if m.ofBound > 0 || settings.Tolerance > seenTolerance ||
		m.Spec.Storage == Auto && m.Sites() < ApproximateFrom && !m.fine {
		return 0
	}
	if m.grown {
		return grownSteps
	}
	return min(rankSteps, int(math.Log(float64(m.Rank())/8)/math.Log(rankStep)))
}

// rankedAnswer is a left-out error, the bound of its change by the rank, and the error that is stated, 0 if
// none is.
type rankedAnswer struct {
	rank                int
	value, bound, error float64
}

func rankAnswer(m *Model, s *solver.Solution) rankedAnswer {
	value, _ := s.LeftOut(DefaultTest(m.Set))
	return rankedAnswer{m.Rank(), value, m.RankError(s), 0}
}

// shareOfBound estimates the error of the last answer as a fraction of its bound, from the three previous
// ones: 0 without these. The error decreases at least like the root of the bound, and faster near the end,
// so that the last one is at most
//
//	(|E' - E|/E) / ((bound'/bound)^(1/2) - 1).
//
// The estimate is the largest of three such values, a tenth of the largest change and 1/200 of the bound,
// since answers may cross the true one or pause. It was too small in 3 of 59 problems with a goal of 1% (n =
// 2000, 2 to 13 inputs, noise from 0.1% to 10%, Huber, hinge and logistic loss), and 4.2 times the error in
// the median; all reached the goal, with 1.4 times the smallest sufficient rank in the median. At goals of
// 0.3% and 3% it was too small in 4 of 50 and 2 of 68.
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

// leastShare is the least reported fraction of the bound; it was at most 0.25 in 87 problems.
const leastShare = 0.005

// finerMatrix is a kernel matrix that replaces a factor that is too coarse; nil if none fits into memory.
func finerMatrix(ctx context.Context, m *Model, off float64, tightened int) (linalg.Kernel, error) {
	exactError := checkExact(m)
	if tightened < maxTightened {
		most := m.Spec.MaxRank
		if exactError == nil {
			most = m.Sites() / worthRank
		}
		trace, _ := m.Factor().Accuracy()
		k, err := factorise(ctx, m, trace*m.rankGoal()/(2*off), most)
		if err == nil || !errors.Is(err, linalg.ErrRank) && !errors.Is(err, linalg.ErrMemory) {
			return k, err
		}
	}
	if exactError != nil {
		return nil, nil
	}
	return wholeMatrix(ctx, m)
}
