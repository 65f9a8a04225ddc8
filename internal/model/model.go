// Package model binds a data set, a kernel and a training loss, for the analytic solver, Monte-Carlo
// retraining, and fits to all data. It determines which examples share an input, so that theory and
// retraining have the same sites.
package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

// Spec specifies a model.
type Spec struct {
	Set         *dataset.Set
	Kernel      kernel.Spec
	Loss        loss.Loss
	Standardize bool  // dense features to mean 0 and population standard deviation 1
	MaxBytes    int64 // limit of the memory; 0: the machine's free memory
	// Then, if set, predicts the memory of later computations, without the kernel matrix (NeedToRetrain,
	// NeedToRefine): Build refuses a matrix if both would not fit.
	Then func(m *Model) int64

	// FitsAlone: exact fits follow, without the theory. Below ApproximateFrom inputs Auto then keeps the
	// kernel matrix of a support vector machine whole, on which it is trained.
	FitsAlone bool

	// NormalizeTarget centres numbers, gives further columns the variance of the first, and, if
	// Kernel.Amplitude is 0 and the kernel is not precomputed, sets it to their variance. The answer for a y
	// + b is then a times that for y, plus b, if the loss is scaled to match.
	NormalizeTarget bool

	// Chosen names the hyperparameters that were chosen by these rows; nil: all were given. Measure is by
	// what models of two labels are judged and chosen.
	Chosen  []string
	Measure calibration.Measure

	Pairs bool // pairs of classes vote, instead of each class against the others

	// Bias adds an unpenalised bias to the predictor, the limit of a kernel with an infinite Constant. It
	// requires two distinct inputs. For resamples with fewer see doc/theory.md 14.
	Bias bool

	Storage Storage // form of the kernel matrix; default Exact
	// low rank: tolerance of the mean residual over the mean of K_ii - constant; default: by RankError for
	// the square loss, 1e-4 for others
	RankTol float64
	// RankError is the largest relative change of the left-out error by low rank; default DefaultRankError, a
	// tenth of it where Auto takes a factor of fewer than ApproximateFrom sites because it is cheaper.
	RankError float64
	MaxRank   int // low rank: largest rank; default: what fits into memory

	Servants *scalapack.Servants // ScaLAPACK: the other ranks
	Block    int                 // ScaLAPACK: edge of the blocks; default scalapack.DefaultBlock
}

// NewSpec is the default specification: dense features standardised, targets of a regression centred, a bias
// by BiasByDefault, and the kernel exp(-|x-x'|^2/(2d)), d the number of features that vary. A nil loss is
// chosen by tune.Run.
func NewSpec(set *dataset.Set, l loss.Loss) Spec {
	if set == nil { // Build refuses it
		return Spec{Loss: l}
	}
	return Spec{Set: set, Loss: l, Standardize: set.Sparse == nil, NormalizeTarget: true,
		Bias: BiasByDefault(set, l)}
}

// BiasByDefault reports whether a model has a bias by default: one of labels, except for posterior means
// (probit, logit).
func BiasByDefault(set *dataset.Set, l loss.Loss) bool {
	_, posterior := l.(gp.Likelihood)
	return !set.AreNumbers() && !posterior
}

// DefaultTest is the default test loss: the square loss for numbers, the zero-one loss for labels.
func DefaultTest(set *dataset.Set) loss.Test {
	if !set.AreNumbers() {
		return loss.ZeroOne{}
	}
	return loss.SquareTest{}
}

