package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// RetrainMethod is a method of training resamples.
type RetrainMethod int

const (
	// AutoMethod is Batch or Single, whichever costs less, see Cheapest.
	AutoMethod RetrainMethod = iota
	// Batch trains many resamples at a time as products with the theory's G.
	Batch
	// Single trains one resample after the other with the loss's own trainer.
	Single
	// Downdate predicts only the examples that a fit leaves out, see CanDowndate; of a support vector
	// machine one example.
	Downdate
)

var retrainMethods = []string{"auto", "batch", "single", "downdate"}

// String is the method's name on the command line.
func (m RetrainMethod) String() string { return retrainMethods[m] }

// Retraining is the result of retraining, its method and costs.
type Retraining struct {
	*fits.Averages
	Method RetrainMethod   // not AutoMethod
	Batch  fits.BlockStats // of method Batch
	Setup  time.Duration   // the theory's solve, the copy of G, the inverse, before Stats.Elapsed
}

// RetrainSettings are the settings of Retrain. The zero value has the zero fits.Settings, no new inputs.
type RetrainSettings struct {
	fits.Settings
	// Seed and the number of a resample determine its counts.
	Seed uint64
	// Plan, if set, replaces the draws of the scheme, whose law then only determines the theory for blocks.
	Plan resample.Plan
	// Cross is the kernel of P new inputs with the M sites, P x M (see CrossAll), for predictions there; the
	// zero value means none.
	Cross blas64.General
	// Batch says how to train batches.
	Batch fits.BlockSettings
}

// complete are the settings with their defaults, by which costs and memory are forecast.
func (s RetrainSettings) complete() RetrainSettings {
	s.Resamples = cmp.Or(s.Resamples, fits.DefaultResamples)
	s.Workers = cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
	return s
}

// Retrain computes the averages by a method. Batches are trained around a rough solution of the theory; if
// that fails, resamples are trained one by one, or if method is Batch, the error is returned.
func Retrain(ctx context.Context, m *Model, method RetrainMethod, scheme resample.Scheme,
	settings RetrainSettings) (*Retraining, error) {
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	auto := method == AutoMethod
	if auto {
		method = Cheapest(ctx, m, scheme, problem.Plan, settings.complete().Resamples, false)
	}
	if method == Batch {
		r, err := retrainRoughly(ctx, m, scheme, settings)
		if err == nil || !auto || ctx.Err() != nil {
			return r, err
		}
	}
	r, began := &Retraining{Method: Single}, time.Now()
	var trainers func() (train.Trainer, error)
	if method == Downdate {
		trainers, _ = downdating(ctx, m, settings.complete().Resamples) // else the loss's trainers
		r.Setup = time.Since(began)
	}
	if trainers != nil {
		r.Method, problem.Extra = Downdate, 0
	} else if trainers, err = m.trainers(ctx, settings.Cross); err != nil {
		return nil, err
	}
	r.Averages, err = fits.Run(ctx, problem, fits.Single(trainers), settings.Settings)
	return r, err
}

// RetrainPath is Retrain, one by one, for the model's loss times each of the factors.
func RetrainPath(ctx context.Context, m *Model, scheme resample.Scheme, factors []float64,
	settings RetrainSettings) ([]*fits.Averages, error) {
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	trainers, err := m.trainers(ctx, settings.Cross)
	if err != nil {
		return nil, err
	}
	return fits.RunPath(ctx, problem, fits.Along(trainers, factors), factors, settings.Settings)
}

// RetrainAround is Retrain with all resamples trained together, around a solution of this model (see package
// fits): equal draws, and equal fits within fits.BlockSettings.Tolerance.
func RetrainAround(ctx context.Context, m *Model, s *solver.Solution, scheme resample.Scheme,
	settings RetrainSettings) (*Retraining, error) {
	_, release, err := s.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	trainer, _, err := NewBatch(ctx, m, s, settings)
	if err != nil {
		return nil, err
	}
	result, err := fits.Run(ctx, problem, fits.Batch(trainer), settings.Settings)
	return &Retraining{Averages: result, Method: Batch, Batch: trainer.Stats()}, err
}

// CanDowndate reports whether predictions for any examples that a fit with weights 0 and 1 leaves out
// follow from one inverse (gp.Downdate): for the square loss, with one example at each site.
func CanDowndate(m *Model) bool {
	return loss.TraitsOf(m.Loss).Quadratic && m.Gram() != nil && m.Merged() == 0
}

// downdating makes trainers of method Downdate for a number of fits.
func downdating(ctx context.Context, m *Model, fits int) (func() (train.Trainer, error), error) {
	if CanDowndate(m) {
		inverse, err := m.Inverse()
		if err != nil {
			return nil, err
		}
		return func() (train.Trainer, error) { return &gp.Downdate{Inverse: inverse}, nil }, nil
	}
	of, err := m.LossTrainers(downdateTolerance)
	if err != nil {
		return nil, err
	}
	all := train.Set{Y: m.Y, Site: m.Site, Weight: weights(m), Stop: train.Until(ctx)}
	downdates, err := of.Downdates(all, fits)
	if err != nil {
		return nil, err
	}
	return func() (train.Trainer, error) { return downdates.Downdate(nil), nil }, nil
}

// downdateTolerance is the tolerance of the training of a support vector machine on all examples, from which
// others follow.
const downdateTolerance = 1e-6

