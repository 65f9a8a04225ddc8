package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// RefineSettings are the settings of Refine.
type RefineSettings struct {
	// RetrainSettings have at least 2 Resamples, rounded up to whole periods of the scheme, at least two. The
	// Plan is the scheme's. If all resamples are retrained one by one, OnFit is called again from r = 0 on.
	RetrainSettings
	// Accuracy, if positive, continues after Resamples until the standard error of the first test's left-out
	// error is at most Accuracy times that error, or MaxResamples are done (0: DefaultMaxResamples).
	Accuracy     float64
	MaxResamples int
}

// Count is the number of resamples of Refine under a scheme, without Accuracy.
func (s *RefineSettings) Count(scheme resample.Scheme) int {
	period := scheme.Period()
	return whole(max(s.Resamples, 2*period), period)
}

// whole is count rounded up to whole periods.
func whole(count, period int) int { return (count + period - 1) / period * period }

// DefaultMaxResamples bounds refinement to an accuracy.
const DefaultMaxResamples = 100000

// Refine estimates the averages of a solution of this model without bias: it trains on resamples exactly,
// around the solution or one by one, whichever is cheaper, with their first iterates as control variates (see
// package fits). When ctx ends, the finished resamples count, if they are at least two periods.
//
// If the estimates contradict a theory that has converged, the first few resamples are also trained one by
// one. If these fits differ from the blocks', all resamples are trained one by one, and a warning
// says so.
func Refine(ctx context.Context, m *Model, s *solver.Solution, scheme resample.Scheme,
	settings RefineSettings) (*Retraining, error) {
	if s != nil {
		_, release, err := s.Hold()
		if err != nil {
			return nil, InputError(err)
		}
		defer release()
	}
	r, err := newRefinement(ctx, m, s, scheme, settings)
	if err != nil {
		return nil, err
	}
	result, err := r.refine(ctx)
	checked := !r.settings.Batch.Single && s.Status == solver.Converged && m.Form() != ScaLAPACK
	if err != nil || !checked {
		return result, err
	}
	if _, contradictions := fits.Against(s, result.Averages); contradictions == nil {
		return result, nil
	}
	off, err := r.offSingle(ctx)
	if err != nil || !(off > allowedOff) {
		return result, err
	}
	settings.Batch.Single, settings.Memory = true, nil
	if r, err = newRefinement(ctx, m, s, scheme, settings); err != nil {
		return nil, err
	}
	if result, err = r.refine(ctx); err == nil {
		result.Warnings = append(result.Warnings, fmt.Sprintf("fits in blocks differ from fits one by one "+
			"by %.2g standard deviations: all resamples were trained one by one", off))
	}
	return result, err
}

// checkedFits is the number of resamples that are trained one by one if blocks contradict the theory.
const checkedFits = 6

// allowedOff is the largest accepted root mean square difference between fits in blocks and one by one, in
// standard deviations of the predictor. The error of single trainers of support vector machines is about 1e-2
// (TestBlocksAreSingleFits of package fits).
const allowedOff = 0.1

// offSingle is the root mean square difference of the first fits from single trainers', over the sites.
func (r *refinement) offSingle(ctx context.Context) (off float64, err error) {
	atSites := r.problem
	atSites.Extra = 0
	singles, err := fits.Train(ctx, atSites, fits.Single(exactTrainer(ctx, r.model, blas64.General{})),
		fits.Settings{Resamples: len(r.first), Workers: 1})
	if err != nil {
		return 0, err
	}
	sum, count := 0.0, 0.0
	for f := range singles {
		if f.Err == nil && f.Kind == fits.Trained { // else a single trainer would not train it either
			distance := floats.Distance(f.F, r.first[f.Number], 2)
			sum += distance * distance
			count++
		}
	}
	if ctx.Err() != nil {
		return 0, nil
	}
	return math.Sqrt(sum / count / floats.Sum(r.solution.Var)), nil
}

