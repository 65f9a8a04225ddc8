// Package calibration computes intervals with a stated probability of a new observation, probabilities of
// classes, and measures of errors, from predictions for examples that a model was trained without.
package calibration

import (
	"fmt"
	"math"
	"slices"
)

// JackknifePlus computes the jackknife+ interval for the target at a new input (Barber, Candes, Ramdas and
// Tibshirani, Annals of Statistics 49, 2021). without[i] is the prediction at the new input by models without
// example i, and residual[i] >= 0 their absolute error on example i. With n examples and k = ceil(level
// (n+1)) the ends are
//
//	the k-th largest of without[i] - residual[i],   the k-th smallest of without[i] + residual[i],
//
// infinite if k > n (see CheckLevel). For exchangeable examples it contains the target with probability at
// least 2 level - 1 for any noise, and about level if the models hardly depend on single examples. With
// averages over resamples instead of single models it is the jackknife+-after-bootstrap (Kim, Xu and Barber
// 2020), with folds CV+. It overwrites the two slices.
func JackknifePlus(without, residual []float64, level float64) (low, high float64) {
	n := len(without)
	k := Rank(n, level)
	if k > n {
		return math.Inf(-1), math.Inf(1)
	}
	for i, f := range without {
		without[i], residual[i] = f-residual[i], f+residual[i]
	}
	slices.Sort(without)
	slices.Sort(residual)
	return without[n-k], residual[k-1]
}

// Rank is ceil(level (n+1)), within rounding of the product.
func Rank(n int, level float64) int {
	const rounding = 1e-12
	return int(math.Ceil(level * float64(n+1) * (1 - rounding)))
}

// CheckLevel refuses a level outside (0, 1), and one with an infinite interval from n left-out examples:
// level/(1-level) are needed.
func CheckLevel(level float64, n int) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("the level of an interval is %v, must lie between 0 and 1", level)
	}
	if Rank(n, level) <= n {
		return nil
	}
	return fmt.Errorf("%d left-out examples cannot support an interval that holds %v of the observations: "+
		"that takes %.0f of them, or a level of at most %.3f",
		n, level, math.Ceil(level/(1-level)-1e-9), math.Floor(1000*float64(n)/float64(n+1))/1000)
}