// Inverse is the inverse of the kernel matrix of a model of which CanDowndate is true.
func (m *Model) Inverse() (*gp.Inverse, error) {
	return gp.NewInverse(m.Gram(), loss.TraitsOf(m.Loss).Noise, m.Set.Weights, m.Bias)
}

// blockTolerance is the residual to which the theory is solved for batches: smaller ones save no iterations.
const blockTolerance = 1e-2

func retrainRoughly(ctx context.Context, m *Model, scheme resample.Scheme,
	settings RetrainSettings) (*Retraining, error) {
	began := time.Now()
	m, s, err := m.Settle(ctx, scheme, solver.Settings{Tolerance: blockTolerance})
	if err == nil && s == nil {
		s, err = m.SolveRoughly(ctx, scheme, solver.Settings{Tolerance: blockTolerance})
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if s.Status == solver.NumericalFailure {
		return nil, fmt.Errorf("the theory around which batches are trained: %w", s.Status.Err())
	}
	setup := time.Since(began)
	r, err := RetrainAround(ctx, m, s, scheme, settings)
	if err == nil {
		r.Setup = setup
	}
	return r, err
}

// problem is the retraining problem of the settings' plan, or of a scheme.
func (s *RetrainSettings) problem(m *Model, scheme resample.Scheme) (p fits.Problem, err error) {
	if scheme == nil {
		return p, InputError(errors.New("there is no resampling scheme"))
	}
	if err := resample.CheckFor(scheme, m.Set.N()); err != nil {
		return p, InputError(err)
	}
	p = fits.Problem{Y: m.Y, Weights: m.Set.Weights, Site: m.Site, Sites: m.Sites(), Extra: s.Cross.Rows,
		Plan: s.Plan, OneClass: m.Bias && m.Labels()}
	if p.Plan == nil {
		p.Plan = resample.Resamples{Scheme: scheme, Seed: s.Seed, Y: m.Y}
	}
	for _, w := range [][]float64{m.Rows, m.Set.Weights} {
		if w != nil {
			p.Plan = resample.Weighted{Plan: p.Plan, Weights: w}
		}
	}
	return p, checkLaw(m.Loss, scheme)
}

// NewBatch prepares batch training around a solution of this model; a residual of 1e-2 suffices. It uses
// Cross and Batch of the settings. responses, P x M, map the forces to the predictions at the new inputs.
func NewBatch(ctx context.Context, m *Model, s *solver.Solution, settings RetrainSettings) (t *fits.Blocks,
	responses blas64.General, err error) {
	l := loss.TraitsOf(m.Loss).Proximal
	if l == nil {
		return nil, responses, InputError(fmt.Errorf(
			"batch training needs a loss with a proximal map; the predictor of %q is a posterior mean, "+
				"which is trained one resample at a time", m.Loss.Name()))
	}
	engine, err := s.Engine()
	if err != nil {
		return nil, responses, err
	}
	responses = linalg.Responses(engine, settings.Cross)
	t, err = fits.NewBlocks(s, l, responses, exactTrainer(ctx, m, settings.Cross), settings.Batch)
	return t, responses, err
}

// fitAround is FullFit around a solution.
func fitAround(ctx context.Context, m *Model, s *solver.Solution) ([]float64, error) {
	trainer, _, err := NewBatch(ctx, m, s, RetrainSettings{})
	if err != nil {
		return nil, err
	}
	all := []fits.Fit{{Weight: weights(m), Target: m.Y, F: make([]float64, trainer.Outputs())}}
	trainer.NewBlock()(ctx, all)
	return all[0].F, all[0].Err
}

// exactTrainer makes trainers for fits that do not converge in blocks. Their dense kernel matrix is made at
// the first use.
func exactTrainer(ctx context.Context, m *Model, cross blas64.General) func() (train.Trainer, error) {
	maker := sync.OnceValues(func() (func() (train.Trainer, error), error) {
		if m.Form() == ScaLAPACK {
			return nil, errLeftOver
		}
		return m.trainers(ctx, cross)
	})
	return func() (train.Trainer, error) {
		newTrainer, err := maker()
		if err != nil {
			return nil, err
		}
		return newTrainer()
	}
}

var errLeftOver = InputError(errors.New(
	"a resample that batches do not train to the tolerance needs the whole kernel matrix, which no rank " +
		"has: take Spec.Storage lowrank, or Options.TheoryAlone"))

// Training describes how a method trains a resample, and its tolerance.
func Training(m *Model, method RetrainMethod) string {
	newton := fmt.Sprintf("proximal Newton, optimality conditions to %g of the objective's terms",
		erm.DefaultTolerance)
	_, likelihood := m.Loss.(gp.Likelihood)
	switch t := loss.TraitsOf(m.Loss); {
	case method == Batch:
		return fmt.Sprintf("products with the theory's G, optimality conditions to %g standard deviations",
			fits.DefaultBlockTolerance)
	case method == Downdate && t.Margin:
		return fmt.Sprintf("one training on all rows, margins optimal within %g, which each fit updates for "+
			"the row that it leaves out", downdateTolerance)
	case method == Downdate:
		return "one inverse, which each fit updates for the rows that it leaves out"
	case m.TrainedOnFactor():
		return newton + ", on the low-rank factor"
	case t.Quadratic:
		return "Cholesky factorisation"
	case t.Margin:
		return fmt.Sprintf("dual solver, margins optimal within %g", svm.DefaultTolerance)
	case likelihood:
		return "expectation propagation"
	}
	return newton
}