// refine trains the requested resamples, and estimates.
func (r *refinement) refine(ctx context.Context) (*Retraining, error) {
	start, settings := time.Now(), r.settings.Settings
	settings.OnFit = func(number int, weight, f []float64) {
		if len(r.first) < checkedFits {
			r.first = append(r.first, slices.Clone(f[:r.problem.Sites]))
		}
		if r.settings.OnFit != nil {
			r.settings.OnFit(number, weight, f)
		}
	}
	more := r.more
	if r.settings.Accuracy == 0 {
		more = nil
	}
	averages, err := fits.Estimate(ctx, r.problem, fits.Batch(r.trainer), r.estimator, settings, more)
	if err != nil {
		return nil, err
	}
	if done := averages.Resamples; done < 2*r.problem.Plan.Period() {
		return nil, fmt.Errorf("%w after %d resamples, too few to estimate from", fits.ErrCancelled, done)
	}
	result := &Retraining{Averages: averages, Method: Batch, Batch: r.trainer.Stats(),
		Setup: start.Sub(r.began)}
	if r.settings.Batch.Single {
		result.Method = Single
	}
	return result, nil
}

// refinement is a Refine in progress.
type refinement struct {
	model     *Model
	solution  *solver.Solution
	problem   fits.Problem
	settings  RefineSettings
	trainer   *fits.Blocks
	estimator fits.Estimator
	began     time.Time
	first     [][]float64 // checkedFits at the sites
}

func newRefinement(ctx context.Context, m *Model, s *solver.Solution, scheme resample.Scheme,
	settings RefineSettings) (*refinement, error) {
	began := time.Now()
	switch {
	case loss.TraitsOf(m.Loss).Proximal == nil:
		return nil, InputError(fmt.Errorf(
			"refined estimates need a loss with a proximal map, which %q is not: its predictor is a "+
				"posterior mean", m.Loss.Name()))
	case s == nil || s.Sites() != m.Sites() || len(s.Problem.Y) != m.Set.N():
		return nil, InputError(errors.New("the solution is not one of this model"))
	case settings.Resamples < 2:
		return nil, InputError(fmt.Errorf("%d resamples are too few to refine with: a standard error needs 2",
			settings.Resamples))
	case !(settings.Accuracy >= 0) || math.IsInf(settings.Accuracy, 1) || settings.Accuracy > 0 &&
		len(settings.Tests) == 0:
		return nil, InputError(fmt.Errorf(
			"left-out errors of %d tests cannot be refined to an accuracy of %v",
			len(settings.Tests), settings.Accuracy))
	}
	settings.Resamples, settings.Plan = settings.Count(scheme), nil
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	settings.Batch.Single = settings.Batch.Single || singlePays(ctx, m, scheme, problem.Plan,
		settings.RetrainSettings)
	if settings.Workers, err = refineWorkers(m, settings.RetrainSettings); err != nil {
		return nil, err
	}
	settings.MaxResamples = cmp.Or(settings.MaxResamples, DefaultMaxResamples)
	settings.Batch.FirstIterate = true
	trainer, responses, err := NewBatch(ctx, m, s, settings.RetrainSettings)
	if err != nil {
		return nil, InputError(err)
	}
	estimator, err := fits.NewControlled(
		fits.Controls{Solution: s, Scheme: scheme, Responses: responses}, settings.Tests)
	if err != nil {
		return nil, InputError(err)
	}
	return &refinement{model: m, solution: s, began: began, problem: problem, settings: settings,
		trainer: trainer, estimator: estimator}, nil
}

// refineWorkers is the number of blocks trained at a time: settings.Workers, or if that is 0 the number of
// processors, or fewer if memory is short.
func refineWorkers(m *Model, settings RetrainSettings) (int, error) {
	named := settings.Workers > 0
	if !named {
		settings.Workers = runtime.GOMAXPROCS(0)
	}
	for {
		bytes := refineBytes(m, settings)
		if m.MaxBytes > 0 {
			bytes += 8 * int64(len(settings.Cross.Data))
		}
		err := m.CheckBeside(bytes, fmt.Sprintf("refining at %d sites and %d new inputs", m.Sites(),
			settings.Cross.Rows))
		if err == nil || named || settings.Workers == 1 {
			return settings.Workers, err
		}
		settings.Workers--
	}
}

// more is the number of resamples to continue to: that required by the standard error, at most three times
// those done, since an early standard error may be too large. If the accuracy is reached, or cannot be, it is
// the number done.
func (r *refinement) more(averages *fits.Averages) int {
	done := averages.Resamples
	test := averages.Tests[0]
	ratio := test.SE / (r.settings.Accuracy * test.Error)
	if !(ratio > 1) || done >= r.settings.MaxResamples {
		return done
	}
	wanted := math.Min(1.05*ratio*ratio, 3) * float64(done)
	return whole(min(int(math.Ceil(wanted)), r.settings.MaxResamples), r.problem.Plan.Period())
}
