package fits

import (
	"fmt"
	"math"
	"slices"

	"bootbench/loss"
	"bootbench/resample"
)

// groups is the number of groups of the delete-a-group jackknife. The b-th averaged fit is in group b/period
// mod groups, so that dependent fits are in the same one.
const groups = 20

// NumbersPerInput is the approximate number of float64 in averages per site or new input.
const NumbersPerInput = 12

// NumbersPerExample is the approximate number of float64 in averages per example, with that many test losses.
func NumbersPerExample(tests int) int64 { return groups * int64(3+tests) }

// plain is the Estimator of plain averages.
type plain struct {
	problem *Problem
	tests   []loss.Test // the caller's, then prediction and vote
	period  int
	done    int        // fits added
	center  []float64  // the first fit, against cancellation in sums of powers
	points  *Sums      // f - center, its square, vote; for independent fits one group, with products
	left    *Sums      // tests of each example over the fits that leave it out
	jack    *jackknife // of the first test
	values  []float64  // workspace
}

func newPlain(p *Problem, tests []loss.Test) *plain {
	a := &plain{problem: p, tests: append(slices.Clip(tests), loss.Prediction{}, loss.Vote{}),
		period: p.Plan.Period()}
	if a.points = NewSums(1, p.inputs(), 3, true); a.period > 1 {
		a.points = NewSums(groups, p.inputs(), 3, false)
	}
	a.left = NewSums(groups, len(p.Y), len(a.tests), false)
	a.values = make([]float64, len(a.tests)+1)
	a.jack = newJackknife(len(p.Y), p.Weights, a.period)
	return a
}

// Add implements Estimator.
func (a *plain) Add(number int, weight, f []float64) {
	group := a.done / a.period % groups
	a.done++
	if a.center == nil {
		a.center = slices.Clone(f[:a.problem.inputs()])
	}
	for j, v := range f[:a.problem.inputs()] {
		off := v - a.center[j]
		a.values[0], a.values[1], a.values[2] = off, off*off, loss.Vote{}.Value(v, 0)
		a.points.Add(group%a.points.groups, j, a.values[:3])
	}
	a.jack.add(weight, func(i int) float64 {
		return a.tests[0].Value(f[a.problem.Site.At(i)], a.problem.Y[i])
	})
	first, end := resample.Tested(a.problem.Plan, number, len(weight))
	for i := first; i < end; i++ {
		if weight[i] != 0 {
			continue
		}
		for t, test := range a.tests {
			a.values[t] = test.Value(f[a.problem.Site.At(i)], a.problem.Y[i])
		}
		a.left.Add(group, i, a.values[:len(a.tests)])
	}
}

// used is the number of groups with fits; an unfinished period does not count.
func (a *plain) used() int { return min(groups, a.done/a.period) }

// Averages implements Estimator.
func (a *plain) Averages() *Averages {
	r := &Averages{Resamples: a.done}
	for j := range a.problem.inputs() {
		a.readPoint(r, j)
	}
	for i := range a.problem.Y {
		r.Absent = append(r.Absent, int(a.left.Total(i).Count()))
	}
	tests, mean := len(a.tests)-2, func(mean, _ float64) float64 { return mean }
	for t, test := range a.tests[:tests] {
		e := TestError{Test: test, Examples: a.means(t), EquivalentResamples: float64(a.done)}
		if t == 0 {
			e.DataSE = a.jack.se()
		}
		e.Error, e.SE = a.overExamples(t, mean)
		e.BaggedError, e.BaggedSE = a.overExamples(tests, test.Value)
		r.Tests = append(r.Tests, e)
	}
	r.OutOfBag, r.OutOfBagVote = a.means(tests), a.means(tests+1)
	r.spread(a.problem.Y)
	r.VoteError, r.VoteErrorSE = a.overExamples(tests+1, func(share, y float64) float64 {
		return loss.ZeroOne{}.Value(share-0.5, y)
	})
	if a.done%a.period != 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d resamples are no whole number of partitions into %d "+
			"folds: the last one counts in part", a.done, a.period))
	}
	return r
}

// readPoint computes the averages at site or new input j. For dependent fits the standard errors are
// jackknifed, and the variance about the mean of n fits is corrected by the variance of the mean.
func (a *plain) readPoint(r *Averages, j int) {
	all := a.points.Total(j)
	n := all.Count()
	squares := func(m Moments) float64 { return m.Sum(1) - m.Sum(0)*m.Mean(0) } // about the mean
	mean, variance := all.Mean(0), squares(all)/(n-1)
	var meanSE, varianceSE float64
	if a.period == 1 {
		meanSE, varianceSE = math.Sqrt(variance/n), math.Sqrt(math.Max(0, varianceOfVariance(all)))
	} else {
		var means, variances []float64
		for g := range a.used() {
			rest := all.Less(a.points.Group(g, j))
			means, variances = append(means, rest.Mean(0)), append(variances, squares(rest)/rest.Count())
		}
		meanSE, varianceSE = Jackknife(means), Jackknife(variances)
		if variance = squares(all) / n; len(means) > 1 {
			variance += meanSE * meanSE
		}
	}
	if n > 0 {
		mean += a.center[j]
	}
	r.Mean, r.MeanSE = append(r.Mean, mean), append(r.MeanSE, meanSE)
	r.Variance, r.VarianceSE = append(r.Variance, variance), append(r.VarianceSE, varianceSE)
	r.Vote = append(r.Vote, all.Mean(2))
}

// varianceOfVariance is the unbiased estimate of the variance of k2, itself the unbiased estimate of the
// variance of the first variable from n >= 2 independent values; the second is its square. In the
// k-statistics, the unbiased estimates of cumulants,
//
//	(2 n k2^2 + (n-1) k4)/(n (n+1)).
//
// It may be negative. For two or three values k4 is taken as 0, as for a Gaussian.
func varianceOfVariance(m Moments) float64 {
	n, mean, m2 := m.Count(), m.Mean(0), m.Central(0, 0)
	k2, k4 := m2/(n-1), 0.0
	if n >= 4 {
		m4 := m.Product(1, 1) - 4*mean*m.Product(0, 1) + 6*mean*mean*m.Product(0, 0) - 3*n*mean*mean*mean*mean
		k4 = n * ((n+1)*m4 - 3*(n-1)/n*m2*m2) / ((n - 1) * (n - 2) * (n - 3))
	}
	return (2*n*k2*k2 + (n-1)*k4) / (n * (n + 1))
}

// means are the mean of a test over the fits that leave each example out, NaN if none does.
func (a *plain) means(test int) []float64 {
	means := make([]float64, len(a.problem.Y))
	for i := range means {
		means[i] = a.left.Total(i).Mean(test)
	}
	return means
}

// overExamples averages a function of the means of a test over the examples, with its standard error.
func (a *plain) overExamples(test int, of func(mean, y float64) float64) (value, se float64) {
	used := a.used()
	sum, weights := make([]float64, used+1), make([]float64, used+1) // with one group deleted; with none
	for i, y := range a.problem.Y {
		all, w := a.left.Total(i), weightOf(a.problem.Weights, i)
		for g := range sum {
			total, count := all.Sum(test), all.Count()
			if g < used {
				part := a.left.Group(g, i)
				total, count = total-part.Sum(test), count-part.Count()
			}
			if count > 0 {
				sum[g] += w * of(total/count, y)
				weights[g] += w
			}
		}
	}
	for g := range sum {
		sum[g] /= weights[g]
	}
	return sum[used], Jackknife(sum[:used])
}
