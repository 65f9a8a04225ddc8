package fits

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// rounding is the mean square, relative to independent resamples', below which a control is constant
// within the rounding of single precision, as the average of F1 over a partition into folds.
const rounding = 1e-6

// mostRecorded is the number of fits that a Controlled keeps as they are. Of more it keeps sums, which take
// as much memory as some 150 fits.
const mostRecorded = 64

// ControlledBytes is the approximate memory of a Controlled of that many fits.
func ControlledBytes(points, examples int64, fits int) int64 {
	const perPoint, perExample = 10, 40 // numbers beside fits and sums
	bytes := int64(min(fits, mostRecorded))*(12*points+examples) + 8*(perPoint*points+perExample*examples)
	if fits > mostRecorded {
		bytes += 8 * controlGroups * (21*points + 16*examples)
	}
	return bytes
}

// Controlled estimates averages from fits and their first iterates. Its memory does not depend on the number
// of resamples if they are many.
type Controlled struct {
	solution *solver.Solution
	known    Expectation // empty: no control
	warnings []string
	period   int // number of dependent resamples
	done     int // resamples added

	center   []float64   // the theory's mean, M + P
	scale    float64     // of F1 - E F1: a power of two
	recorded []recorded  // the last fits
	points   *regression // sums over the fits before: F1 - E F1 and its square; f - center, its square, votes
	unit     []unit      // their sums over an unfinished period, by point
	examples *regression // over those that leave the example out: the controls; f - center, tests
	leftOut  []*leftOut  // by test
	absent   []int       // per example, the resamples that leave it out
	jack     *jackknife  // of the first test
}

// recorded is a fit whose sums are not formed yet.
type recorded struct {
	exact  []float64 // f
	first  []float32 // F1 - E F1 in units of scale; 0 if unknown
	absent []bool    // examples
}

// pointResponses are f - center, (f - center)^2, votes.
const pointResponses = 3

type unit [controls + pointResponses]float64

// NewControlled prepares the estimates of a problem with the given test losses. It refuses a solution whose G
// was overwritten. If the average of F1 is unknown, the estimates use no control variate, and a warning says
// why.
func NewControlled(p Controls, tests []loss.Test) (*Controlled, error) {
	x, err := newIterate(p)
	if err != nil {
		return nil, err
	}
	n := len(p.Solution.Problem.Y)
	e := &Controlled{solution: p.Solution, period: p.Scheme.Period(), absent: make([]int, n),
		center: x.center, recorded: make([]recorded, 0, mostRecorded)}
	e.jack = newJackknife(n, p.Solution.Problem.Weights, e.period)
	for _, test := range tests {
		e.leftOut = append(e.leftOut, newLeftOut(&p, test))
	}
	e.known, err = x.expectation()
	if _, designed := p.Scheme.(resample.Designed); err != nil && !designed { // it is the rule for blocks
		e.warnings = append(e.warnings,
			fmt.Sprintf("no control variate: the average of the first iterate is not known: %v", err))
	}
	e.scale = tiny
	for j := range e.center {
		e.scale = math.Max(e.scale, e.deviation(j))
	}
	e.scale = math.Exp2(math.Round(math.Log2(e.scale)))
	return e, nil
}

// Add implements Estimator: f are the predictions of the exact fit at sites and new inputs, followed
// by the predictions of the first iterate (BlockSettings.FirstIterate).
func (e *Controlled) Add(_ int, weight, f []float64) {
	if len(e.recorded) == cap(e.recorded) {
		e.sumUp()
	}
	n := len(e.center)
	e.recorded = e.recorded[:len(e.recorded)+1]
	r := &e.recorded[len(e.recorded)-1]
	if r.exact == nil {
		*r = recorded{make([]float64, n), make([]float32, n), make([]bool, len(weight))}
	}
	copy(r.exact, f)
	for j, mean := range e.known.Mean {
		r.first[j] = float32((f[n+j] - mean) / e.scale)
	}
	for i, w := range weight {
		r.absent[i] = w == 0
	}
	e.addLeftOut(r, weight)
	e.done++
	if e.done%e.period == 0 {
		for _, l := range e.leftOut {
			l.end((e.done-1)/e.period%controlGroups, float64(e.period), e.absent)
		}
	}
}

