// Package train is the common ground of the trainers gp, svm and erm, and of
// those who resample them: which example sits on which site, weighted training
// sets, the kernel matrix between the active sites, and the status in which an
// iteration ends.
//
// A site is a distinct input; K is known between all M sites. Several of the N
// examples may share a site. A site is active in a training set that holds an
// example of it; no time is spent on the others.
package train

import (
	"fmt"
	"math"
)

// Resize returns s with length n, in new memory only where the old does not
// suffice. The elements are undefined.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Default sets a setting that is zero to its default value, and refuses one that
// is not positive and finite.
func Default[T int | float64](name string, setting *T, value T) error {
	if *setting == 0 {
		*setting = value
	}
	if !(*setting > 0) || math.IsInf(float64(*setting), 1) {
		return fmt.Errorf("%s must be positive, got %v", name, *setting)
	}
	return nil
}
