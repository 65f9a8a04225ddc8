package fits

import (
	"math"
	"slices"
	"sync/atomic"

	"bootbench/loss"
)

// Averages implements Estimator: estimates are unbiased unless stated otherwise. Resamples of an
// unfinished period do not count.
//
// Where control variates take an estimate out of its range, as a variance below 0 or an error rate above 1,
// the plain average of the same resamples replaces it.
//
// The standard error of a variance is pooled over the points (steady). The
// logarithm is nearer to normal: 95% of the intervals Variance exp(±1.96 VarianceSE/Variance) hold the
// variance.
//
// The mean of Examples is another estimate of a left-out error, of larger variance. BaggedError is unbiased
// for the square test loss; for others the bias is about half their second derivative times the mean
// prediction's squared standard error.
func (e *Controlled) Averages() *Averages {
	r := &Averages{Resamples: e.done / e.period * e.period, Warnings: slices.Clone(e.warnings),
		Absent: slices.Clone(e.absent)}
	e.readPoints(r)
	e.readTests(r)
	r.spread(e.solution.Problem.Y)
	return r
}

// floor is the least mean squares of controls of these scales.
func floor(first, second float64) [controls]float64 {
	return [controls]float64{rounding * first * first, rounding * second * second}
}

func (e *Controlled) readPoints(r *Averages) {
	for _, field := range []*[]float64{&r.Mean, &r.MeanSE, &r.Variance, &r.VarianceSE, &r.Vote} {
		*field = make([]float64, len(e.center))
	}
	var replaced atomic.Int64
	eachSums(len(e.center), pointResponses, e.points, e.addPoint, func(j int, sums *regression) {
		d := e.deviation(j)
		p := plan{floor: floor(d, d*d)}
		if e.known.Mean != nil {
			p.prior = [][controls]float64{{1, 0}, {2 * (e.known.Mean[j] - e.center[j]), 1}, {0, 0}}
		}
		at := sums.estimate(0, p)
		if at.variance() < 0 {
			at = sums.estimate(0, uncontrolled)
			replaced.Add(1)
		}
		off := at.mean[0]
		r.Mean[j], r.MeanSE[j], r.Vote[j] = e.center[j]+off, at.se(0), at.mean[2]
		r.Variance[j] = math.Max(0, at.variance()) // rounding
		r.VarianceSE[j] = math.Sqrt(math.Max(0, at.cov[1][1]-4*off*at.cov[0][1]+4*off*off*at.cov[0][0]))
	})
	r.Replaced += int(replaced.Load())
	steady(r.VarianceSE, r.Variance, r.Resamples)
}

// uncontrolled is the plan of plain averages: no control counts as one.
var uncontrolled = plan{floor: [controls]float64{math.Inf(1), math.Inf(1)}}

// variance is E f^2 - (E f)^2 about the center, plus the variance of the mean's estimate, the bias of its
// square.
func (e *estimate) variance() float64 { return e.mean[1] - e.mean[0]*e.mean[0] + e.cov[0][0] }

// Few fits underestimate the error of a variance. The relative error variance of a point is therefore
// averaged with its mean over the points, of weight poolWeight resamples, and multiplied by 1 +
// unseenTails/(number of resamples). Both were chosen for correct coverage of 95% intervals in 12 models at
// 40 and 200 resamples (TestCoverage).
const poolWeight, unseenTails = 50, 15

