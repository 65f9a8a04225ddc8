package retrain

import (
	"errors"
	"fmt"
	"time"
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
	// LeftOut holds the left-out errors, one entry per test loss of the Settings.
	LeftOut []LeftOut
	// OutOfBag is the ensemble of the predictors that leave an example out.
	OutOfBag OutOfBag
	// Mean and Var are the mean and the variance (unbiased) over resamples of the prediction at each site, then
	// at each extra input; MeanSE and VarSE are their standard errors.
	//
	// Under a plan of longer period, such as of K-fold, the standard errors come from the
	// delete-a-group jackknife over whole periods and need two of them. From one
	// partition alone Var is the variance over its folds.
	Mean, MeanSE, Var, VarSE []float64
	// Vote is the share of the resamples whose prediction there is positive, one of
	// exactly 0 counting half: the class probability of the vote of all resamples.
	Vote []float64
	// Warnings are remarks on the answer, one line each.
	Warnings []string
	// Stats tell what the answer cost.
	Stats Stats
}

// LeftOut is a left-out error after Efron: an example's loss is averaged over
// the resamples that do not contain it, and these averages over the examples.
type LeftOut struct {
	// Test is the name of the test loss.
	Test string
	// Error is the mean of Examples over those examples that were left out at least once, and SE its standard
	// error by the delete-a-group jackknife, where resample b (of those that are not skipped) belongs to group
	// b mod 20; under such a plan, to group b/Period mod 20.
	Error, SE float64
	// Examples holds the mean left-out loss of each example, NaN for an example that was never left out.
	Examples []float64
}

// OutOfBag is the out-of-bag ensemble (bagging): for every example, the average
// of the predictors that were trained without it. Its error is that of the
// averaged predictor, where LeftOut is the average of the predictors' errors.
type OutOfBag struct {
	// Mean and Vote are, per example, the mean prediction at its input and the share of positive ones, over the
	// resamples that leave it out; NaN for an example that was never left out.
	Mean, Vote []float64
	// Errors holds the error of Mean, one entry per test loss of the Settings.
	Errors []EnsembleError
	// VoteError is the share of labels -1, +1 that the majority vote misses, a tie counting half, and
	// VoteErrorSE its standard error. It means nothing for other targets.
	VoteError, VoteErrorSE float64
}

// EnsembleError is the test loss of an out-of-bag ensemble, averaged over the examples that were left out at
// least once, with its standard error as that of LeftOut. An ensemble of few predictors errs by more than
// that of all: for the square loss by the predictor's variance over the number of resamples that leave an
// example out.
type EnsembleError struct {
	// Test is the name of the test loss.
	Test string
	// Error is the mean loss, and SE its standard error.
	Error, SE float64
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
func (s Status) String() string {
	switch s {
	case Complete:
		return "complete"
	case Cancelled:
		return "cancelled"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

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
