package multifidelity

import (
	"fmt"
	"math"
	"time"

	"bootbench/internal/retrain"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// Result are estimates from finitely many resamples. They are unbiased unless said
// otherwise, and their standard errors say how far they may be from the averages over
// infinitely many. What cannot be known from the resamples done is NaN.
type Result struct {
	Resamples int            // that the estimates rest on
	Status    retrain.Status // whether these are all that were asked for
	Method    string         // how they were trained: "batch"
	Control   string         // "first iterate", or "none"
	Tests     []TestError    // one entry for each of Settings.Tests
	Points    Points
	// OutOfBag is, for each example, the mean prediction over the resamples that leave it out.
	OutOfBag []float64
	// Iterations is the number of products with G of all fits, and Exact that of the
	// fits left to the exact trainer.
	Iterations, Exact int
	// OneClass counts the resamples of one class, see retrain.Problem.
	OneClass int
	Warnings []string
	Time     Time

	solution *solver.Solution
}

// TestError is the left-out error (Efron) under one test loss: the mean over examples of
// the loss averaged over the resamples that leave the example out.
type TestError struct {
	Test                 loss.Test
	Error, StandardError float64
	// EquivalentResamples is the number of plain retrainings whose left-out error would
	// have the same standard error.
	EquivalentResamples float64
	// BaggedError is the test loss of the out-of-bag ensemble: of each example at the mean prediction of the
	// resamples that leave it out. BaggedSE is its standard error, by the jackknife over ten groups of
	// resamples. It is unbiased for the square test loss; for others it is off by about half their second
	// derivative times the mean prediction's squared standard error.
	BaggedError, BaggedSE float64
	// Examples are the left-out errors of the examples, ExamplesSE their standard errors.
	// Their mean is another estimate of Error, of larger variance.
	Examples, ExamplesSE []float64
}

// Points are estimates at the M sites and then at the new inputs.
type Points struct {
	Mean, MeanSE []float64 // mean over resamples of the predictor
	// Variance is its variance. Being unbiased it may be negative where resamples are few. VarianceSE is its
	// standard error: what the fits show at the point and at the others together (steadied). A logarithm is
	// nearer to normal: 95% of the intervals Variance exp(±1.96 VarianceSE/Variance) hold the variance.
	Variance, VarianceSE []float64
	Vote, VoteSE         []float64 // share of resamples whose prediction is positive
}

// Time is wall time.
type Time struct {
	Fits  time.Duration // of training, the choice of examples and bookkeeping included
	Total time.Duration // with the set-up
}

// Test is the estimate for a test loss of this name; nil: there is none.
func (r *Result) Test(name string) *TestError {
	for i := range r.Tests {
		if r.Tests[i].Test.Name() == name {
			return &r.Tests[i]
		}
	}
	return nil
}

// TestError is the estimate for the first test loss.
func (r *Result) TestError() TestError { return r.Tests[0] }

// ErrorEstimates combines the left-out error of test loss number test with the apparent
// error of fit, the predictor at the sites trained once on all data (solver.Combine632).
// The standard error of Err632 is 0.632 of that of the left-out error.
func (r *Result) ErrorEstimates(test int, fit []float64) solver.ErrorEstimates {
	p := r.solution.Problem
	return solver.Combine632(r.Tests[test].Error, r.Tests[test].Test, p.Y, r.solution.PerExample(fit), p.Weights)
}

// Result reads the estimates off. Resamples of an unfinished period do not count.
func (e *Estimator) Result() *Result {
	r := &Result{Resamples: e.done / e.period * e.period, Control: "none", Warnings: e.warnings,
		solution: e.solution}
	if e.known != nil {
		r.Control = "first iterate"
	}
	e.readPoints(r)
	e.readTests(r)
	return r
}

// plan uses controls of these sizes.
func (e *Estimator) plan(first, second float64) plan {
	return plan{plain: e.known == nil, floor: [controls]float64{rounding * first * first,
		rounding * second * second}}
}

func (e *Estimator) readPoints(r *Result) {
	points := &r.Points
	fields := []*[]float64{&points.Mean, &points.MeanSE, &points.Variance, &points.VarianceSE, &points.Vote,
		&points.VoteSE}
	for _, field := range fields {
		*field = make([]float64, len(e.center))
	}
	linalg.Parallel(len(e.center), func(j int) {
		d := e.deviation(j)
		p := e.plan(d, d*d)
		if e.known != nil {
			p.prior = [][controls]float64{{1, 0}, {2 * (e.known.Mean[j] - e.center[j]), 1}, {0, 0}}
		}
		at := e.points.estimate(j, p)
		off := at.mean[0]
		points.Mean[j], points.MeanSE[j] = e.center[j]+off, at.se(0)
		// E f^2 - (E f)^2 about the center, with the mean's own variance, by which the
		// square of its estimate is too large, added back.
		points.Variance[j] = at.mean[1] - off*off + at.cov[0][0]
		points.VarianceSE[j] = math.Sqrt(math.Max(0, at.cov[1][1]-4*off*at.cov[0][1]+4*off*off*at.cov[0][0]))
		points.Vote[j], points.VoteSE[j] = at.mean[2], at.se(2)
	})
	steady(points.VarianceSE, points.Variance, r.Resamples)
}

// Few fits seldom show the tails that make a variance uncertain, and least where it is itself too small. The
// relative error variance of a point is therefore averaged with its mean over the points, which counts as
// poolWeight resamples, and raised by 1 + unseenTails/(number of resamples). Both were chosen so that 95%
// intervals hold in 12 models at 40 and at 200 resamples (TestCoverage).
const poolWeight, unseenTails = 50, 15

// steady replaces standard errors se of estimates from a number of resamples by those.
func steady(se, estimates []float64, resamples int) {
	relative := func(i int) float64 { return se[i] * se[i] / (estimates[i] * estimates[i]) }
	mean, count := 0.0, 0.0
	for i, v := range estimates {
		if v > 0 && se[i] > 0 {
			mean += math.Min(1, relative(i)) // where most is noise, one point must not lead
			count++
		}
	}
	if count == 0 {
		return
	}
	mean /= count
	n := float64(resamples)
	for i, v := range estimates {
		if v > 0 && se[i] > 0 {
			se[i] = v * math.Sqrt((1+unseenTails/n)*(n*relative(i)+poolWeight*mean)/(n+poolWeight))
		}
	}
}

func (e *Estimator) readTests(r *Result) {
	if e.examples == nil {
		r.Warnings = append(r.Warnings, "no example is ever left out: there is no left-out error")
		nan := math.NaN()
		for _, test := range e.tests {
			r.Tests = append(r.Tests, TestError{Test: test, Error: nan, StandardError: nan, EquivalentResamples: nan,
				BaggedError: nan, BaggedSE: nan})
		}
		return
	}
	n := len(e.absent)
	for _, l := range e.leftOut {
		r.Tests = append(r.Tests, TestError{Test: l.test, Examples: make([]float64, n),
			ExamplesSE: make([]float64, n)})
	}
	bags := make([]bag, n)
	linalg.Parallel(n, func(i int) {
		d := math.Sqrt(absentVar(e.solution, i))
		p := e.plan(d, d*d)
		p.prior = [][controls]float64{{1, 0}}
		for _, l := range e.leftOut {
			p.prior = append(p.prior, [controls]float64{l.slope[i], l.curve[i]})
		}
		at := e.examples.estimate(i, p)
		bags[i] = newBag(e.center[e.solution.SiteOf(i)], at)
		for t, test := range r.Tests {
			test.Examples[i], test.ExamplesSE[i] = at.mean[1+t], at.se(1+t)
		}
	})
	never := 0.0
	for i, k := range e.absent {
		if k == 0 {
			never++
		}
		r.OutOfBag = append(r.OutOfBag, bags[i].mean)
	}
	if never > 0 {
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("%.0f of %d examples were never left out: their own left-out errors are not known, and the "+
				"bagged error is without them", never, n))
	}
	for t, l := range e.leftOut {
		test, gain := &r.Tests[t], 0.0
		first, second := 0.0, 0.0 // means over examples of what a standard deviation of F1 moves the loss by
		for i := range e.absent {
			v := absentVar(e.solution, i)
			first += math.Abs(l.slope[i]) * math.Sqrt(v) / float64(n)
			second += math.Abs(l.curve[i]) * v / float64(n)
		}
		p := e.plan(first, second)
		p.prior = [][controls]float64{{1, 1}, {1, 1}}
		test.Error, test.StandardError, gain = l.estimate(p)
		test.EquivalentResamples = gain * float64(r.Resamples)
		test.BaggedError, test.BaggedSE = e.bagged(l.test, bags)
	}
}

