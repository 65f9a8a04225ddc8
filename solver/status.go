package solver

import (
	"fmt"
	"time"
)

// Status says how good a Solution is.
type Status int

// A Solution that is not Converged still holds its last iterate and residual.
const (
	Converged  Status = iota // residual at or below the tolerance
	SweepLimit               // MaxSweeps reached
	Stalled                  // the residual stopped decreasing, even with damping
	// a factorisation broke down, or the variance equations have no positive solution
	NumericalFailure
	Cancelled // the context ended the solve
	// converged, but the error of a low-rank kernel may exceed its bound
	TooCoarse
	// did not converge, and rounding of the kernel matrix changes the answer by more than the tolerance
	Undetermined
)

var statusNames = [...]string{"converged", "sweep limit", "stalled", "numerical failure", "cancelled",
	"too coarse a rank", "undetermined by rounding"}

func (s Status) String() string { return statusNames[s] }

// Err is nil for Converged and an error that says the status otherwise.
func (s Status) Err() error {
	if s == Converged {
		return nil
	}
	return fmt.Errorf("solver: not converged: %s", s)
}

// Refreshes counts the updates of G.
type Refreshes struct {
	Exact    int `json:"exact"`    // factorisations in double precision
	Single   int `json:"single"`   // factorisations in single precision
	Woodbury int `json:"woodbury"` // low-rank updates
	Diagonal int `json:"diagonal"` // approximate diagonal steps at fixed G
}

// Stats are the counts of a solve.
type Stats struct {
	Sweeps    int // updates of d, approximate ones included
	Refreshes Refreshes
	// passes on the cavities' means and variances at fixed G (losses that are not quadratic)
	Passes int
	Damped int // damped sweeps
	Clamps int // cavity variances raised to zero
	Alone  int // examples to which the kernel carries nothing over from others
	Linear int // iterations of linear solves: for the variances, or in Newton's method
}

// Sweep is one refresh of G and the update of d that followed, as reported to Progress.
type Sweep struct {
	Number   int
	Residual float64
	Elapsed  time.Duration // since the solve began
}
