package multifidelity

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// theoryWeight is the number of resamples as which the theory's left-out error of an
// example counts in the center of its losses. Its bias is some tenths of the loss's
// standard deviation; the weight matters little.
const theoryWeight = 20

// leftOut estimates the left-out error of all examples together under one test loss,
//
//	E = 1/N sum_i E[l_i | i absent] = E[mean_i e_i + sum_i 1[i absent] (l_i - e_i)/(N p_i)]
//
// for any center e that does not depend on the resample, since example i is absent with probability p_i (N
// counts those that ever are). The center is the mean of the losses seen in the resamples before,
// with the theory's left-out error among them: the sum over resamples is a martingale about
// E, and where e has come near to E[l_i | i absent] it is the ratio estimator that averages
// every example's losses first. The controls are the two terms of the theory's test
// loss, averaged over its Gaussian law at the site, to second order in F1:
//
//	sum_i 1[i absent] w_i (F1_i - E F1_i)   and   sum_i 1[i absent] q_i ((F1_i - E F1_i)^2 - Var F1_i).
//
// Their two coefficients are fitted, group against group, to the losses about the theory's left-out errors,
// which no resample has touched.
type leftOut struct {
	test         loss.Test
	theory       []float64 // e_i of the theory
	theoryMean   float64
	center       []float64 // the present e_i
	mean         float64   // of center
	sums         []float64 // of the losses of each example when absent
	moved        []int     // examples whose center is to move at the end of the period
	slope, curve []float64 // w, q
	scale        []float64 // 1/(N p_i), 0 for examples that are always there
	examples     float64   // N, or their weight
	weights      []float64 // nil: 1

	all      *regression // the controls; losses about theory, about center
	observed [4]float64  // of the present period
}

// differenceStep is the step, in standard deviations of the cavity, of the differences
// that stand for derivatives of the averaged test loss.
const differenceStep = 0.05

func newLeftOut(p *Problem, test loss.Test) *leftOut {
	n := len(p.Y)
	l := &leftOut{test: test, weights: p.Solution.Problem.Weights, sums: make([]float64, n),
		slope: make([]float64, n), curve: make([]float64, n),
		all: newRegression(1, controls, 2), scale: make([]float64, n)}
	l.theoryMean, l.theory = p.Solution.LeftOut(test)
	l.mean, l.center = l.theoryMean, append([]float64(nil), l.theory...)
	l.setScale(p.Scheme, p.Solution.Problem.Weights)
	for i, y := range p.Y {
		cavity := p.Solution.Cavity[p.Site[i]]
		step := differenceStep * math.Sqrt(absentVar(p.Solution, p.Site[i]))
		if step == 0 {
			continue
		}
		below, at, above := test.Gaussian(cavity.Mean-step, cavity.Var, y), test.Gaussian(cavity.Mean, cavity.Var,
			y), test.Gaussian(cavity.Mean+step, cavity.Var, y)
		l.slope[i], l.curve[i] = (above-below)/(2*step), (above-2*at+below)/(2*step*step)
	}
	return l
}

// begin starts a resample.
func (l *leftOut) begin() {
	l.observed[2] += l.theoryMean
	l.observed[3] += l.mean
}

// add takes in the loss of an absent example, and what F1 and its square exceed their
// means by.
func (l *leftOut) add(example int, value, first, square float64) {
	l.observed[0] += l.scale[example] * l.slope[example] * first
	l.observed[1] += l.scale[example] * l.curve[example] * square
	l.observed[2] += l.scale[example] * (value - l.theory[example])
	l.observed[3] += l.scale[example] * (value - l.center[example])
	l.sums[example] += value
	l.moved = append(l.moved, example)
}

// end closes a period of that many resamples.
func (l *leftOut) end(group int, period float64, absent []int) {
	for i := range l.observed {
		l.observed[i] /= period
	}
	l.all.add(group, 0, l.observed[:])
	clear(l.observed[:])
	move := 0.0
	for _, i := range l.moved {
		center := (theoryWeight*l.theory[i] + l.sums[i]) / (theoryWeight + float64(absent[i]))
		move += weightOf(l.weights, i) * (center - l.center[i])
		l.center[i] = center
	}
	l.mean += move / l.examples
	l.moved = l.moved[:0]
}

// estimate is the left-out error with its standard error, and the ratio of its variance
// without controls to that with them; first and second are the sizes of the controls.
func (l *leftOut) estimate(plain bool, first, second float64) (value, se, gain float64) {
	p := plan{plain: plain, floor: []float64{rounding * first * first, rounding * second * second},
		prior: [][]float64{{1, 1}, {1, 1}}, like: []int{0, 0}}
	controlled, raw := l.all.estimate(0, p), l.all.estimate(0, plan{plain: true})
	if gain = 1; controlled.cov[1][1] > 0 {
		gain = raw.cov[1][1] / controlled.cov[1][1]
	}
	return controlled.mean[1], controlled.se(1), gain
}

// setScale weighs the examples that a scheme leaves out, over which the means are taken.
func (l *leftOut) setScale(scheme resample.Scheme, weights []float64) {
	sum, always := 0.0, false
	for i, e := range l.theory {
		w := weightOf(weights, i)
		if p := resample.ProbAbsent(scheme, i); p > 0 {
			l.scale[i] = w / p
			l.examples += w
			sum += w * e
		} else {
			always = true
		}
	}
	floats.Scale(1/l.examples, l.scale)
	if always {
		l.theoryMean = sum / l.examples
		l.mean = l.theoryMean
	}
}

// weightOf is the weight of an example; nil stands for 1.
func weightOf(weights []float64, example int) float64 {
	if weights == nil {
		return 1
	}
	return weights[example]
}

// leastAbsent is the least variance of a left-out prediction that counts, as a share of
// that of the predictor. Where sites are all but independent of each other the first is 0,
// and what F1 differs by from its mean is rounding, on the scale of the second.
const leastAbsent = 1e-6

// absentVar is the variance of the prediction at a site over the resamples without it.
func absentVar(s *solver.Solution, site int) float64 {
	return math.Max(s.Cavity[site].Var, leastAbsent*s.Var[site])
}
