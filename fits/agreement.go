package fits

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/loss"
	"bootbench/solver"
)

// Limits of a contradiction of the theory, from leastJudged resamples on. Differences must be significant,
// much larger than the few percent usual for the theory, and at least a fraction of the error of predicting
// 0, or, for deviations, of the targets' root mean square. One of errors must also be worth an example: of n,
// 1/n of wrong labels, or else of twice the error of predicting 0, which has half of the labels wrong.
const (
	leastJudged        = 20
	significant        = 3.0  // standard errors
	largeErrorOff      = 0.05 // of the refined error
	largeVarianceRatio = 2.0  // or below its inverse
	leastDifference    = 1e-4
)

// Against compares a solution with its refined estimates: it returns the median over the sites of the ratio
// of the variances, NaN if there is none, and descriptions of contradictions.
func Against(s *solver.Solution, r *Averages) (varianceRatio float64, contradictions []string) {
	y, n := s.Problem.Y, float64(len(s.Problem.Y))
	var ratios, scores []float64 // in standard errors
	least := leastDifference * leastDifference * floats.Dot(y, y) / n
	for i, v := range s.Var {
		if refined := r.Variance[i]; refined > 0 {
			ratios = append(ratios, v/refined)
			score := math.Abs(v-refined) / r.VarianceSE[i]
			if math.Abs(v-refined) <= least {
				score = 0
			}
			scores = append(scores, score)
		}
	}
	varianceRatio = median(ratios)
	if s.Status != solver.Converged || r.Resamples < leastJudged {
		return varianceRatio, nil
	}
	if len(r.Tests) > 0 {
		test, none := r.Tests[0], 0.0 // none: the loss of predictions of 0
		for _, y := range y {
			none += test.Test.Value(0, y) / n
		}
		theory, _ := s.LeftOut(test.Test)
		off, ratio := math.Abs(theory-test.Error), theory/test.Error
		if loss.TraitsOf(test.Test).Quadratic {
			ratio = math.Sqrt(ratio)
		}
		least := max(leastDifference, 2/n) * none
		if off > max(significant*test.SE, largeErrorOff*math.Abs(test.Error), least) {
			text := fmt.Sprintf("its left-out error is %.4g times the right one, off by %.0f standard errors",
				ratio, off/test.SE)
			if !(test.Error > 0 && test.SE > 0) {
				text = fmt.Sprintf("its left-out error is off by %.4g", off)
			}
			contradictions = append(contradictions, text)
		}
	}
	if median(scores) > significant && !(varianceRatio <= largeVarianceRatio &&
		varianceRatio >= 1/largeVarianceRatio) {
		contradictions = append(contradictions, fmt.Sprintf(
			"its variances are %.2g times the right ones, median over the inputs", varianceRatio))
	}
	return varianceRatio, contradictions
}

// median of none is NaN. It sorts v.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return stat.Quantile(0.5, stat.Empirical, v, nil)
}