// steady replaces the standard errors se of estimates by pooled ones.
func steady(se, estimates []float64, resamples int) {
	relative := func(i int) float64 { return se[i] * se[i] / (estimates[i] * estimates[i]) }
	mean, count := 0.0, 0.0
	for i, v := range estimates {
		if v > 0 && se[i] > 0 {
			mean += math.Min(1, relative(i)) // one noisy point must not dominate
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

func (e *Controlled) readTests(r *Averages) {
	n := len(e.absent)
	for _, l := range e.leftOut {
		r.Tests = append(r.Tests, TestError{Test: l.test, Examples: make([]float64, n),
			ExamplesSE: make([]float64, n)})
	}
	bags := make([]bag, n)
	var replaced atomic.Int64
	eachSums(n, 1+len(e.leftOut), e.examples, e.addExample, func(i int, sums *regression) {
		d := math.Sqrt(absentVar(e.solution, i))
		p := plan{floor: floor(d, d*d), prior: [][controls]float64{{1, 0}}}
		for _, l := range e.leftOut {
			p.prior = append(p.prior, [controls]float64{l.slope[i], l.curve[i]})
		}
		at := sums.estimate(0, p)
		bags[i] = newBag(e.center[e.solution.SiteOf(i)], at)
		for t, test := range r.Tests {
			of := at
			if outOfRange(test.Test, at.mean[1+t]) {
				of = sums.estimate(0, uncontrolled)
				replaced.Add(1)
			}
			test.Examples[i], test.ExamplesSE[i] = of.mean[1+t], of.se(1+t)
		}
	})
	for i := range e.absent {
		r.OutOfBag = append(r.OutOfBag, bags[i].means[controlGroups])
	}
	for t, l := range e.leftOut {
		test, gain := &r.Tests[t], 0.0
		// means over examples of the change of the loss by a standard deviation of F1
		first, second := 0.0, 0.0
		for i := range e.absent {
			v := absentVar(e.solution, i)
			first += math.Abs(l.slope[i]) * math.Sqrt(v) / float64(n)
			second += math.Abs(l.curve[i]) * v / float64(n)
		}
		test.Error, test.SE, gain = l.estimate(floor(first, second))
		if outOfRange(l.test, test.Error) {
			test.Error, test.SE, gain = l.plain(e.absent)
			replaced.Add(1)
			if t == 0 {
				r.Warnings = append(r.Warnings, "control variates took the left-out error out of its range: "+
					"the plain average over the resamples replaces it")
			}
		}
		test.EquivalentResamples = gain * float64(r.Resamples)
		if t == 0 {
			test.DataSE = e.jack.se()
		}
		test.BaggedError, test.BaggedSE = e.bagged(l.test, bags)
		if outOfRange(l.test, test.BaggedError) { // less the variance of mean predictions of the square loss
			test.BaggedError = 0
			replaced.Add(1)
		}
	}
	r.Replaced += int(replaced.Load())
}

// outOfRange reports whether an estimate is out of the range of a test loss.
func outOfRange(test loss.Test, estimate float64) bool {
	least, largest := loss.Range(test)
	return estimate < least || estimate > largest
}

// bag is the mean prediction for an example over the resamples that leave it out: with each group of
// resamples deleted and, last, with none, and the variance of that.
type bag struct {
	means    [controlGroups + 1]float64
	variance float64
}

// newBag is the bag of the first response, the prediction minus center.
func newBag(center float64, at *estimate) bag {
	b := bag{variance: at.cov[0][0]}
	for g := range controlGroups {
		b.means[g] = center + at.without(0, g)
	}
	b.means[controlGroups] = center + at.mean[0]
	return b
}

// bagged is the error of the mean prediction over the resamples without the example, at least two for the
// square loss, and its standard error: by the jackknife, or from the mean predictions' standard errors if
// that is larger, as for a 0-1 loss that no group changes: the root of the sum of p (1 - p)/N^2, with p the
// probability of a 1 under normal errors of the predictions.
func (e *Controlled) bagged(test loss.Test, bags []bag) (value, se float64) {
	is := loss.TraitsOf(test)
	var sum, count [controlGroups + 1]float64
	squares, weights := 0.0, 0.0
	for i, y := range e.solution.Problem.Y {
		w, v := weightOf(e.solution.Problem.Weights, i), bags[i].variance
		known := !math.IsNaN(v)
		for g, f := range bags[i].means {
			if math.IsNaN(f) || is.Quadratic && !known {
				continue
			}
			count[g] += w
			if sum[g] += w * test.Value(f, y); is.Quadratic {
				sum[g] -= w * v
			}
		}
		if is.Steps && known {
			p := test.Gaussian(bags[i].means[controlGroups], v, y)
			squares += w * w * p * (1 - p)
			weights += w
		}
	}
	for g := range sum {
		sum[g] /= count[g]
	}
	se = Jackknife(sum[:min(controlGroups, e.done/e.period)])
	if is.Steps {
		se = math.Max(se, math.Sqrt(squares)/weights)
	}
	return sum[controlGroups], se
}
