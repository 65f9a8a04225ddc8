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
	settings  Settings
	quadratic []loss.Quadratic
	began     time.Time
}

// reportProgress calls Settings.Progress.
func (r *run) reportProgress(sweep int, residual float64) {
	if r.settings.Progress != nil {
		r.settings.Progress(Sweep{Number: sweep, Residual: residual, Elapsed: time.Since(r.began)})
	}
}

// asProblem marks a kernel matrix that does not factorise as a fault of the problem.
func asProblem(err error) error {
	var pivot *linalg.PivotError
	if errors.As(err, &pivot) {
		return fmt.Errorf("%w: %w", ErrProblem, err)
	}
	return err
}
