package loo

import (
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/internal/svm"
	"bootbench/internal/train"
)

// Problem is a classifier whose errors on left-out examples are asked for.
type Problem struct {
	// Kernel is the kernel matrix over the M sites (see svm.NewRows, svm.NewCache).
	Kernel *svm.Rows
	// Site maps the examples to their sites.
	Site train.Sites
	// Y are the labels, -1 or +1, length N, both among them.
	Y []float64
	// C > 0 is the cost of margin violation, +Inf for a hard margin.
	C float64
	// ClassWeight, if set, multiplies C of the examples of a label.
	ClassWeight func(label float64) float64
	// Bias says whether f has a constant besides.
	Bias bool
}

// Method is a method for the leave-one-out error.
type Method int

const (
	// Exact retrains without every example, from the solution of all of them.
	Exact Method = iota
	// Fast gives the same outcomes as Exact, and retrains only without the
	// examples that the bounds leave open.
	Fast
	// XiAlpha counts the examples with rho a_i R^2 + xi_i >= 1, from one training.
	// With rho = 2 the count is never below that of Exact.
	XiAlpha
	// Approximate moves each margin as leaving out the example would if the free
	// support vectors stayed free and the bounded ones bounded (Opper, Winther),
	// from one training.
	Approximate
)

var methodNames = [...]string{"exact", "fast", "xialpha", "approx"}

// String is the name of the method, as in the command.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return "unknown method"
	}
	return methodNames[m]
}

// Methods lists all methods, the most expensive first.
func Methods() []Method { return []Method{Exact, Fast, XiAlpha, Approximate} }

// Settings say how to estimate. The zero value is Exact with the defaults.
type Settings struct {
	Method Method
	// Rho is the factor of XiAlpha, 1 or 2, or whatever is positive. 0 means
	// DefaultRho, the proven one.
	Rho float64
	// Tolerance is that of all trainings; 0 means DefaultTolerance.
	Tolerance float64
	// Tie is the |f_-i| below which an example is listed among the ties; 0 means
	// DefaultTie.
	Tie float64
	// RadiusSquared is R^2, known beforehand: at least max K_ii - min K_ij. 0 means
	// that it is found out, for which every row of the kernel is needed.
	RadiusSquared float64
	// Workers train at the same time; 0 means GOMAXPROCS.
	Workers int
	// Progress, if set, is called with how many of the trainings are done. Calls do not
	// overlap.
	Progress func(done, total int)
}

// The defaults of Settings.
const (
	DefaultRho       = 2.0
	DefaultTolerance = 1e-6
	DefaultTie       = 1e-3
)

// Outcome is what became of an example that was left out.
type Outcome int8

const (
	// Pending: the estimate was cancelled before.
	Pending Outcome = iota
	// Correct and Wrong: by retraining or, in XiAlpha and Approximate, by estimate.
	Correct
	Wrong
	// Tied: f_-i is exactly 0, which counts as half an error.
	Tied
	// SafelyCorrect and SafelyWrong: by a bound, without retraining.
	SafelyCorrect
	SafelyWrong
)

// outcomeOf is the outcome at a left-out margin y f; NaN is an error.
func outcomeOf(margin float64) Outcome {
	switch {
	case margin > 0:
		return Correct
	case margin == 0:
		return Tied
	}
	return Wrong
}

// zeroOne is the zero-one loss of an outcome.
func (o Outcome) zeroOne() float64 {
	switch o {
	case Wrong, SafelyWrong:
		return 1
	case Tied:
		return 0.5
	}
	return 0
}

// ZeroOne is the zero-one loss of every example left out, a half for a tie.
func (r *Result) ZeroOne() []float64 {
	each := make([]float64, len(r.Outcome))
	for i, o := range r.Outcome {
		each[i] = o.zeroOne()
	}
	return each
}

