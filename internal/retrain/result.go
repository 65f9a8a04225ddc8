package retrain

import (
	"errors"
	"fmt"
	"time"

	"bootbench/loss"
)

// Result holds averages over resamples. All standard errors are Monte-Carlo errors: they say how far the
// answer may be from that of infinitely many resamples of the same data. What cannot be known from the
// resamples done (a variance from one, anything from none) is NaN.
type Result struct {
	// Resamples is the number of resamples that the averages run over.
	Resamples int
	// Skipped are those that they leave out, in the order of b: their training did not converge. What the
	// averages would be with them is not known; Warnings say so.
	Skipped []*FitError
	// Status says whether that is all that was asked for.
	Status Status
	// Empty counts the resamples without any example. They predict the prior
	// mean 0 and take part in all averages.
	Empty int
	// OneClass counts those that predict the label of their only class: see Problem.OneClass.
	OneClass int
	// Absent counts, per example, the resamples that do not contain it.
	Absent []int
	// Tests holds the left-out errors, one entry per test loss of the Settings.
	Tests []TestError
	// OutOfBag is the out-of-bag ensemble (bagging): of each example the mean prediction over the resamples
	// that leave it out, NaN if none does. OutOfBagVote is the share of positive ones.
	OutOfBag, OutOfBagVote []float64
	// VoteError is the share of labels -1, +1 that the majority of OutOfBagVote misses, a tie counting half, and
	// VoteErrorSE its standard error. It means nothing for other targets.
	VoteError, VoteErrorSE float64
	// Mean and Variance are the mean and the variance (unbiased) over resamples of the prediction at each site,
	// then at each extra input; MeanSE and VarianceSE are their standard errors.
	//
	// Under a plan of longer period, such as of K-fold, the standard errors come from the
	// delete-a-group jackknife over whole periods and need two of them. From one
	// partition alone Variance is the variance over its folds.
	Mean, MeanSE, Variance, VarianceSE []float64
	// Vote is the share of the resamples whose prediction there is positive, one of
	// exactly 0 counting half: the class probability of the vote of all resamples.
	Vote []float64
	// Warnings are remarks on the answer, one line each.
	Warnings []string
	// Stats tell what the answer cost.
	Stats Stats
}

// TestError is the left-out error after Efron under one test loss: an example's loss is averaged over
// the resamples that do not contain it, and these averages over the examples.
type TestError struct {
	Test loss.Test
	// Error is the mean of Examples over those examples that were left out at least once, and SE its standard
	// error by the delete-a-group jackknife, where resample b (of those that are not skipped) belongs to group
	// b mod 20; under a plan of longer period, to group b/Period mod 20.
	Error, SE float64
	// EquivalentResamples is the number of plain averages' resamples that would have the same standard error.
	EquivalentResamples float64
	// Examples holds the mean left-out loss of each example, NaN for an example that was never left out, and
	// ExamplesSE their standard errors, which plain averages do not have.
	Examples, ExamplesSE []float64
	// BaggedError is the mean loss of Result.OutOfBag, where Error is the average of the predictors' errors, and
	// BaggedSE its standard error, as that of Error. An ensemble of few predictors errs by more than that of
	// all: for the square loss by the predictor's variance over the number of resamples that leave an example
	// out.
	BaggedError, BaggedSE float64
}

// Test is the entry of Tests for a loss of this name; nil: there is none.
func (r *Result) Test(name string) *TestError {
	for i := range r.Tests {
		if r.Tests[i].Test.Name() == name {
			return &r.Tests[i]
		}
	}
	return nil
}

// warn adds remarks on fits that are not like the others.
func (r *Result) warn() {
	add := func(count int, format string, args ...any) {
		if count > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, append([]any{count}, args...)...))
		}
	}
	if skipped := len(r.Skipped); skipped > 0 {
		add(skipped, "%d of %d resamples are not in the averages, for their training did not converge "+
			"(the first: %v)", r.Resamples+skipped, r.Skipped[0])
	}
	add(r.Empty, "%d of %d resamples were empty and predict the prior mean 0", r.Resamples)
	add(r.OneClass, "%d of %d resamples were of one class and predict its label", r.Resamples)
}

// Stats tell what a run cost.
type Stats struct {
	// Workers is the number of fits that ran at a time.
	Workers int
	// Fits counts the fits in the averages that this run made, and FitTime is the sum of their wall
	// times: FitTime/Fits is the price of one retraining with one BLAS thread.
	Fits    int
	FitTime time.Duration
	// Elapsed is the wall time of the run, the making of trainers apart.
	Elapsed time.Duration
}

// Status says how a run ended.
type Status int

const (
	// Complete: all resamples asked for were done.
	Complete Status = iota
	// Cancelled: the context ended first. The Result covers the first
	// resamples, Result.Resamples and Skipped, as a run over that number would have.
	Cancelled
)

// ErrCancelled is what Cancelled is as an error.
var ErrCancelled = errors.New("retraining was cancelled")

// String names the status.
func (s Status) String() string { return [...]string{"complete", "cancelled"}[s] }

// Err is nil when the run was complete, else the status as an error.
func (s Status) Err() error {
	if s == Cancelled {
		return ErrCancelled
	}
	return nil
}

// UnconvergedError is the error of a training that ended before it met its tolerance.
type UnconvergedError struct {
	// Err says how it ended.
	Err error
}

func (e *UnconvergedError) Error() string { return e.Err.Error() }

// Unwrap is Err.
func (e *UnconvergedError) Unwrap() error { return e.Err }

// FitError reports a resample whose training failed. As the error of a run it is the first that cannot be
// skipped in the order of b, whatever the number of workers.
type FitError struct {
	// Resample is b, counted from 0.
	Resample int
	// Err is the trainer's error.
	Err error
}

func (e *FitError) Error() string { return fmt.Sprintf("resample %d: %v", e.Resample, e.Err) }

// Unwrap is the trainer's error.
func (e *FitError) Unwrap() error { return e.Err }
