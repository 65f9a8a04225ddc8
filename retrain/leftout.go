package retrain

import (
	"math"

	"bootbench/loss"
)

// groups is the number of groups of the delete-a-group jackknife.
const groups = 20

// leftOut sums the losses of left-out examples. Resample b adds to group
// b mod groups, so that each group can be deleted afterwards.
type leftOut struct {
	problem *Problem
	tests   []loss.Test
	done    int         // resamples taken in
	absent  []int       // N x groups: how often the example was left out
	sums    [][]float64 // per test, N x groups: the losses it then had
}

func newLeftOut(p *Problem, tests []loss.Test) *leftOut {
	l := &leftOut{problem: p, tests: tests, absent: make([]int, len(p.Y)*groups)}
	for range tests {
		l.sums = append(l.sums, make([]float64, len(p.Y)*groups))
	}
	return l
}

// add takes in the next resample.
func (l *leftOut) add(counts []int, f []float64) {
	group := l.done % groups
	l.done++
	for i, k := range counts {
		if k != 0 {
			continue
		}
		prediction, y := f[l.problem.site(i)], l.problem.Y[i]
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

// report returns the left-out error under test loss t.
func (l *leftOut) report(t int, totals []int) LeftOut {
	r := LeftOut{Test: l.tests[t].Name(), Examples: make([]float64, len(totals))}
	var all average
	var without [groups]average // without[g]: as all, group g deleted
	for i, absent := range totals {
		sums, absents := l.sums[t][i*groups:(i+1)*groups], l.absent[i*groups:(i+1)*groups]
		total := 0.0
		for _, s := range sums {
			total += s
		}
		r.Examples[i] = total / float64(absent) // 0/0 = NaN: never left out
		all.add(total, absent)
		for g := range without {
			without[g].add(total-sums[g], absent-absents[g])
		}
	}
	r.Error = all.value()
	r.SE = jackknife(without[:min(groups, l.done)])
	return r
}

// average is a mean of ratios; ratios of nothing do not count.
type average struct {
	sum float64
	n   int
}

func (a *average) add(sum float64, count int) {
	if count > 0 {
		a.sum += sum / float64(count)
		a.n++
	}
}

// value is NaN where nothing counted.
func (a average) value() float64 { return a.sum / float64(a.n) }

// jackknife is the standard error of an estimate from its values with one of G
// groups deleted in turn: the square root of (G-1)/G sum_g (e_g - mean e)^2.
func jackknife(without []average) float64 {
	g := float64(len(without))
	if g < 2 {
		return math.NaN()
	}
	mean, squares := 0.0, 0.0
	for _, e := range without {
		mean += e.value() / g
	}
	for _, e := range without {
		squares += (e.value() - mean) * (e.value() - mean)
	}
	return math.Sqrt((g - 1) / g * squares)
}