// Result is an estimate.
type Result struct {
	Method Method
	// Errors counts the examples that are misclassified when left out, of those
	// that are not Pending, Tied those whose left-out f is exactly 0. Error is the
	// mean zero-one loss, in which a tie counts half.
	Errors, Tied int
	Error        float64
	// Retrained counts trainings without an example, Skipped the examples that
	// needed none.
	Retrained, Skipped int
	// Recall and Precision of the label +1 by the same outcomes: the share of the
	// positive examples that are recognised, and of those recognised as positive
	// that are. Precision is 0 where nothing is recognised.
	Recall, Precision float64
	Rho               float64 // of XiAlpha, 0 otherwise
	RadiusSquared     float64 // R^2, where it was needed
	// Outcome of each example, length N.
	Outcome []Outcome
	// Margin is y_i f_-i of each example as retrained or approximated, length N.
	// It is y_i f_i, of the training on all examples, where f_-i was not needed.
	Margin []float64
	// Ties are the examples, from 0, with |f_-i| below Settings.Tie.
	Ties []int
	// BiasFree counts the examples that the bound 2 a_i R^2 + xi_i < 1 would call
	// correct, but whose removal may make the bias unbounded, because no free
	// support vector can balance it: Fast retrains without them, XiAlpha with
	// rho >= 2 counts them as errors.
	BiasFree int
	// SupportVectors and Violation are of the training on all examples.
	SupportVectors int
	Violation      float64
	// Unfinished lists the examples, from 0, whose retraining missed the tolerance.
	Unfinished []int
	Status     Status
	// Train and Elapsed are the time of the training on all examples, and of all.
	Train, Elapsed time.Duration
}

// Status says how good a Result is.
type Status int

const (
	// Complete: every example has its outcome.
	Complete Status = iota
	// Inexact: some training missed its tolerance; see Unfinished and Violation.
	Inexact
	// Cancelled: the context ended; what was finished is in the Result.
	Cancelled
)

var statusNames = [...]string{"complete", "inexact", "cancelled"}

// String is the status in lower case.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return "unknown status"
	}
	return statusNames[s]
}

// ErrInexact is the error of Inexact.
var ErrInexact = errors.New("leave-one-out: a training missed its tolerance")

// Err is nil for Complete.
func (s Status) Err() error {
	switch s {
	case Inexact:
		return ErrInexact
	case Cancelled:
		return errors.New("leave-one-out was cancelled")
	}
	return nil
}

// cost is C of the examples of a label.
func (p *Problem) cost(label float64) float64 {
	if p.ClassWeight == nil {
		return p.C
	}
	return p.C * p.ClassWeight(label)
}

// check reports what the trainer does not: what makes leaving out meaningless.
func (p *Problem) check() error {
	if p.Kernel == nil {
		return errors.New("there is no kernel matrix")
	}
	if !(p.C > 0) {
		return fmt.Errorf("the cost C of margin violation must be positive, got %v", p.C)
	}
	seen := map[float64]int{}
	for _, y := range p.Y {
		seen[y]++
	}
	for y := range seen {
		if y != 1 && y != -1 {
			return fmt.Errorf("there are labels %v, all must be -1 or +1", y)
		}
	}
	if len(seen) != 2 {
		return fmt.Errorf("leave-one-out needs examples of two classes, found %d among %d examples", len(seen),
			len(p.Y))
	}
	return nil
}

// complete checks s and fills in the defaults.
func (s *Settings) complete() error {
	if s.Method < Exact || s.Method > Approximate {
		return fmt.Errorf("there is no leave-one-out method %d", int(s.Method))
	}
	err := errors.Join(
		train.Default("rho", &s.Rho, DefaultRho),
		train.Default("the tolerance", &s.Tolerance, DefaultTolerance),
		train.Default("the tie", &s.Tie, DefaultTie))
	if err != nil {
		return err
	}
	if !(s.RadiusSquared >= 0) || math.IsInf(s.RadiusSquared, 1) {
		return fmt.Errorf("R^2 must be positive, got %v", s.RadiusSquared)
	}
	if s.Workers < 0 {
		return fmt.Errorf("the number of workers must be positive, got %d", s.Workers)
	}
	return nil
}
