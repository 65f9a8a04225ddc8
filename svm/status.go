package svm

import "errors"

// Status says how good a Result is.
type Status int

const (
	// Converged: no example violates the Kuhn-Tucker conditions by more than the
	// tolerance.
	Converged Status = iota
	// IterationLimit: Settings.MaxIterations was reached.
	IterationLimit
	// Stalled: rounding keeps the violation above the tolerance. K is too
	// ill-conditioned for it; the violation reached is in the Certificate.
	Stalled
	// Diverged: the dual rises for ever. The hard margins contradict each other
	// to working precision, those of Result.Conflict foremost.
	Diverged
)

// String is the status in lower case.
func (s Status) String() string {
	switch s {
	case Converged:
		return "converged"
	case IterationLimit:
		return "iteration limit"
	case Stalled:
		return "stalled"
	case Diverged:
		return "diverged"
	}
	return "unknown status"
}

// The errors that Status.Err returns.
var (
	ErrIterationLimit = errors.New("support vector training reached its iteration limit")
	ErrStalled        = errors.New("support vector training cannot reach its tolerance: the kernel matrix is too ill-conditioned; add a jitter")
	ErrDiverged       = errors.New("the hard margins contradict each other to working precision; use a soft margin or add a jitter")
)

// Err is nil for Converged and one of this package's errors otherwise.
func (s Status) Err() error {
	switch s {
	case IterationLimit:
		return ErrIterationLimit
	case Stalled:
		return ErrStalled
	case Diverged:
		return ErrDiverged
	}
	return nil
}
