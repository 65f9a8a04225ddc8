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
	if err := settings.check(m, s); err != nil {
		return nil, InputError(err)
	}
	_, release, err := s.Hold()
	if err != nil {
		return nil, InputError(err)
	}
	defer release()
	settings.Resamples, settings.Plan = settings.Count(scheme), nil
	problem, err := settings.problem(m, scheme)
	if err != nil {
		return nil, err
	}
	settings.Batch.FirstIterate = true
	settings.Batch.Single = settings.Batch.Single || singlePays(ctx, m, scheme, problem.Plan,
		settings.RetrainSettings)
	if settings.Workers, err = refineWorkers(m, settings.RetrainSettings); err != nil {
		return nil, err
	}
	var first [][]float64
	onFit := settings.OnFit
	settings.OnFit = func(number int, weight, f []float64) {
		if len(first) < checkedFits {
			first = append(first, slices.Clone(f[:problem.Sites]))
		}
		if onFit != nil {
			onFit(number, weight, f)
		}
	}
	result, err := refine(ctx, m, s, scheme, problem, settings)
	if err != nil || settings.Batch.Single || s.Status != solver.Converged || m.Form() == ScaLAPACK {
		return result, err
	}
	if _, contradictions := fits.Against(s, result.Averages); contradictions == nil {
		return result, nil
	}
	off, err := offSingle(ctx, m, s, problem, first)
	if err != nil || !(off > allowedOff) {
		return result, err
	}
	settings.Batch.Single, settings.Memory = true, nil
	if result, err = refine(ctx, m, s, scheme, problem, settings); err == nil {
		result.Warnings = append(result.Warnings, fmt.Sprintf("fits in blocks differ from fits one by one "+
			"by %.2g standard deviations: all resamples were trained one by one", off))
	}
	return result, err
}

// check refuses what cannot be refined.
func (s *RefineSettings) check(m *Model, solution *solver.Solution) error {
	switch {
	case loss.TraitsOf(m.Loss).Proximal == nil:
		return fmt.Errorf("refined estimates need a loss with a proximal map, which %q is not: its "+
			"predictor is a posterior mean", m.Loss.Name())
	case solution == nil || solution.Sites() != m.Sites() || len(solution.Problem.Y) != m.Set.N():
		return errors.New("the solution is not one of this model")
	case s.Resamples < 2:
		return fmt.Errorf("%d resamples are too few to refine with: a standard error needs 2", s.Resamples)
	case !(s.Accuracy >= 0) || math.IsInf(s.Accuracy, 1) || s.Accuracy > 0 && len(s.Tests) == 0:
		return fmt.Errorf("left-out errors of %d tests cannot be refined to an accuracy of %v", len(s.Tests),
			s.Accuracy)
	}
	return nil
}

// refine trains the requested resamples, and estimates.
func refine(ctx context.Context, m *Model, s *solver.Solution, scheme resample.Scheme, problem fits.Problem,
	settings RefineSettings) (*Retraining, error) {
	began := time.Now()
	trainer, responses, err := NewBatch(ctx, m, s, settings.RetrainSettings)
	if err != nil {
		return nil, InputError(err)
	}
	estimator, err := fits.NewControlled(
		fits.Controls{Solution: s, Scheme: scheme, Responses: responses}, settings.Tests)
	if err != nil {
		return nil, InputError(err)
	}
	result, period := &Retraining{Method: Batch, Setup: time.Since(began)}, scheme.Period()
	if settings.Batch.Single {
		result.Method = Single
	}
	var more func(*fits.Averages) int
	if settings.Accuracy > 0 {
		more = func(a *fits.Averages) int { return settings.more(a, period) }
	}
	if result.Averages, err = fits.Estimate(ctx, problem, fits.Batch(trainer), estimator, settings.Settings,
		more); err != nil {
		return nil, err
	}
	if result.Resamples < 2*period {
		return nil, fmt.Errorf("%w after %d resamples, too few to estimate from", fits.ErrCancelled,
			result.Resamples)
	}
	result.Batch = trainer.Stats()
	return result, nil
}

// checkedFits is the number of resamples that are trained one by one if blocks contradict the theory.
const checkedFits = 6

// allowedOff is the largest accepted root mean square difference between fits in blocks and one by one, in
// standard deviations of the predictor. The error of single trainers of support vector machines is about 1e-2
// (TestBlocksAreSingleFits of package fits).
const allowedOff = 0.1

// offSingle is the root mean square difference of the first fits from single trainers', over the sites.
func offSingle(ctx context.Context, m *Model, s *solver.Solution, problem fits.Problem, first [][]float64) (
	off float64, err error) {
	problem.Extra = 0
	singles, err := fits.Train(ctx, problem, fits.Single(exactTrainer(ctx, m, blas64.General{})),
		fits.Settings{Resamples: len(first), Workers: 1})
	if err != nil {
		return 0, err
	}
	sum, count := 0.0, 0.0
	for f := range singles {
		if f.Err == nil && f.Kind == fits.Trained { // else a single trainer would not train it either
			distance := floats.Distance(f.F, first[f.Number], 2)
			sum += distance * distance
			count++
		}
	}
	if ctx.Err() != nil {
		return 0, nil
	}
	return math.Sqrt(sum / count / floats.Sum(s.Var)), nil
}

// refineWorkers is the number of blocks trained at a time: settings.Workers, or if that is 0 the number of
// processors, or fewer if memory is short.
func refineWorkers(m *Model, settings RetrainSettings) (int, error) {
	named := settings.Workers > 0
	for settings.Workers = cmp.Or(max(0, settings.Workers), runtime.GOMAXPROCS(0)); ; settings.Workers-- {
		bytes := refineBytes(m, settings)
		if m.MaxBytes > 0 {
			bytes += 8 * int64(len(settings.Cross.Data))
		}
		err := m.CheckBeside(bytes, fmt.Sprintf("refining at %d sites and %d new inputs", m.Sites(),
			settings.Cross.Rows))
		if err == nil || named || settings.Workers == 1 {
			return settings.Workers, err
		}
	}
}

// more is the number of resamples to continue to: that required by the standard error, at most three times
// those done, since an early standard error may be too large. If the accuracy is reached, or cannot be, it is
// the number done.
func (s *RefineSettings) more(averages *fits.Averages, period int) int {
	done, most := averages.Resamples, cmp.Or(s.MaxResamples, DefaultMaxResamples)
	ratio := averages.Tests[0].SE / (s.Accuracy * averages.Tests[0].Error)
	if !(ratio > 1) || done >= most {
		return done
	}
	wanted := math.Min(1.05*ratio*ratio, 3) * float64(done)
	return whole(min(int(math.Ceil(wanted)), most), period)
}
