// Package model binds a data set, a kernel and a training loss, and hands the result to whoever averages over
// resamples: the analytic solver, Monte-Carlo retraining, or one fit to all data. It is the one place that
// knows which examples share an input, so that theory and retraining always speak of the same sites.
package model

import (
	"errors"
	"fmt"
	"time"

	"bootbench/internal/dataset"
	"bootbench/internal/gp"
	"bootbench/internal/train"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/loss"
	"bootbench/resample"
)

// Spec says what is modelled.
type Spec struct {
	Set         *dataset.Set
	Kernel      kernel.Spec
	Loss        loss.Loss
	Standardize bool  // dense features to mean 0 and population standard deviation 1
	MaxBytes    int64 // memory that may be used; 0: what the machine has left
	// Then, if set, is about how many bytes what follows a Build takes beside the kernel matrix (NeedToRetrain,
	// NeedToRefine): a matrix that does not fit is refused with all that is needed.
	Then func(m *Model) int64
	// Stop, if set, is asked now and then during a training; true ends it with context.Canceled.
	Stop func() bool

	// NormalizeTarget centres the targets of a regression and, where Kernel.Amplitude is 0
	// and the kernel is not precomputed, sets it to their variance. The answer for
	// a y + b is then a times that for y, plus b, with the loss scaled to match.
	NormalizeTarget bool

	// Bias adds an unpenalised constant to the predictor, the limit of a kernel with an infinite Constant.
	// It takes two distinct inputs or more. doc/theory.md 14 is about resamples that have fewer.
	Bias bool

	Storage Storage // form of the kernel matrix; default Exact
	// low rank: mean residual over the mean of K_ii (constant apart) to reach; default: by RankError for the
	// square loss, DefaultRankTol for others
	RankTol float64
	// RankError is the relative change of the left-out error up to which low rank may go;
	// default DefaultRankError.
	RankError float64
	MaxRank   int // low rank: largest rank allowed; default: what fits into memory

	Servants *dist.Servants // ScaLAPACK: who holds the matrix
	Block    int            // ScaLAPACK: edge of the blocks; default dist.DefaultBlock
}

// NewSpec is the specification that the command starts from: dense features standardised, targets of a
// regression centred, a bias as BiasByDefault has it, and the kernel exp(-|x-x'|^2/d). The loss is nil for
// tune.Quickly to choose it.
func NewSpec(set *dataset.Set, l loss.Loss) Spec {
	return Spec{Set: set, Loss: l, Standardize: set.Sparse == nil, NormalizeTarget: true,
		Bias: BiasByDefault(set, l)}
}

// BiasByDefault reports whether a model has a bias unless told otherwise: one of labels, except for the mean
// of a posterior (probit, logit).
func BiasByDefault(set *dataset.Set, l loss.Loss) bool {
	_, posterior := l.(gp.Likelihood)
	return set.Task != dataset.Regression && !posterior
}

// DefaultTest is the loss that judges predictions: the square loss for numbers, the zero-one loss for labels.
func DefaultTest(set *dataset.Set) loss.Test {
	if set.Task != dataset.Regression {
		return loss.ZeroOne{}
	}
	return loss.SquareTest{}
}

// Model is a data set with its kernel matrix. Examples with equal inputs share
// a site unless the kernel has a jitter, which distinguishes them.
//
// A Model may be used by several goroutines. Solve, FullFit and what reads a Solution (Solution.Predict,
// package refit) work in the one scratch triangle of a kernel matrix that is held whole: a Solve or FullFit
// that would run beside another of these is refused at once with linalg.ErrBusy, which is no fault of the
// data. Trainers, Cross and other read-outs run beside anything. A Solve on a low-rank matrix has an engine
// of its own and runs beside others. blas.Bind and the number of BLAS threads are settings of the process.
type Model struct {
	Spec               // Set has centred targets, Kernel its amplitude, with NormalizeTarget
	TargetMean float64 // taken off the targets: to be added to the predictions of a solution or fit

	Site  []int // site of each example, length N
	First []int // first example of each site, length M

	// K is the kernel matrix over the M sites, amplitude, constant and jitter included, in one of three forms:
	// *linalg.Sym, *linalg.LowRankPlusDiag or *dist.BlockCyclic.
	K linalg.Kernel

	// GramTime is the time that the kernel matrix took.
	GramTime time.Duration

	transform *dataset.Standardizer // nil without standardising
	inputs    *kernel.Inputs        // nil for a precomputed kernel
	reason    string                // why Auto took the low-rank engine
	grown     bool                  // the factor has grown to a guessed rank (enough)
	byBound   bool                  // it must have the rank that the bound asks for
	ofBound   float64               // share of the bound on the rank's error that it is (Settle); 0: not known
	limited   bool                  // the factor is coarser than it should be, for MaxRank or memory
	notes     []string              // what was not done as asked
	// dense multiplies out a factor, once.
	dense func() (*linalg.Sym, error)
}

