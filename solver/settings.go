package solver

import (
	"fmt"
	"math"
	"time"

	"bootbench/linalg"
)

// Method is the approximation that is solved.
type Method int

// The approximations that M03 figure 1 compares.
const (
	ADATAP      Method = iota // adaptive TAP (T4-T6): the theory
	StartOnly                 // "approximate ADATAP": the start value of d, not iterated
	Variational               // variational Gaussian
	MeanField                 // factorising
)

var methodNames = [...]string{"adatap", "start", "variational", "meanfield"}

func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// MethodByName is the method that String names.
func MethodByName(name string) (Method, error) {
	for m, n := range methodNames {
		if n == name {
			return Method(m), nil
		}
	}
	return 0, fmt.Errorf("no method %q (there are adatap, start, variational, meanfield)", name)
}

// Steps is how G follows d from sweep to sweep.
type Steps int

// Mixed puts approximate diagonal steps between exact refreshes, and low-rank
// updates in the place of refreshes when few sites move (M03 appendix A).
// ExactOnly refreshes G exactly at every sweep: the plain version. For losses that
// are not quadratic it also leaves out passes, acceleration, Newton's method and
// paths.
const (
	Mixed Steps = iota
	ExactOnly
)

// Skip is a set of what Mixed steps leave out, to measure what each brings.
type Skip int

// SkipSingle is of all losses, SkipNewton of those that are not quadratic, the others
// of square loss.
const (
	SkipSingle Skip = 1 << iota // refreshes in single precision
	SkipUpdate                  // low-rank updates
	SkipNewton                  // Newton's method and paths
	SkipCoarse                  // coarser kernels within a low-rank one
)

// Settings steer a solve. The zero value means the defaults.
type Settings struct {
	Method    Method    // default ADATAP
	Steps     Steps     // default Mixed
	Skip      Skip      // default none
	Tolerance float64   // residual at convergence, see Solution.Residual; default 1e-6
	MaxSweeps int       // exact or low-rank refreshes of G at most; default 1000
	Start     []float64 // d to start from, one per site; default: M03-61/62
	From      *Solution // a Solution of a neighbouring problem on the same sites to start from, in the place of Start; default: none
	Seed      uint64    // of the random subset that the start value is computed from; default 0

	// MaxBytes is the memory that a loss that is not quadratic may take beside the kernel
	// matrix and its engine; default: what the system has left. Newton's method, and
	// after it a factor of a nearly singular K, are left out where they would not fit
	// (see MarginBytes); below 0 there is room for neither. On ranks it must be given, the
	// same on all.
	MaxBytes int64

	// Engine makes the engine that keeps G; default the kernel's own.
	Engine func(linalg.Kernel) linalg.Engine
	// Progress, if set, is told of every sweep as it ends.
	Progress func(Sweep)

	// Checkpoint, if set, is handed after every sweep what a later Solve of the same
	// problem needs to go on from there. An error does not end the solve: it becomes
	// a warning of the Solution. The mean-field method has no sweeps.
	Checkpoint func(*State) error
	// Resume is a State of the same problem to go on from, in the place of a start
	// value. The tolerance, the sweep limit and the engine may be other ones. From
	// must be the same. Default: none.
	Resume *State
}

// DefaultTolerance is the Tolerance of zero Settings.
const DefaultTolerance = 1e-6

// DefaultMaxSweeps is the MaxSweeps of zero Settings.
const DefaultMaxSweeps = 1000

func (s Settings) withDefaults(sites int) (Settings, error) {
	if s.Tolerance == 0 {
		s.Tolerance = DefaultTolerance
	}
	if s.MaxSweeps == 0 {
		s.MaxSweeps = DefaultMaxSweeps
	}
	if s.Engine == nil {
		s.Engine = linalg.Kernel.Engine
	}
	if s.From != nil {
		if len(s.From.Cavity) != sites || len(s.From.SitePrecision) != sites {
			return s, badProblem("a solution of %d sites to start from, for %d sites", len(s.From.SitePrecision), sites)
		}
		s.Start = s.From.SitePrecision
	}
	switch {
	case !(s.Tolerance > 0 && s.Tolerance < 1):
		return s, badProblem("tolerance is %v, must lie in (0, 1)", s.Tolerance)
	case s.MaxSweeps < 0:
		return s, badProblem("sweep limit is %d, must be at least 1", s.MaxSweeps)
	case s.Method < 0 || int(s.Method) >= len(methodNames):
		return s, badProblem("no method %d", int(s.Method))
	case s.Steps != Mixed && s.Steps != ExactOnly:
		return s, badProblem("no kind of steps %d", int(s.Steps))
	case s.Start != nil && len(s.Start) != sites:
		return s, badProblem("%d start values for %d sites", len(s.Start), sites)
	}
	if s.Resume != nil {
		if err := s.Resume.check(sites); err != nil {
			return s, err
		}
	}
	for i, d := range s.Start {
		if !(d >= 0) || math.IsInf(d, 1) {
			return s, badProblem("start value of site %d is %v, must be finite and >= 0", i+1, d)
		}
	}
	return s, nil
}

// Refreshes counts how G was moved.
type Refreshes struct {
	Exact    int `json:"exact"`    // factorisations in double precision
	Single   int `json:"single"`   // factorisations in single precision
	Woodbury int `json:"woodbury"` // low-rank updates
	Diagonal int `json:"diagonal"` // approximate diagonal steps, without moving G
}

// Stats says what a solve did.
type Stats struct {
	Sweeps    int       // updates of d, approximate ones included
	Refreshes Refreshes // what they cost
	Passes    int       // passes on the cavities' means and variances while G stayed (losses that are not quadratic)
	Damped    int       // sweeps that took a part of the step only
	Clamps    int       // cavity variances raised to zero
	Capped    int       // sites whose d is held at the most that rounding gives a meaning to (losses that are not quadratic)
	Linear    int       // iterations of linear solves: for the variances, or in Newton's method
}

// Sweep is one refresh of G and the update of d that followed, as told to Progress.
type Sweep struct {
	Number    int
	Kind      string // "exact", "single", "woodbury"
	Residual  float64
	Elapsed   time.Duration // since the solve began
	Step      time.Duration // that moving G took
	Moved     int           // sites that moved by more than a tenth of the tolerance
	Estimates int           // approximate diagonal steps since the solve began
}

// Status says how good a Solution is.
type Status int

// A Solution that is not Converged still holds its last iterate and residual.
const (
	Converged        Status = iota // residual at or below the tolerance
	SweepLimit                     // MaxSweeps reached
	Stalled                        // the residual no longer falls, damping or not
	NumericalFailure               // a factorisation broke down, or the variance equations have no positive solution
	Cancelled                      // the context ended the solve
)

var statusNames = [...]string{"converged", "sweep limit", "stalled", "numerical failure", "cancelled"}

func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Err is nil for Converged and an error that says the status otherwise.
func (s Status) Err() error {
	if s == Converged {
		return nil
	}
	return fmt.Errorf("solver: not converged: %s", s)
}
