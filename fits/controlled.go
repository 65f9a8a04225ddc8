package fits

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// rounding is the mean square, relative to independent resamples', below which a control is constant
// within the rounding of single precision, as the average of F1 over a partition into folds.
const rounding = 1e-6

// ControlledPerPoint and ControlledPerExample are approximate numbers of float64 in a Controlled per site or
// new input, and per example.
const (
	ControlledPerPoint   = 220
	ControlledPerExample = 160
)

// Controlled estimates averages from fits and their first iterates. Its memory does not depend on the number
// of resamples.
type Controlled struct {
	solution *solver.Solution
	known    Expectation // empty: no control
	warnings []string
	period   int // number of dependent resamples
	done     int // resamples added

	center   []float64   // the theory's mean, M + P
	points   *regression // F1 - E F1 and its square; f - center, its square, votes
	unit     []unit      // sums over the present period, by point
	examples *regression // over resamples that leave the example out: the controls; f - center, tests
	observed []float64   // workspace
	leftOut  []*leftOut  // by test
	absent   []int       // per example, the resamples that leave it out
	jack     *jackknife  // of the first test
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
		center: x.center, points: newRegression(len(x.center), pointResponses),
		unit: make([]unit, len(x.center)), examples: newRegression(n, 1+len(tests)),
		observed: make([]float64, controls+pointResponses+len(tests))}
	e.jack = newJackknife(n, p.Solution.Problem.Weights, e.period)
	for _, test := range tests {
		e.leftOut = append(e.leftOut, newLeftOut(&p, test))
	}
	e.known, err = x.expectation()
	if _, designed := p.Scheme.(resample.Designed); err != nil && !designed { // it is the rule for blocks
		e.warnings = append(e.warnings,
			fmt.Sprintf("no control variate: the average of the first iterate is not known: %v", err))
	}
	return e, nil
}

// Add implements Estimator: f are the predictions of the exact fit at sites and new inputs, followed
// by the predictions of the first iterate (BlockSettings.FirstIterate).
func (e *Controlled) Add(_ int, weight, f []float64) {
	n := len(e.center)
	exact, first := f[:n], f[n:2*n]
	group := e.done / e.period % controlGroups
	e.done++
	o := e.observed[:controls+pointResponses]
	for j, v := range exact {
		excess(o, first, j, e.known.Mean, e.known.Var, j)
		off := v - e.center[j]
		o[controls], o[controls+1], o[controls+2] = off, off*off, loss.Vote{}.Value(v, 0)
		floats.Add(e.unit[j][:], o)
	}
	e.addLeftOut(group, weight, exact, first)
	if e.done%e.period == 0 {
		e.endPeriod(group)
	}
}

// excess computes the controls: F1 minus its mean at a site, and the square of that minus the variance; 0 if
// unknown.
func excess(o, first []float64, site int, mean, variance []float64, i int) {
	if mean != nil {
		o[0] = first[site] - mean[i]
	}
	if variance != nil {
		o[1] = o[0]*o[0] - variance[i]
	}
}

// addLeftOut adds the examples that a resample leaves out.
func (e *Controlled) addLeftOut(group int, weight, exact, first []float64) {
	for _, l := range e.leftOut {
		l.begin()
	}
	if len(e.leftOut) > 0 {
		e.jack.add(weight, func(i int) float64 {
			return e.leftOut[0].test.Value(exact[e.solution.SiteOf(i)], e.solution.Problem.Y[i])
		})
	}
	o := e.observed[:controls+1+len(e.leftOut)]
	for i, w := range weight {
		if w != 0 {
			continue
		}
		site := e.solution.SiteOf(i)
		e.absent[i]++
		excess(o, first, site, e.known.AbsentMean, e.known.AbsentVar, i)
		o[controls] = exact[site] - e.center[site]
		for t, l := range e.leftOut {
			value := l.test.Value(exact[site], e.solution.Problem.Y[i])
			o[controls+1+t] = value
			l.add(i, value, o[0], o[1])
		}
		e.examples.Add(group, i, o)
	}
}

// endPeriod adds a period of dependent resamples as one observation.
func (e *Controlled) endPeriod(group int) {
	for j := range e.center {
		unit := &e.unit[j]
		for i := range unit {
			unit[i] /= float64(e.period)
		}
		e.points.Add(group, j, unit[:])
		clear(unit[:])
	}
	for _, l := range e.leftOut {
		l.end(group, float64(e.period), e.absent)
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