// Model is a data set with its kernel matrix. Examples with equal inputs share
// a site unless the kernel has a jitter, which distinguishes them.
//
// A Model is safe for concurrent use. Solve, FullFit and read-outs of a Solution (Solution.Predict, package
// fits) use the scratch triangle of a dense kernel matrix: a Solve or FullFit concurrent with one of these
// fails at once with linalg.ErrBusy. Trainers, Cross, other read-outs, and Solves on a low-rank matrix run
// concurrently. blas.Bind and the number of BLAS threads are settings of the process.
type Model struct {
	Spec          // Kernel has its defaults
	fits.Function // of this view; predictions of a solution or fit are f's
	Functions     []fits.Function
	Order         []int // of the classes by first appearance, with Pairs

	Site  []int // site of each example, length N
	First []int // first example of each site, length M

	// K is the kernel matrix over the M sites, amplitude, constant and jitter included, in one of three
	// forms: *linalg.Sym, *linalg.LowRankPlusDiag or *scalapack.BlockCyclic.
	K linalg.Kernel

	// GramTime is the time of the computation of the kernel matrix.
	GramTime time.Duration

	transform *dataset.Standardizer      // nil without standardising
	inputs    *kernel.Inputs             // nil for a precomputed kernel
	reason    string                     // why Auto took the low-rank engine
	chosen    resample.CountDistribution // for which chooseRank chose the rank; nil: it did not
	start     *solver.Solution           // of solves on that factor; nil: none
	grown     bool                       // the rank of the factor is an estimate (enoughRank)
	byBound   bool                       // the rank must satisfy the bound
	fine      bool                       // the factor is one of few sites, see settleByWeight
	ofBound   float64                    // the rank's error as a fraction of its bound (Settle); 0: unknown
	limited   bool                       // MaxRank or memory made the factor too coarse
	notes     []string                   // deviations from the specification
	// dense multiplies out a factor, once.
	dense func() (*linalg.Sym, error)
}

// ErrInput marks an invalid specification or invalid data.
var ErrInput = errors.New("bad input")

// InputError marks an error with ErrInput.
func InputError(err error) error { return fmt.Errorf("%w: %w", ErrInput, err) }

// precomputedTolerance is the largest asymmetry, relative to the largest entry, of a precomputed kernel
// matrix: rounding of printed numbers.
const precomputedTolerance = 1e-9

// Build checks the specification against the data, finds the sites and computes the kernel matrix, 8 M^2
// bytes, or a factor of it. Every error is the end of ctx, or bad input: it wraps ErrInput, or
// linalg.ErrMemory if the matrices would not fit.
func Build(ctx context.Context, spec Spec) (*Model, error) {
	m := &Model{Spec: spec}
	err := build(ctx, m)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, linalg.ErrMemory):
		return nil, err
	case err != nil:
		return nil, InputError(err)
	}
	return m, nil
}

// build finds the sites and computes the kernel matrix.
func build(ctx context.Context, m *Model) error {
	if err := m.Spec.check(); err != nil {
		return err
	}
	m.Functions, m.Order = m.Spec.functions()
	m.Function, m.Spec.Kernel.Amplitude = m.Functions[0], m.Spec.Amplitude()
	m.Site, m.First = sites(&m.Spec)
	if m.Bias && m.Sites() < 2 {
		return errors.New("a bias needs examples at two distinct inputs at least: take Spec.Bias false")
	}
	began := time.Now()
	if err := prepare(m); err != nil {
		return err
	}
	if m.Spec.Storage == Primal {
		return nil
	}
	k, err := makeMatrix(ctx, m)
	if err != nil {
		return err
	}
	hold(m, k)
	m.GramTime = time.Since(began)
	return checkKernel(m)
}

// WithLoss is the model with another loss, on the same kernel matrix, which must be dense.
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

// needsLabels reports whether a loss refuses targets other than labels. It is an error if it refuses labels
// too.
func needsLabels(l loss.Loss) (bool, error) {
	accept := func(y float64) error {
		_, err := l.Site([]float64{y}, resample.Poisson{Ratio: 1})
		return err
	}
	if err := accept(1); err != nil {
		return false, err
	}
	return accept(0.5) != nil, nil
}

// sites gives each distinct input a site, or each example if there is a jitter.
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

// notStandardized is the warning for sparse data that should be standardised.
const notStandardized = "sparse features are taken as they are: to subtract their means would fill the matrix"

// prepare standardises the inputs, unless they are sparse, and prepares them for the kernel.
func prepare(m *Model) (err error) {
	m.Spec.Kernel = m.CompleteKernel()
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
	x := m.Set.Design()
	if m.Merged() > 0 {
		x = x.Gather(m.First)
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

// siteTargets is the number, or weight, of the examples and the mean target of each site.
func siteTargets(m *Model) (count, mean []float64) {
	count, mean = make([]float64, m.Sites()), make([]float64, m.Sites())
	train.Sites(m.Site).Merge(m.Y, m.Set.Weights, count, mean)
	return count, mean
}
