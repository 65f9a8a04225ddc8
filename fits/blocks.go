package fits

import (
	"context"
	"errors"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/train"
)

// BlockSettings of batch training. The zero value means the defaults.
type BlockSettings struct {
	// Tolerance is the largest residual of a fit, over sites, in standard deviations of the predictor over
	// resamples: the distance of the prediction at a site from the optimum given the other sites (the
	// violation of its Kuhn-Tucker condition). 0 means DefaultBlockTolerance.
	Tolerance float64
	// MaxIterations is the number of iterations after which a fit is left to the exact trainer; 0 means
	// DefaultBlockIterations.
	MaxIterations int
	// Single leaves every fit to the exact trainer.
	Single bool
	// FirstIterate also outputs the f of the first iteration: see Blocks.Outputs.
	FirstIterate bool
}

// The defaults of the zero BlockSettings.
const (
	DefaultBlockTolerance  = 1e-3
	DefaultBlockIterations = 100
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

// Blocks is batch training bound to its data, shared by the blocks of all workers.
type Blocks struct {
	surrogate *surrogate
	examples  *examples
	settings  BlockSettings
	wide      bool           // a block runs in parallel inside, see Wide
	extra     blas64.General // P x M: f at the new inputs = extra xi
	newExact  func() (train.Trainer, error)

	// NewBlock makes a block, see newBlocks.
	NewBlock func() func(ctx context.Context, fits []Fit)
	counts   counters
}

// counters count over all blocks.
type counters struct{ fits, iterations, left atomic.Int64 }

// BlockStats are counts over the blocks of a Blocks.
type BlockStats struct {
	Fits       int // resamples that reached the tolerance
	Iterations int // their iterations
	Exact      int // resamples left to the exact trainer
}

// BlockStats are the counts so far.
func (t *Blocks) Stats() BlockStats {
	return BlockStats{int(t.counts.fits.Load()), int(t.counts.iterations.Load()), int(t.counts.left.Load())}
}

// NewBlocks prepares batch training with a loss around a theory, whose G must not be overwritten. extra, P x
// M, maps xi to the predictions at P new inputs (linalg: k(x)'(I + diag(d)K)^-1); the zero value means none.
// newExact makes a trainer for fits that do not converge.
func NewBlocks(theory *solver.Solution, l loss.Proximal, extra blas64.General,
	newExact func() (train.Trainer, error), s BlockSettings) (*Blocks, error) {
	if l == nil {
		return nil, errors.New("fits: blocks need a loss")
	}
	surrogate, err := newSurrogate(theory)
	if err != nil {
		return nil, err
	}
	err = errors.Join(train.Default("the tolerance", &s.Tolerance, DefaultBlockTolerance),
		train.Default("the limit of iterations", &s.MaxIterations, DefaultBlockIterations))
	if err != nil {
		return nil, err
	}
	t := &Blocks{surrogate: surrogate, examples: newExamples(l, theory.Problem.Site, theory.Sites()),
		settings: s, extra: extra, newExact: newExact}
	_, dense := surrogate.engine.(linalg.Dense)
	t.wide = !s.Single && Wide(t.Sites(), dense)
	if t.settings.Tolerance < singleTolerance || !surrogate.suitsSingle() {
		t.NewBlock = newBlocks[float64](t)
		surrogate.boundRounding(doubleRounding)
	} else {
		t.NewBlock = newBlocks[float32](t)
		surrogate.boundRounding(singleRounding)
	}
	return t, nil
}

// Wide reports whether one block at a time is trained, in parallel inside: of many sites several would take
// gigabytes. A product with a dense G runs on one thread.
func Wide(sites int, dense bool) bool { return !dense && sites > wideSites }

const wideSites = 1 << 15

// BlockBytes is the memory of blocks of that many fits in single precision, one per worker.
func BlockBytes(workers, sites, fits int) int64 {
	const number = 4
	return int64(workers*fits) * int64(sites) * (number*int64(3+2*depth) + 8)
}

// Sites is the number M of sites.
func (t *Blocks) Sites() int { return len(t.surrogate.c) }

// BlockSize is the number of fits in a block: few if they are trained one by one, for an even load.
func (t *Blocks) BlockSize() int {
	if t.settings.Single {
		return BlockSize / 4
	}
	return SizeOfBlock(t.Sites())
}

// Outputs is the length of Fit.F: the M + P predictions at the sites and new inputs, then with
// BlockSettings.FirstIterate the predictions of the first iterate.
func (t *Blocks) Outputs() int {
	if t.settings.FirstIterate {
		return 2 * t.inputs()
	}
	return t.inputs()
}

// inputs is M + P.
func (t *Blocks) inputs() int { return t.Sites() + t.extra.Rows }
