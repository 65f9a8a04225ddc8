package retrain

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"bootbench/loss"
	"bootbench/resample"
)

// groups is the number of groups of the delete-a-group jackknife.
const groups = 20

// grouping puts resample b into group b/period mod groups, so that resamples that depend on each other share
// a group, and each group can be deleted afterwards.
type grouping struct {
	period int
	done   int // resamples taken in
}

// next is the group of the next resample.
func (g *grouping) next() int {
	group := g.done / g.period % groups
	g.done++
	return group
}

// used is the number of groups that hold resamples; an unfinished period is none.
func (g *grouping) used() int { return min(groups, g.done/g.period) }

// leftOut sums over the resamples that leave an example out: its losses, the
// prediction at its input, and its votes for the positive class.
type leftOut struct {
	grouping
	problem *Problem
	tests   []loss.Test // the caller's, then prediction and vote
	absent  []int       // N x groups: how often the example was left out
	sums    [][]float64 // per test, N x groups
}

func newLeftOut(p *Problem, tests []loss.Test, period int) *leftOut {
	l := &leftOut{grouping: grouping{period: period}, problem: p, absent: make([]int, len(p.Y)*groups)}
	l.tests = append(append(l.tests, tests...), loss.Prediction{}, loss.Vote{})
	for range l.tests {
		l.sums = append(l.sums, make([]float64, len(p.Y)*groups))
	}
	return l
}

// add takes in the next resample, fit number r.
func (l *leftOut) add(r int, weight, f []float64) {
	group := l.next()
	first, end := resample.Judged(l.problem.Plan, r, len(weight))
	for i := first; i < end; i++ {
		if weight[i] != 0 {
			continue
		}
		prediction, y := f[l.problem.Site.At(i)], l.problem.Y[i]
		l.absent[i*groups+group]++
		for t, test := range l.tests {
			l.sums[t][i*groups+group] += test.Value(prediction, y)
		}
	}
}

// totals counts, per example, the resamples that left it out.
func (l *leftOut) totals() []int {
	totals := make([]int, len(l.problem.Y))
	for i := range totals {
		for _, c := range l.absent[i*groups : (i+1)*groups] {
			totals[i] += c
		}
	}
	return totals
}

// means are, per example, the mean of a test over the resamples that leave it
// out: NaN for an example that never is.
func (l *leftOut) means(test int) []float64 {
	means := make([]float64, len(l.problem.Y))
	for i := range means {
		sum, count := l.total(test, i, -1)
		means[i] = sum / float64(count) // 0/0 = NaN: never left out
	}
	return means
}

// total sums a test over the groups of an example but one; -1 deletes none.
func (l *leftOut) total(test, example, without int) (sum float64, count int) {
	for g := range groups {
		if g != without {
			sum += l.sums[test][example*groups+g]
			count += l.absent[example*groups+g]
		}
	}
	return sum, count
}

// report averages a function of the mean of a test over the examples, with its standard error.
func (l *leftOut) report(test int, of func(mean, y float64) float64) (value, se float64) {
	over := func(without int) float64 {
		sum, count := 0.0, 0.0
		for i, y := range l.problem.Y {
			if s, n := l.total(test, i, without); n > 0 {
				w := 1.0
				if l.problem.Weights != nil {
					w = l.problem.Weights[i]
				}
				sum += w * of(s/float64(n), y)
				count += w
			}
		}
		return sum / count
	}
	var without []float64
	for g := range l.used() {
		without = append(without, over(g))
	}
	return over(-1), Jackknife(without)
}

// errors are the left-out errors under the caller's tests.
func (l *leftOut) errors() []LeftOut {
	var all []LeftOut
	for t, test := range l.tests[:len(l.tests)-2] {
		r := LeftOut{Test: test.Name(), Examples: l.means(t)}
		r.Error, r.SE = l.report(t, func(mean, _ float64) float64 { return mean })
		all = append(all, r)
	}
	return all
}

// outOfBag is the ensemble of the predictors that leave an example out.
func (l *leftOut) outOfBag() OutOfBag {
	prediction, vote := len(l.tests)-2, len(l.tests)-1
	bag := OutOfBag{Mean: l.means(prediction), Vote: l.means(vote)}
	for _, test := range l.tests[:prediction] {
		r := EnsembleError{Test: test.Name()}
		r.Error, r.SE = l.report(prediction, test.Value)
		bag.Errors = append(bag.Errors, r)
	}
	bag.VoteError, bag.VoteErrorSE = l.report(vote, func(share, y float64) float64 {
		return loss.ZeroOne{}.Value(share-0.5, y)
	})
	return bag
}

// Jackknife is the standard error of an estimate from its values with one of G groups deleted in turn: the
// square root of (G-1)/G sum_g (e_g - mean e)^2. NaN for fewer than two groups.
func Jackknife(without []float64) float64 {
	g := float64(len(without))
	if g < 2 {
		return math.NaN()
	}
	about := make([]float64, len(without)) // so that equal ones have no error at all
	for i, v := range without {
		about[i] = v - without[0]
	}
	return math.Sqrt((g - 1) * stat.PopVariance(about, nil))
}
