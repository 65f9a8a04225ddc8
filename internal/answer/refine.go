package answer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Refinement is the number of exact resamples.
type Refinement struct {
	Resamples int  // 0: none
	Optional  bool // if impossible, the answer is the theory's
	Accuracy  float64
	Seed      uint64
}

// LeastLeftOut is the number of resamples that must leave an example out, on average, for optional ones
// to refine a left-out error: with fewer some examples have none.
const LeastLeftOut = 10

// From manyExamples on the number of optional resamples, at least fewResamples, makes their standard error a
// tenth of 1/n^1/2, less than that over data sets.
const (
	manyExamples = 20_000
	fewResamples = 64
)

// leavesOutFew reports whether fewer than LeastLeftOut resamples leave an example out. Schemes with periods,
// such as folds, leave every example out in each.
func (r Refinement) leavesOutFew(scheme resample.Scheme) bool {
	return scheme.Period() == 1 && float64(r.Resamples)*resample.ProbZero(scheme, 1) < LeastLeftOut
}

// String is the refinement for keys of answers.
func (r Refinement) String() string {
	return fmt.Sprintf("%d optional %v accuracy %v seed %d", r.Resamples, r.Optional, r.Accuracy, r.Seed)
}

// hasWeights reports whether a scheme has real weights, which leave no example out.
func hasWeights(scheme resample.Scheme) bool {
	_, real := scheme.(resample.Bayesian)
	return real
}

// Refine trains on exact resamples around a solution: at the sites, and at new inputs whose kernel rows are
// given. onFit, if set, is called for each. The result is nil if none are requested, or if optional ones are
// impossible; warnings then say why.
func (j *Job) Refine(ctx context.Context, solution *solver.Solution, s Settings, cross blas64.General,
	onFit func(b int, weight, f []float64)) (*model.Retraining, []string, error) {
	wanted := s.Refine
	proximal := loss.TraitsOf(j.Loss).Proximal != nil
	switch {
	case wanted.Resamples == 0 || solution.Status == solver.Cancelled || hasWeights(s.Scheme):
		return nil, nil, nil
	case resample.ProbZero(s.Scheme, 1) == 0:
		return nil, []string{"no resample leaves an example out: the left-out error is the theory's " +
			"leave-one-out error, and is not refined"}, nil
	case wanted.Optional && !proximal:
		return nil, nil, nil
	}
	settings := model.RefineSettings{Accuracy: wanted.Accuracy,
		Unchecked: j.fitsAlone(s)} // no theory to contradict
	settings.Cross, settings.Resamples, settings.Seed = cross, wanted.Resamples, wanted.Seed
	settings.Tests, settings.OnFit = append([]loss.Test{j.Test}, j.refinedTests(s)...), onFit
	settings.Progress = j.counting("exact resample")
	if n := j.Set.N(); wanted.Optional && n >= manyExamples && wanted.Resamples > fewResamples {
		settings.Resamples, settings.MaxResamples = fewResamples, wanted.Resamples
		settings.Accuracy, settings.Silent = 0.1/math.Sqrt(float64(n)), true
	}
	end := func(bool) error { return nil }
	if j.Keep != nil {
		digest := sha256.New() // of the new inputs
		for row := range cross.Rows {
			binary.Write(digest, binary.LittleEndian, cross.Data[row*cross.Stride:][:cross.Cols])
		}
		count := settings.Count(s.Scheme)
		if settings.Accuracy > 0 {
			count = 0
		}
		shared, ended, err := j.Keep("refine\n"+j.Key(s.Scheme, wanted.Seed, hex.EncodeToString(digest.Sum(nil)),
			s.Solve.Tolerance, s.Solve.MaxSweeps, settings.Unchecked), j.Sites()+cross.Rows, count, j.Set.Name,
			&settings.Settings)
		if err != nil {
			return nil, nil, err
		}
		end, settings.Unchecked = ended, settings.Unchecked || shared
	}
	result, err := model.Refine(ctx, j.Model, solution, s.Scheme, settings)
	cancelled := errors.Is(err, fits.ErrCancelled) || errors.Is(err, context.Canceled)
	if err == nil || cancelled {
		if err := end(err == nil && result.Status == fits.Complete); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case cancelled:
		return nil, nil, nil
	case err != nil && wanted.Optional:
		return nil, []string{fmt.Sprintf("not refined: %v", err)}, nil
	case err != nil:
		return nil, nil, err
	}
	return result, result.Warnings, nil
}

// solveRefined solves the theory and refines at the sites.
func (j *Job) solveRefined(ctx context.Context, s Settings, onFit onFit) (solution *solver.Solution,
	result *model.Retraining, warnings []string, err error) {
	if solution, err = j.Solve(ctx, s); err == nil {
		result, warnings, err = j.Refine(ctx, solution, s, blas64.General{}, onFit)
	}
	return solution, result, warnings, err
}

// refinedTests are the test losses of exact resamples, in addition to the job's, for metrics and
// probabilities.
func (j *Job) refinedTests(s Settings) (more []loss.Test) {
	add := func(test loss.Test) {
		if test.Name() != j.Test.Name() {
			more = append(more, test)
		}
	}
	if j.labels() || len(s.Metrics) > 0 {
		add(loss.SquareTest{})
	}
	if len(s.Metrics) > 0 && j.labels() {
		add(loss.ZeroOne{})
	} else if len(s.Metrics) > 0 {
		add(loss.Absolute{})
	}
	return more
}

// refined is the document of exact resamples, with probabilities of labels, nil if too few resamples leave
// out examples of both classes.
func (j *Job) refined(r *model.Retraining, solution *solver.Solution, s Settings) (
	*report.Refined, *predict.Probabilities) {
	test := r.Tests[0]
	varianceRatio, contradictions := fits.Against(solution, r.Result)
	out := &report.Refined{
		Resamples: r.Resamples, Method: r.Method.String(), OneClass: r.OneClass,
		EquivalentResamples: null.Float(test.EquivalentResamples),
		TestError:           null.Float(test.Error), SE: null.Float(test.SE),
		Err632: null.Float(math.NaN()), Err632Plus: null.Float(math.NaN()),
		BaggedError: null.Float(test.BaggedError), BaggedSE: null.Float(test.BaggedSE),
		VarianceRatio: null.Float(varianceRatio), Contradicts: contradictions, Replaced: r.Replaced,
		Time: report.RefinedTime{Fits: r.Stats.Elapsed.Seconds(),
			Total: (r.Setup + r.Stats.Elapsed).Seconds(), Iterations: r.Batch.Iterations, Exact: r.Batch.Exact},
	}
	if j.fitsAlone(s) { // no theory to compare with
		out.VarianceRatio, out.Contradicts = null.Float(math.NaN()), nil
	}
	var all *predict.Probabilities
	if j.labels() {
		all, _ = predict.RefinedProbabilities(j.Model, r.Result)
	}
	m, c := j.judge(s, r.OutOfBag, all, func(test loss.Test) []float64 { return r.Test(test.Name()).Examples })
	if out.Calibration = c; all != nil || !j.labels() {
		out.Metrics = m
	}
	return out, all
}
