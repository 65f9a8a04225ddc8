package train

import (
	"context"
	"errors"
	"math"
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

// String is the status in lower case.
func (s Status) String() string { return statuses[s].name }

// Err is nil for Converged, and otherwise the same error for every training of that status.
func (s Status) Err() error { return statuses[s].err }

// Progress detects that a maximisation has stalled. The zero value is ready.
type Progress struct {
	residual, objective float64
	begun               bool
	idle                int
}

// Update records an iteration, and returns the number since the last one with progress: a residual below 0.9
// times the smallest before, or an objective above the largest before by more than rounding.
func (p *Progress) Update(residual, objective float64) (idle int) {
	better := residual < 0.9*p.residual || objective > p.objective+1e-14*math.Abs(p.objective)
	if !p.begun {
		p.begun, better = true, true
		p.residual, p.objective = residual, objective
	}
	p.residual, p.objective = min(p.residual, residual), max(p.objective, objective)
	if p.idle++; better {
		p.idle = 0
	}
	return p.idle
}
