package multifidelity

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/retrain"
	"bootbench/solver"
)

// Agreement is how far a theory is from refined estimates of the same averages. What they do not tell is NaN.
type Agreement struct {
	ErrorOff      float64 // theory's left-out error under the first test loss over the refined one, less 1
	ErrorScore    float64 // their difference in standard errors of the refined one
	VarianceRatio float64 // median over the sites of the theory's variance over the refined one
	VarianceScore float64 // median over the sites of the size of their difference in its standard errors
	judged        bool    // a theory that is solved, by resamples enough
}

// A theory that is solved is contradicted from leastJudged resamples on: a standard error from fewer is
// no measure. Differences must be significant, large beside those of a few percent that
// are the theory's rule, and no less than a share of what predicting 0 everywhere errs by, or, of
// deviations, of the targets' root mean square.
const (
	leastJudged       = 20
	significant       = 3.0
	largeErrorOff     = 0.05
	largeVarianceSide = 2.0 // VarianceRatio above it, or below its inverse
	leastDifference   = 1e-4
)

// Against compares a solution with the estimates that refine it.
func Against(s *solver.Solution, r *retrain.Result) Agreement {
	a := Agreement{ErrorOff: math.NaN(), ErrorScore: math.NaN(), judged: s.Status == solver.Converged &&
		r.Resamples >= leastJudged}
	none, square := 0.0, 0.0 // of predictions of 0
	for _, y := range s.Problem.Y {
		square += y * y / float64(len(s.Problem.Y))
		if len(r.Tests) > 0 {
			none += r.Tests[0].Test.Value(0, y) / float64(len(s.Problem.Y))
		}
	}
	if len(r.Tests) > 0 {
		test := r.Tests[0]
		theory, _ := s.LeftOut(test.Test)
		a.ErrorOff, a.ErrorScore = theory/test.Error-1, score(theory-test.Error, test.SE,
			leastDifference*none)
	}
	var ratios, scores []float64
	for i, v := range s.Var {
		if refined := r.Variance[i]; refined > 0 {
			ratios = append(ratios, v/refined)
			scores = append(scores, math.Abs(score(v-refined, r.VarianceSE[i],
				leastDifference*leastDifference*square)))
		}
	}
	a.VarianceRatio, a.VarianceScore = median(ratios), median(scores)
	return a
}

// score is a difference in standard errors, 0 where it is at most least.
func score(difference, se, least float64) float64 {
	if math.Abs(difference) <= least {
		return 0
	}
	return difference / se
}

// median is NaN of nothing. It sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return stat.Quantile(0.5, stat.Empirical, v, nil)
}

// Contradictions say in words where the refined estimates contradict the theory; none where they do not.
func (a Agreement) Contradictions() []string {
	var all []string
	if !a.judged {
		return nil
	}
	if math.Abs(a.ErrorScore) > significant && math.Abs(a.ErrorOff) > largeErrorOff {
		all = append(all, fmt.Sprintf("its left-out error is off by %+.1f%%, %.0f standard errors", 100*a.ErrorOff,
			math.Abs(a.ErrorScore)))
	}
	if a.VarianceScore > significant && (a.VarianceRatio > largeVarianceSide ||
		a.VarianceRatio < 1/largeVarianceSide) {
		all = append(all, fmt.Sprintf("its variances are %.2g times the right ones, median over the inputs",
			a.VarianceRatio))
	}
	return all
}
