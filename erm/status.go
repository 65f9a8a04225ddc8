package erm

import "errors"

// Status says how good a Result is.
type Status int

const (
	// Converged: the gap is within the tolerance.
	Converged Status = iota
	// StepLimit: Settings.MaxSteps was reached.
	StepLimit
	// Stalled: rounding keeps the gap above the tolerance. K is too
	// ill-conditioned for it; Result.Gap says what was reached.
	Stalled
	// Diverged: the dual rises for ever. Hard constraints at several sites
	// contradict each other to working precision.
	Diverged
)

// String is the status in lower case.
func (s Status) String() string {
	switch s {
	case Converged:
		return "converged"
	case StepLimit:
		return "step limit"
	case Stalled:
		return "stalled"
	case Diverged:
		return "diverged"
	}
	return "unknown status"
}

// The errors that Status.Err returns.
var (
	ErrStepLimit = errors.New("training reached its step limit")
	ErrStalled   = errors.New("training cannot reach its tolerance: the kernel matrix is too ill-conditioned; add a jitter")
	ErrDiverged  = errors.New("the hard constraints of the training set contradict each other to working precision; use a softer loss or add a jitter")
)

// Err is nil for Converged and one of this package's errors otherwise.
func (s Status) Err() error {
	switch s {
	case StepLimit:
		return ErrStepLimit
	case Stalled:
		return ErrStalled
	case Diverged:
		return ErrDiverged
	}
	return nil
}
