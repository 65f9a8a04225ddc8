package leaveout

import (
	"time"

	"bootbench/internal/calibration"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/svm"
)

// Problem is a classifier and its examples.
type Problem struct {
	// Set are the examples, of labels -1 and +1, both among them. Weight, if not nil, multiplies C of each
	// and its part of errors: it stands for that many, which are left out together.
	train.Set
	// Kernel is the kernel matrix over the M sites.
	Kernel *svm.Rows
	// C > 0 is the cost of margin violation, +Inf for a hard margin.
	C float64
	// Classes are weights that multiply C of the examples of a label.
	Classes loss.ClassWeights
}

// weight is the weight of an example, and box is its box.
func (p *Problem) weight(i int) float64 { return calibration.WeightOf(p.Weight, i) }
func (p *Problem) box(i int) float64    { return svm.Box(p.C, p.weight(i), p.Y[i], p.Classes) }

// Method is a method for the leave-one-out error.
type Method string

const (
	// Exact retrains without every example, from the solution of all of them.
	Exact Method = "exact"
	// Fast gives the same outcomes as Exact, and retrains only without the examples that the bounds do not
	// decide.
	Fast Method = "fast"
	// XiAlpha counts the examples with rho a_i R^2 + xi_i >= 1, from one training. With rho = 2 it bounds the
	// count of Exact from above.
	XiAlpha Method = "xialpha"
	// Approximate estimates each left-out margin as if free support vectors stayed free and bounded ones
	// bounded (Opper, Winther), from one training.
	Approximate Method = "approx"
)

// All are the settings of all methods, the most expensive first, XiAlpha with rho = 2 and 1.
func All() []Settings {
	return []Settings{{Method: Exact}, {Method: Fast}, {Method: XiAlpha}, {Method: XiAlpha, Rho: 1},
		{Method: Approximate}}
}

// Settings of an estimate. The zero value is Exact with the defaults.
type Settings struct {
	Method Method // "": Exact
	// Rho > 0 is the factor of XiAlpha; 0 means defaultRho, the proven one.
	Rho float64
	// Tolerance is the tolerance of all trainings; 0 means DefaultTolerance.
	Tolerance float64
	// Progress, if set, is called with the number of finished trainings. Calls do not overlap.
	Progress func(done, total int)
}

// The defaults of Settings.
const (
	defaultRho       = 2.0
	DefaultTolerance = 1e-6
)

// Result is an estimate.
type Result struct {
	Method Method
	// Errors counts the examples that are misclassified when left out. Error is the mean of the known Losses,
	// NaN for none; it is weighted, and so are recall and precision.
	Errors int
	Error  float64
	// Loss is the zero-one loss of every left-out example, 1/2 if f_-i = 0, NaN if the estimate was cancelled
	// before.
	Loss []float64
	// Margin is y_i f_-i as retrained or approximated, NaN if a bound decided; for XiAlpha it is y_i f_i of
	// the training on all examples.
	Margin []float64
	// Alpha and Slack are the dual weights a_i and the slacks xi_i of the training on all examples, and Bound
	// is 2 a_i R^2 + xi_i, at least 1 for every error (Joachims' lemma).
	Alpha, Slack, Bound []float64
	// Ties are the examples, from 0, with |f_-i| < 1e-3 in Margin.
	Ties []int
	// Retrained counts trainings without an example, Skipped the examples that needed none.
	Retrained, Skipped int
	// Recall and Precision of the label +1 by the same losses: the fraction of positive examples predicted
	// positive, and of positive predictions that are right. Precision is 0 without positive predictions.
	Recall, Precision float64
	Rho               float64 // of XiAlpha, 0 otherwise
	// BiasFree counts the examples with 2 a_i R^2 + xi_i < 1 whose removal may make the bias unbounded,
	// because no free support vector can compensate: Fast retrains without them, XiAlpha with rho >= 2
	// counts them as errors.
	BiasFree int
	// SupportVectors and Violation are of the training on all examples.
	SupportVectors int
	Violation      float64
	Status         Status
	Elapsed        time.Duration
}

// Status says whether a Result is complete.
type Status string

const (
	Complete  Status = "complete"  // every example has its outcome
	Inexact   Status = "inexact"   // a training missed its tolerance
	Cancelled Status = "cancelled" // the context ended; the Result has the finished outcomes
)
