package multifidelity

import (
	"fmt"
	"math"

	"bootbench/loss"
	"bootbench/resample"
)

// Settings say what to estimate.
type Settings struct {
	// Tests are the losses by which left-out examples are judged.
	Tests []loss.Test
	// Plain uses no control variate: averages are then those of plain retraining.
	Plain bool
}

// rounding is the mean square, relative to what it would be for independent resamples,
// below which a control is constant within the rounding of single precision. Such is F1 on
// average over a partition into folds.
const rounding = 1e-6

// NumbersPerPoint and NumbersPerExample are about how many numbers an Estimator holds of a
// site or new input, and of an example.
const (
	NumbersPerPoint   = 220
	NumbersPerExample = 160
)

// Estimator takes in fits and their first iterates, resample after resample. Its memory
// does not grow with the number of resamples.
type Estimator struct {
	problem  Problem
	settings Settings
	known    *Expectation // nil: no control
	warnings []string
	period   int // resamples that depend on each other, see resample.Period
	done     int // resamples taken in

	center   []float64   // the theory's mean, M + P
	points   *regression // F1 - E F1 and its square; f - center, its square, votes
	unit     []float64   // the same, summed over the present period
	examples *regression // over resamples that leave the example out: the controls; f - center, tests
	observed []float64   // workspace for these
	leftOut  []*leftOut  // of each test; none where no example is ever left out
	absent   []int       // per example, the resamples that leave it out
}

// Numbers of the variables of points and examples.
const (
	controls       = 2 // F1 - E F1, (F1 - E F1)^2 - Var F1
	pointResponses = 3 // f - center, (f - center)^2, votes
	pointVariables = controls + pointResponses
)

// NewEstimator prepares the estimates of a problem. It refuses a solution that is of
// another problem, or whose G has moved on. Where the average of F1 is not known the
// estimates are plain, and a warning of the result says why.
func NewEstimator(p Problem, s Settings) (*Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	engine, err := p.Solution.Engine()
	if err != nil {
		return nil, err
	}
	if p.Site == nil {
		p.Site = make([]int, len(p.Y))
		for i := range p.Site {
			p.Site[i] = i
		}
	}
	e := &Estimator{problem: p, settings: s, period: resample.Period(p.Scheme), absent: make([]int, len(p.Y))}
	if !s.Plain {
		known, err := NewExpectation(p)
		if _, designed := p.Scheme.(resample.Designed); err != nil && !designed { // plain is the rule for blocks
			e.warnings = append(e.warnings, fmt.Sprintf("no control variate: %v", err))
		}
		e.known = known
	}
	x := expectation{Problem: p, engine: engine}
	e.center = append(append([]float64(nil), p.Solution.Mean...), make([]float64, p.Responses.Rows)...)
	x.respond(e.center[len(p.Solution.Mean):], p.Solution.SiteMean)
	e.points = newRegression(len(e.center), controls, pointResponses)
	e.unit = make([]float64, len(e.center)*pointVariables)
	if resample.ProbZero(p.Scheme, 1) > 0 {
		e.examples = newRegression(len(p.Y), controls, 1+len(s.Tests))
		e.observed = make([]float64, e.examples.variables())
		for _, test := range s.Tests {
			e.leftOut = append(e.leftOut, newLeftOut(&e.problem, test))
		}
	}
	return e, nil
}

// check refuses a solution of another problem, or without its G.
func (p *Problem) check() error {
	s := p.Solution
	if s == nil || p.Loss == nil || p.Scheme == nil {
		return fmt.Errorf("refined estimates need a solution, a loss with a proximal map and a scheme")
	}
	engine, err := s.Engine()
	if err != nil {
		return err
	}
	m, n := len(engine.Precisions()), len(s.Problem.Y)
	if n != len(p.Y) || p.Site == nil && m != len(p.Y) || p.Site != nil && len(p.Site) != len(p.Y) {
		return fmt.Errorf("a solution of %d examples on %d sites is not one of %d examples", n, m, len(p.Y))
	}
	for i, site := range p.Site {
		if site < 0 || site >= m || s.SiteOf(i) != site {
			return fmt.Errorf("example %d is not on the site %d of %d where the solution has it", i+1, site+1, m)
		}
	}
	return nil
}

// Add takes in the next resample, in the order of b: its weights, and the predictions at
// sites and new inputs of the exact fit, followed by those of the first iterate
// (batch.Settings.FirstIterate). Resamples of one period follow each other.
func (e *Estimator) Add(weight, f []float64) {
	n := len(e.center)
	exact, first := f[:n], f[n:2*n]
	group := e.done / e.period % groups
	e.done++
	for j, v := range exact {
		unit := e.unit[j*pointVariables:][:pointVariables]
		if e.known != nil {
			move := first[j] - e.known.Mean[j]
			unit[0] += move
			if e.known.Var != nil {
				unit[1] += move*move - e.known.Var[j]
			}
		}
		v -= e.center[j]
		unit[2] += v
		unit[3] += v * v
		unit[4] += loss.Vote{}.Value(exact[j], 0)
	}
	if e.examples != nil {
		e.addLeftOut(group, weight, exact, first)
	}
	if e.done%e.period == 0 {
		e.endPeriod(group)
	}
}

// addLeftOut takes in the examples that a resample leaves out.
func (e *Estimator) addLeftOut(group int, weight, exact, first []float64) {
	for _, l := range e.leftOut {
		l.begin()
	}
	for i, w := range weight {
		if w != 0 {
			continue
		}
		site := e.problem.Site[i]
		e.absent[i]++
		o := e.observed
		if e.known != nil {
			o[0] = first[site] - e.known.AbsentMean[i]
			if e.known.AbsentVar != nil {
				o[1] = o[0]*o[0] - e.known.AbsentVar[i]
			}
		}
		o[controls] = exact[site] - e.center[site]
		for t, l := range e.leftOut {
			value := l.test.Value(exact[site], e.problem.Y[i])
			o[controls+1+t] = value
			l.add(i, value, o[0], o[1])
		}
		e.examples.add(group, i, o)
	}
}

// endPeriod makes one observation of resamples that depend on each other.
func (e *Estimator) endPeriod(group int) {
	for j := range e.center {
		unit := e.unit[j*pointVariables:][:pointVariables]
		for i := range unit {
			unit[i] /= float64(e.period)
		}
		e.points.add(group, j, unit)
		clear(unit)
	}
	for _, l := range e.leftOut {
		l.end(group, float64(e.period), e.absent)
	}
}

// deviation is the standard deviation over resamples of F1 at point j, or the theory's of
// f.
func (e *Estimator) deviation(j int) float64 {
	if e.known != nil && e.known.Var != nil {
		return math.Sqrt(math.Max(0, e.known.Var[j]))
	}
	if j < len(e.problem.Solution.Var) {
		return math.Sqrt(e.problem.Solution.Var[j])
	}
	return 0
}
