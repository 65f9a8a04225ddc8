package train

import (
	"context"
	"errors"
)

// Status says how the iteration of a training ended.
type Status int

const (
	// Converged: the residual is within the tolerance.
	Converged Status = iota
	// IterationLimit: the largest number of iterations was reached.
	IterationLimit
	// Stalled: the residual stays above the tolerance; if the problem is convex, rounding errors are why.
	Stalled
	// NoFixedPoint: expectation propagation has stalled.
	NoFixedPoint
	// Diverged: the dual grows without bound, since hard constraints contradict each other up to rounding.
	Diverged
	// Cancelled: Set.Stop ended it.
	Cancelled
)

var statuses = [...]struct {
	name string
	err  error
}{
	Converged:      {"converged", nil},
	IterationLimit: {"iteration limit", errors.New("training reached its iteration limit")},
	Stalled: {"stalled", errors.New(
		"training cannot reach its tolerance: the kernel matrix is too ill-conditioned; add a jitter")},
	NoFixedPoint: {"stalled", errors.New("expectation propagation does not converge")},
	Diverged: {"diverged", errors.New("the hard margins contradict each other to working precision: " +
		"take a soft margin, a kernel that separates the classes, or a jitter")},
	Cancelled: {"cancelled", context.Canceled},
}

// String is the status in lower case; Err is nil for Converged, and otherwise the same error for every
// training.
func (s Status) String() string { return statuses[s].name }
func (s Status) Err() error     { return statuses[s].err }
