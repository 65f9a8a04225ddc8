package solver

import (
	"errors"
	"fmt"
	"time"

	"bootbench/linalg"
	"bootbench/loss"
)

// run is a solve in progress.
type run struct {
	*Solution
	problem   Problem
	settings  Settings
	quadratic []loss.Quadratic
	began     time.Time
}

// enabled reports whether a solve may use a means.
func (r *run) enabled(a Accelerations) bool { return r.settings.Disable&a == 0 }

// asProblem marks a kernel matrix that does not factorise as a fault of the
// problem.
func asProblem(err error) error {
	var pivot *linalg.PivotError
	if errors.As(err, &pivot) {
		return fmt.Errorf("%w: %w", ErrProblem, err)
	}
	return err
}