// sumUp adds the recorded fits to the sums.
func (e *Controlled) sumUp() {
	n := len(e.center)
	if e.points == nil {
		e.points, e.unit = newRegression(n, pointResponses), make([]unit, n)
		e.examples = newRegression(len(e.absent), 1+len(e.leftOut))
	}
	linalg.Parallel(n, func(j int) { e.addPoint(e.points, j, j) })
	linalg.Parallel(len(e.absent), func(i int) { e.addExample(e.examples, i, i) })
	e.recorded = e.recorded[:0]
}

// eachSums calls f with the sums over all fits at each of n points or examples, in parallel: those in all,
// to which add adds the recorded ones.
func eachSums(n, responses int, all *regression, add func(sums *regression, item, i int),
	f func(i int, sums *regression)) {
	linalg.Parallel(n, func(i int) {
		sums := newRegression(1, responses)
		if all != nil {
			copy(sums.all, all.all[i*len(sums.all):])
		}
		add(sums, 0, i)
		f(i, sums)
	})
}

// number is the number of a recorded fit among all.
func (e *Controlled) number(k int) int { return e.done - len(e.recorded) + k }

// addPoint adds the recorded fits at point j to an item of sums, periods of dependent resamples as one
// observation. In the sums over the fits before it keeps the part of an unfinished period.
func (e *Controlled) addPoint(sums *regression, item, j int) {
	var sum unit
	if e.unit != nil {
		sum = e.unit[j]
	}
	for k, r := range e.recorded {
		var o unit
		e.excess(o[:], &r, j, e.known.Mean, e.known.Var, j)
		off := r.exact[j] - e.center[j]
		o[controls], o[controls+1], o[controls+2] = off, off*off, loss.Vote{}.Value(r.exact[j], 0)
		floats.Add(sum[:], o[:])
		if number := e.number(k); (number+1)%e.period == 0 {
			for i := range sum {
				sum[i] /= float64(e.period)
			}
			sums.Add(number/e.period%controlGroups, item, sum[:])
			sum = unit{}
		}
	}
	if sums == e.points {
		e.unit[j] = sum
	}
}

// addExample adds the recorded fits that leave an example out to an item of sums.
func (e *Controlled) addExample(sums *regression, item, i int) {
	o, site := make([]float64, controls+1+len(e.leftOut)), e.solution.SiteOf(i)
	for k, r := range e.recorded {
		if !r.absent[i] {
			continue
		}
		e.excess(o, &r, site, e.known.AbsentMean, e.known.AbsentVar, i)
		o[controls] = r.exact[site] - e.center[site]
		for t, l := range e.leftOut {
			o[controls+1+t] = l.test.Value(r.exact[site], e.solution.Problem.Y[i])
		}
		sums.Add(e.number(k)/e.period%controlGroups, item, o)
	}
}

// excess computes the controls of a fit at a site: F1 minus its mean, and the square of that minus the
// variance, both the i-th; 0 if unknown.
func (e *Controlled) excess(o []float64, r *recorded, site int, mean, variance []float64, i int) {
	if mean != nil {
		o[0] = float64(r.first[site])*e.scale + (e.known.Mean[site] - mean[i])
	}
	if variance != nil {
		o[1] = o[0]*o[0] - variance[i]
	}
}

// addLeftOut adds the examples that a resample leaves out to the left-out errors.
func (e *Controlled) addLeftOut(r *recorded, weight []float64) {
	for _, l := range e.leftOut {
		l.begin()
	}
	y := e.solution.Problem.Y
	if len(e.leftOut) > 0 {
		e.jack.add(weight, func(i int) float64 {
			return e.leftOut[0].test.Value(r.exact[e.solution.SiteOf(i)], y[i])
		})
	}
	var o [controls]float64
	for i, absent := range r.absent {
		if !absent {
			continue
		}
		site := e.solution.SiteOf(i)
		e.absent[i]++
		e.excess(o[:], r, site, e.known.AbsentMean, e.known.AbsentVar, i)
		for _, l := range e.leftOut {
			l.add(i, l.test.Value(r.exact[site], y[i]), o[0], o[1])
		}
	}
}

// deviation is the standard deviation over resamples of F1 at point j, or the theory's of f.
func (e *Controlled) deviation(j int) float64 {
	if e.known.Var != nil {
		return math.Sqrt(math.Max(0, e.known.Var[j]))
	}
	if j < len(e.solution.Var) {
		return math.Sqrt(e.solution.Var[j])
	}
	return 0
}
