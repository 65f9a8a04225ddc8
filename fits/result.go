package fits

import (
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/loss"
)

// Averages are averages over resamples. All standard errors are Monte-Carlo errors: relative to infinitely
// many resamples of the same data. What the resamples do not determine (a variance from one, anything from
// none) is NaN.
type Averages struct {
	// Resamples is the number of resamples that the averages run over.
	Resamples int
	// Skipped are the resamples left out because their training did not converge, in the order of b; Warnings
	// report them.
	Skipped []*FitError
	// Status says whether all requested resamples were done.
	Status Status
	// Empty counts the resamples without examples. They predict the prior mean 0 and count in all averages.
	Empty int
	// OneClass counts the resamples that predict the label of their only class: see Problem.OneClass.
	OneClass int
	// Absent counts, per example, the resamples that do not contain it.
	Absent []int
	// Tests holds the left-out errors, one entry per test loss of the Settings.
	Tests []TestError
	// OutOfBag is the out-of-bag ensemble (bagging): for each example the mean prediction over the resamples
	// that leave it out, NaN if none does. OutOfBagVote is the fraction of positive ones.
	OutOfBag, OutOfBagVote []float64
	// OutOfBagVar is the variance of these predictions, if loss.SquareTest is among the tests, and
	// Disagreement the probability that two of these resamples predict different labels, if loss.ZeroOne is:
	// how much a prediction of a new row would change with other data. Both are unbiased, and NaN for fewer
	// than two resamples.
	OutOfBagVar, Disagreement []float64
	// VoteError is the error rate of the majority of OutOfBagVote on labels -1, +1, a tie counting half, and
	// VoteErrorSE its standard error. For other targets it is meaningless.
	VoteError, VoteErrorSE float64
	// Mean and Variance are the mean and the variance (unbiased) over resamples of the prediction at each
	// site, then at each extra input; MeanSE and VarianceSE are their standard errors.
	//
	// Under a plan of period > 1, such as K-fold, the standard errors are from the delete-a-group jackknife
	// over whole periods and need two. For one partition Variance is the variance over its folds.
	Mean, MeanSE, Variance, VarianceSE []float64
	// Vote is the fraction of resamples with a positive prediction there, 0 counting half: the class
	// probability of the vote.
	Vote []float64
	// Replaced counts estimates that are plain averages, because control variates took them out of range.
	Replaced int
	// Warnings are remarks on the answer, one line each.
	Warnings []string
	// Stats are the cost of the run.
	Stats Stats
}

// TestError is the left-out error after Efron under one test loss: an example's loss is averaged over
// the resamples that do not contain it, and these averages over the examples.
type TestError struct {
	Test loss.Test
	// Error is the mean of Examples over the examples that were left out at least once, and SE its standard
	// error by the delete-a-group jackknife: resample b (of those not skipped) is in group b/period mod 20.
	Error, SE float64
	// DataSE is the standard error of Error over data sets of this size by a jackknife over examples; 0:
	// unknown, as for more than MostJackknifed of them, for dependent fits and for tests after the first.
	DataSE float64
	// EquivalentResamples is the number of resamples of plain averages with the same standard error.
	EquivalentResamples float64
	// Examples holds the mean left-out loss of each example, NaN for an example that was never left out, and
	// ExamplesSE their standard errors, which plain averages do not have.
	Examples, ExamplesSE []float64
	// BaggedError is the mean loss of Averages.OutOfBag, and BaggedSE its standard error, computed like SE;
	// Error averages the predictors' errors. A small ensemble has a larger error than an infinite one: for
	// the square loss, by the predictor's variance over the number of resamples that leave an example out.
	BaggedError, BaggedSE float64
}

// Test is the entry of Tests for a loss of this name, or nil.
func (r *Averages) Test(name string) *TestError {
	for i := range r.Tests {
		if r.Tests[i].Test.Name() == name {
			return &r.Tests[i]
		}
	}
	return nil
}

// spread sets OutOfBagVar and Disagreement from the left-out errors at examples of targets y.
func (r *Averages) spread(y []float64) {
	square, rate := r.Test(loss.SquareTest{}.Name()), r.Test(loss.ZeroOne{}.Name())
	for i := range y {
		unbiased := 1.0 // of the theory, or infinitely many resamples
		if r.Absent != nil {
			if unbiased = math.NaN(); r.Absent[i] > 1 {
				unbiased = float64(r.Absent[i]) / float64(r.Absent[i]-1)
			}
		}
		if square != nil {
			off := r.OutOfBag[i] - y[i]
			r.OutOfBagVar = append(r.OutOfBagVar, unbiased*(square.Examples[i]-off*off))
		}
		if rate != nil {
			e := rate.Examples[i]
			r.Disagreement = append(r.Disagreement, unbiased*2*e*(1-e))
		}
	}
}

// Stats are the cost of a run.
type Stats struct {
	// Workers is the number of fits that ran at a time.
	Workers int
	// Fits counts the averaged fits that this run trained, and FitTime is the sum of their wall times:
	// FitTime/Fits is the time of one retraining with one BLAS thread.
	Fits    int
	FitTime time.Duration
	// Elapsed is the wall time of the run.
	Elapsed time.Duration
}

// Status says how a run ended.
type Status int

const (
	// Complete: all requested resamples were done.
	Complete Status = iota
	// Cancelled: the context ended first. The Averages are as of a run over the first resamples only.
	Cancelled
)

// ErrCancelled is the error of Cancelled.
var ErrCancelled = errors.New("retraining was cancelled")

// String names the status.
func (s Status) String() string { return [...]string{"complete", "cancelled"}[s] }

// UnconvergedError is the error of a training that ended before its tolerance was met.
type UnconvergedError struct {
	// Err says how it ended.
	Err error
}

func (e *UnconvergedError) Error() string { return e.Err.Error() }
func (e *UnconvergedError) Unwrap() error { return e.Err }

// FitError reports a resample whose training failed. As the error of a run it is the first one, in the order
// of b, that cannot be skipped.
type FitError struct {
	// Resample is b, counted from 0.
	Resample int
	// Err is the trainer's error.
	Err error
}

func (e *FitError) Error() string { return fmt.Sprintf("resample %d: %v", e.Resample, e.Err) }
func (e *FitError) Unwrap() error { return e.Err }