// ErrInput marks a specification or data that cannot be modelled.
var ErrInput = errors.New("bad input")

// InputError marks an error as one of a specification or data that cannot be modelled.
func InputError(err error) error { return fmt.Errorf("%w: %w", ErrInput, err) }

// precomputedTolerance is the asymmetry, relative to the largest entry, that a
// precomputed kernel matrix may have: the last digits of printed numbers.
const precomputedTolerance = 1e-9

// Build checks the specification against the data, finds the sites and computes
// the kernel matrix, 8 M^2 bytes, or a factor of it. Every error is bad input: it wraps
// ErrInput, or linalg.ErrMemory when the matrices would not fit.
func Build(spec Spec) (*Model, error) {
	m := &Model{Spec: spec}
	err := choice{m}.build()
	switch {
	case errors.Is(err, linalg.ErrMemory):
		return nil, err
	case err != nil:
		return nil, InputError(err)
	}
	return m, nil
}

// build finds the sites and holds the kernel matrix.
func (m choice) build() error {
	if err := m.Spec.check(); err != nil {
		return err
	}
	m.TargetMean = m.Spec.centre()
	m.Site, m.First = sites(&m.Spec)
	if m.Bias && m.Sites() < 2 {
		return errors.New("a bias needs examples at two distinct inputs at least: take --no-bias")
	}
	began := time.Now()
	if err := m.prepare(); err != nil {
		return err
	}
	k, err := m.matrix()
	if err != nil {
		return err
	}
	m.hold(k)
	m.GramTime = time.Since(began)
	return m.checkKernel()
}

// Against is the same model of other labels, those of class k of a set of several classes against the others.
// It shares the kernel matrix.
func (m *Model) Against(set *dataset.Set, k int) *Model {
	other := *m
	other.Spec.Set = set.Against(k)
	return &other
}

// WithLoss is the same model of another loss, on the same kernel matrix, which must be held whole.
func (m *Model) WithLoss(l loss.Loss) (*Model, error) {
	spec := m.Spec
	if spec.Loss = l; m.Gram() == nil {
		return nil, errors.New("the form of a kernel matrix that is not held whole depends on the loss")
	}
	if err := spec.checkLoss(); err != nil {
		return nil, InputError(err)
	}
	other := *m
	other.Spec, other.GramTime = spec, 0
	return &other, nil
}

// TaskOf is the task that a loss is for. The loss itself tells: one for labels
// refuses any other target. What refuses a label too is no usable loss.
func TaskOf(l loss.Loss) (dataset.Task, error) {
	accept := func(y float64) error {
		_, err := l.Site([]float64{y}, resample.Poisson{Ratio: 1})
		return err
	}
	if err := accept(1); err != nil {
		return "", err
	}
	if accept(0.5) != nil {
		return dataset.Classification, nil
	}
	return dataset.Regression, nil
}

// sites gives each distinct input a site, or each example when a jitter makes equal inputs different.
func sites(s *Spec) (site, first []int) {
	if !(s.Kernel.Jitter > 0) {
		return s.Set.Distinct()
	}
	site = make([]int, s.Set.N())
	for i := range site {
		site[i] = i
	}
	return site, site
}

// notStandardized is the warning for sparse data that were to be standardised.
const notStandardized = "sparse features are taken as they are: to subtract their means would fill the matrix"

// prepare standardises the inputs, unless they are sparse, and readies them for the kernel.
func (m choice) prepare() (err error) {
	if m.Kernel.Kind == kernel.Precomputed {
		return nil
	}
	if m.Set.Sparse != nil && m.Standardize {
		m.Standardize = false
		m.notes = append(m.notes, notStandardized)
	}
	if m.Standardize {
		transform := m.Set.Standardizer()
		m.transform = &transform
	}
	x := m.Set
	if m.Merged() > 0 {
		x = x.Subset(m.First)
	}
	if x, err = standardized(x, m.transform); err != nil {
		return err
	}
	m.inputs, err = m.Kernel.Prepare(x)
	return err
}

// Sites is the number M of distinct inputs.
func (m *Model) Sites() int { return len(m.First) }

// Merged is the number of examples that share the input of an earlier one.
func (m *Model) Merged() int { return len(m.Site) - len(m.First) }

// quadratic reports whether a loss is: the solver then iterates d alone.
func quadratic(l loss.Loss) bool {
	site, err := l.Site([]float64{1}, resample.Poisson{Ratio: 1})
	_, ok := site.(loss.Quadratic)
	return err == nil && ok
}

// siteTargets is the number, or weight, of the examples and the mean target of each site.
func siteTargets(m *Model) (count, mean []float64) {
	count, mean = make([]float64, m.Sites()), make([]float64, m.Sites())
	train.Sites(m.Site).Merge(m.Set.Y, m.Set.Weights, count, mean)
	return count, mean
}
