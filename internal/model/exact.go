package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

// RetrainMethod is a method of training resamples.
type RetrainMethod int

const (
	// AutoMethod is Batch or Single, whichever has fewer operations, see costOf.
	AutoMethod RetrainMethod = iota
	// Batch trains many resamples at a time as products with the theory's G.
	Batch
	// Single trains one resample after the other with the loss's own trainer.
	Single
	// Downdate predicts only the examples that a fit leaves out, see CanDowndate.
	Downdate
)

var retrainMethods = []string{"auto", "batch", "single", "downdate"}

// String is the method's name on the command line.
func (m RetrainMethod) String() string { return retrainMethods[m] }

// Retraining is the result of retraining, its method and costs.
type Retraining struct {
	*fits.Result
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

// Retrain computes the averages by a method. Batches are trained around a rough solution of the theory; if
// that fails, resamples are trained one by one, or if method is Batch, the error is returned.
func Retrain(ctx context.Context, m *Model, method RetrainMethod, scheme resample.Scheme,
	settings RetrainSettings) (*Retraining, error) {
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	if method == Batch || method == AutoMethod && blocksPay(ctx, m, problem.Plan, settings.Settings) {
		r, err := retrainRoughly(ctx, m, scheme, settings)
		if err == nil || method == Batch || ctx.Err() != nil {
			return r, err
		}
	}
	r, began := &Retraining{Method: Single}, time.Now()
	var trainers func() (train.Trainer, error)
	if method == Downdate {
		r.Method, problem.Extra = Downdate, 0
		trainers, err = downdating(m)
		r.Setup = time.Since(began)
	} else {
		trainers, err = m.Trainers(ctx, settings.Cross)
	}
	if err != nil {
		return nil, err
	}
	r.Result, err = fits.Run(ctx, problem, fits.Single(trainers), settings.Settings)
	return r, err
}

// RetrainPath is Retrain, one by one, for the model's loss times each of the factors.
func RetrainPath(ctx context.Context, m *Model, scheme resample.Scheme, factors []float64,
	settings RetrainSettings) ([]*fits.Result, error) {
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	trainers, err := m.Trainers(ctx, settings.Cross)
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
	return &Retraining{Result: result, Method: Batch, Batch: trainer.Stats()}, err
}

// CanDowndate reports whether predictions for examples that a fit with weights 0 and 1 leaves out follow from
// one inverse (gp.Downdate): for the square loss, with one example at each site.
func CanDowndate(m *Model) bool {
	return loss.TraitsOf(m.Loss).Quadratic && m.Gram() != nil && m.Merged() == 0
}

// downdating makes trainers of method Downdate.
func downdating(m *Model) (func() (train.Trainer, error), error) {
	inverse, err := gp.NewInverse(m.Gram(), loss.TraitsOf(m.Loss).Noise, m.Set.Weights, m.Bias)
	return func() (train.Trainer, error) { return &gp.Downdate{Inverse: inverse}, nil }, err
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
	if m.Set.Weights != nil {
		p.Plan = resample.Weighted{Plan: p.Plan, Weights: m.Set.Weights}
	}
	return p, CheckLaw(m.Loss, scheme)
}
