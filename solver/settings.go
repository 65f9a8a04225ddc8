package solver

import (
	"cmp"
	"fmt"

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

// Settings steer a solve. The zero value means the defaults.
type Settings struct {
	Method    Method    // default ADATAP
	Plain     bool      // refresh G exactly at every sweep, and accelerate nothing: for comparison
	Tolerance float64   // residual at convergence, see Solution.Residual; default 1e-6
	MaxSweeps int       // exact or low-rank refreshes of G at most; default 1000
	From      *Solution // of a neighbouring problem on the same sites, to start from; default: M03-61/62

	// MaxBytes is the memory that a loss that is not quadratic may take beside the kernel matrix and its
	// engine; default: what the system has left. Newton's method, and after it a factor of a nearly singular
	// K, are left out where they would not fit (see WorkspaceBytes); below 0 there is room for neither.
	MaxBytes int64

	// Engine makes the engine that keeps G; default the kernel's own.
	Engine func(linalg.Kernel) linalg.Engine
	// Progress, if set, is told of every sweep as it ends.
	Progress func(Sweep)
}

// DefaultTolerance is the Tolerance of zero Settings.
const DefaultTolerance = 1e-6

// DefaultMaxSweeps is the MaxSweeps of zero Settings.
const DefaultMaxSweeps = 1000

func (s Settings) withDefaults(sites int) (Settings, error) {
	s.Tolerance = cmp.Or(s.Tolerance, DefaultTolerance)
	s.MaxSweeps = cmp.Or(s.MaxSweeps, DefaultMaxSweeps)
	if s.Engine == nil {
		s.Engine = linalg.Kernel.Engine
	}
	switch {
	case !(s.Tolerance > 0 && s.Tolerance < 1):
		return s, badProblem("tolerance is %v, must lie in (0, 1)", s.Tolerance)
	case s.MaxSweeps < 0:
		return s, badProblem("sweep limit is %d, must be at least 1", s.MaxSweeps)
	case s.Method < 0 || int(s.Method) >= len(methodNames):
		return s, badProblem("no method %d", int(s.Method))
	case s.From != nil && (len(s.From.Cavity) != sites || len(s.From.SitePrecision) != sites):
		return s, badProblem("a solution of %d sites to start from, for %d sites", len(s.From.SitePrecision), sites)
	}
	return s, nil
}