// bag is the mean prediction for an example over the resamples that leave it out, the variance
// of its error, and the mean with one group of resamples deleted.
type bag struct {
	mean, variance float64
	without        [groups]float64
}

// newBag reads the first response, the prediction from a center.
func newBag(center float64, at *estimate) bag {
	b := bag{mean: center + at.mean[0], variance: at.cov[0][0]}
	for g := range b.without {
		b.without[g] = center + at.without(0, g)
	}
	return b
}

// bagged is the error of the mean prediction over the resamples without the example, which for the square
// loss must be two at least, and its standard error: by the jackknife, or where that is less, as for a loss
// of steps that no group moves over one, by what the mean predictions' own standard errors say.
func (e *Estimator) bagged(test loss.Test, bags []bag) (value, se float64) {
	_, square := test.(loss.SquareTest)
	over := func(prediction func(b *bag) float64) float64 {
		sum, count := 0.0, 0.0
		for i, y := range e.solution.Problem.Y {
			f := prediction(&bags[i])
			if math.IsNaN(f) || square && math.IsNaN(bags[i].variance) {
				continue
			}
			value, w := test.Value(f, y), weightOf(e.solution, i)
			if square {
				value -= bags[i].variance
			}
			sum += w * value
			count += w
		}
		return sum / count
	}
	var without []float64
	for g := range min(groups, e.done/e.period) {
		without = append(without, over(func(b *bag) float64 { return b.without[g] }))
	}
	return over(func(b *bag) float64 { return b.mean }),
		math.Max(retrain.Jackknife(without), e.stepError(test, bags))
}

// stepError is the standard error of the mean over examples of a test loss of 0 or 1 at mean
// predictions that are normal about their estimates: the root of the sum of p (1 - p)/N^2, p
// the probability of a 1. It is 0 for other losses.
func (e *Estimator) stepError(test loss.Test, bags []bag) float64 {
	if _, steps := test.(loss.ZeroOne); !steps {
		return 0
	}
	sum, count := 0.0, 0.0
	for i, y := range e.solution.Problem.Y {
		if b := bags[i]; !math.IsNaN(b.variance) {
			p := test.Gaussian(b.mean, b.variance, y)
			w := weightOf(e.solution, i)
			sum += w * w * p * (1 - p)
			count += w
		}
	}
	return math.Sqrt(sum) / count
}
