package batch

import (
	"context"
	"errors"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/train"
)

// Settings of batch training. The zero value means the defaults.
type Settings struct {
	// Tolerance is the largest residual of a fit, over sites, in standard deviations of the predictor over
	// resamples: the distance of the prediction at a site from the optimum given the other sites (the violation
	// of its Kuhn-Tucker condition). 0 means DefaultTolerance.
	Tolerance float64
	// MaxIterations is the number of iterations after which a fit is left to the exact trainer; 0 means
	// DefaultMaxIterations.
	MaxIterations int
	// Single leaves every fit to the exact trainer.
	Single bool
	// FirstIterate also outputs the f of the first iteration: see Trainer.Outputs.
	FirstIterate bool
}

// The defaults of the zero Settings.
const (
	DefaultTolerance     = 1e-3
	DefaultMaxIterations = 100
)

// depth is the number of past iterates that Anderson's method combines.
const depth = 6

// Blocks run in double precision if the tolerance or the cavities require it: the rounding of single
// precision is about 1e-6 of a standard deviation, times 1/b, and its range is too small for G at targets of
// 1e30.
const (
	singleTolerance = 1e-5
	singleInverseB  = 1e3
	singleRange     = 1e24
)

// Trainer is batch training bound to its data, shared by the blocks of all workers.
type Trainer struct {
	surrogate *surrogate
	examples  *examples
	settings  Settings
	extra     blas64.General // P x M: f at the new inputs = extra xi
	newExact  func() (train.Trainer, error)

	// NewBlock makes a block, see newBlocks.
	NewBlock func() func(ctx context.Context, fits []Fit)
	counts   counters
}

// counters count over all blocks.
type counters struct{ fits, iterations, left atomic.Int64 }

// Stats are counts over the blocks of a Trainer.
type Stats struct {
	Fits       int // resamples that reached the tolerance
	Iterations int // their iterations
	Exact      int // resamples left to the exact trainer
}

// Stats are the counts so far.
func (t *Trainer) Stats() Stats {
	return Stats{int(t.counts.fits.Load()), int(t.counts.iterations.Load()), int(t.counts.left.Load())}
}

// New prepares batch training around a theory. extra, P x M, maps xi to the predictions at P new inputs
// (linalg: k(x)'(I + diag(d)K)^-1); the zero value means none. newExact makes a trainer for fits that do not
// converge.
func New(theory Theory, p Problem, extra blas64.General, newExact func() (train.Trainer, error),
	s Settings) (*Trainer, error) {
	surrogate, err := newSurrogate(theory)
	if err != nil {
		return nil, err
	}
	if err := p.Site.Check(p.N, len(surrogate.c)); err != nil {
		return nil, err
	}
	err = errors.Join(train.Default("the tolerance", &s.Tolerance, DefaultTolerance),
		train.Default("the limit of iterations", &s.MaxIterations, DefaultMaxIterations))
	if err != nil {
		return nil, err
	}
	t := &Trainer{surrogate: surrogate, examples: newExamples(p, len(surrogate.c)), settings: s, extra: extra,
		newExact: newExact}
	if t.settings.Tolerance < singleTolerance || !surrogate.suitsSingle() {
		t.NewBlock = newBlocks[float64](t)
		surrogate.boundRounding(doubleRounding)
	} else {
		t.NewBlock = newBlocks[float32](t)
		surrogate.boundRounding(singleRounding)
	}
	return t, nil
}

// Bytes is the memory of blocks of that many fits in single precision, one per worker.
func Bytes(workers, sites, fits int) int64 {
	const number = 4
	return int64(workers*fits) * int64(sites) * (number*int64(3+2*depth) + 8)
}

// Sites is the number M of sites.
func (t *Trainer) Sites() int { return len(t.surrogate.c) }

// BlockSize is the number of fits in a block: few if they are trained one by one, for an even load.
func (t *Trainer) BlockSize() int {
	if t.settings.Single {
		return BlockSize / 4
	}
	return SizeOfBlock(t.Sites())
}

// Outputs is the length of Fit.F: the M + P predictions at the sites and new inputs, then with
// Settings.FirstIterate those of the first iterate.
func (t *Trainer) Outputs() int {
	if t.settings.FirstIterate {
		return 2 * t.inputs()
	}
	return t.inputs()
}

// inputs is M + P.
func (t *Trainer) inputs() int { return t.Sites() + t.extra.Rows }
