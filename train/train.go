// Package train is what exact trainers on a kernel matrix share: weighted training sets, the sites of their
// examples, trained predictors, and the status of an iteration. Package machine chooses the trainer of a loss
// between Gaussian processes (gp), support vector machines (svm) and proximal Newton (erm).
//
// A site is a distinct input; K is known between all M sites. Several of the N examples may share a site. A
// site is active in a training set that holds an example of it; no time is spent on the others.
package train

import (
	"errors"
	"fmt"
	"math"
)

// Trainer trains one weighted training set after the other over the same N examples. It serves one goroutine.
type Trainer interface {
	// Fit trains with weights >= 0, not all 0, and targets of the examples, and overwrites f with the
	// predictions at the sites, which the trainer knows, followed by those at new inputs. It keeps no slice.
	Fit(set Set, f []float64) error
}

// Result is a trained predictor. Its slices belong to its trainer and hold until that trains again.
type Result struct {
	// Weight are the weights of the M sites: f at an input x is sum_s Weight_s K(x, x_s) + Bias.
	Weight []float64
	// F is f at the sites.
	F []float64
	// Bias is 0 without one.
	Bias float64
	// Status says whether the tolerance was met.
	Status Status
}

// Settings say when an iterative trainer ends. Zeros mean its defaults.
type Settings struct {
	// Tolerance is the largest residual of a converged training; the trainer's default says of which measure.
	Tolerance float64
	// Limit bounds the iterations: coordinate steps of svm, Newton steps of erm, sweeps of EP.
	Limit int
}

// Default sets zeros to the given values, and refuses settings that are not positive and finite.
func (s *Settings) Default(tolerance float64, limit int) error {
	return errors.Join(Default("the tolerance", &s.Tolerance, tolerance),
		Default("the iteration limit", &s.Limit, limit))
}

// Default sets a setting that is zero to its default value, and refuses one that is not positive and finite.
func Default[T int | float64](name string, setting *T, value T) error {
	if setting == nil {
		return fmt.Errorf("there is nowhere to set %s", name)
	}
	if *setting == 0 {
		*setting = value
	}
	if !(*setting > 0) || math.IsInf(float64(*setting), 1) {
		return fmt.Errorf("%s must be positive, got %v", name, *setting)
	}
	return nil
}

// Room is the order that a trainer allocates at n active sites of most: the number varies between resamples.
func Room(n, most int) int { return min(n+n/16+8, max(n, most)) }
