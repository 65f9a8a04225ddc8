package solver

import (
	"cmp"

	"bootbench/linalg"
)

// Method is an approximation of the resampling average.
type Method int

// The approximations that M03 figure 1 compares.
const (
	ADATAP      Method = iota // adaptive TAP (T4-T6): the theory
	StartOnly                 // "approximate ADATAP": the start value of d, not iterated
	Variational               // variational Gaussian
	MeanField                 // factorising
)

var methodNames = [...]string{"adatap", "start", "variational", "meanfield"}

func (m Method) String() string { return methodNames[m] }

// Settings of a solve. The zero value means the defaults.
type Settings struct {
	Method    Method  // default ADATAP
	Steps     Steps   // default MixedSteps, the fastest; the others are for comparison
	Tolerance float64 // residual at convergence, see Solution.Residual; default 1e-6
	MaxSweeps int     // exact or low-rank refreshes of G at most; default 1000
	// From is the start: the solution of a neighbouring problem on the same sites, or, for the square loss,
	// its cavities' C alone; default: M03-61/62.
	From *Solution

	// MaxBytes is the memory for a loss that is not quadratic, without the kernel matrix and its engine;
	// default: the free memory of the system. Newton's method, and then a factor of a nearly singular K, are
	// omitted if they do not fit (see WorkspaceBytes); below 0 both are.
	MaxBytes int64

	// Engine makes the engine of G; default: the kernel's.
	Engine func(linalg.Kernel) linalg.Engine
	// Progress, if set, is called after every sweep.
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
	case s.Steps < 0 || int(s.Steps) >= len(stepsNames):
		return s, badProblem("no steps %d", int(s.Steps))
	case s.From != nil && (len(s.From.Cavity) != sites ||
		s.From.SitePrecision != nil && len(s.From.SitePrecision) != sites):
		return s, badProblem("a solution of %d sites to start from, for %d sites",
			max(len(s.From.Cavity), len(s.From.SitePrecision)), sites)
	}
	return s, nil
}
