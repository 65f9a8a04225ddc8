// Package calibration turns predictions for examples that a model has not seen into what
// a reader acts on: intervals that hold a new observation with a stated probability, and
// probabilities of a class. It knows nothing of how the predictions were made.
package calibration

import (
	"fmt"
	"math"
	"slices"
)

// JackknifePlus computes the jackknife+ interval for the target at a new input (Barber, Candes, Ramdas and
// Tibshirani, Annals of Statistics 49, 2021). Of the models that lack example i, without[i] is their
// prediction at the new input, and residual[i] >= 0 by how much they miss the target of example i. With n
// examples and k = ceil(level (n+1)) the ends are
//
//	the k-th largest of without[i] - residual[i],   the k-th smallest of without[i] + residual[i],
//
// infinite where k > n (see CheckLevel). Whatever the noise, exchangeable examples make it hold the target
// with probability at least 2 level - 1, and about level where the models hardly depend on any one example.
// Averages over resamples in the place of single models make it the jackknife+-after-bootstrap (Kim, Xu and
// Barber 2020), folds CV+. It overwrites the two slices.
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

// CheckLevel refuses a level outside of (0, 1), and one whose interval from n left-out
// examples would be infinite: there must be level/(1-level) of them.
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
