package fits

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// theoryWeight is the weight, in resamples, of the theory's left-out error of an example in the center of its
// losses. Its bias is a few tenths of the loss's standard deviation; the weight matters little.
const theoryWeight = 20

// leftOut estimates the mean left-out error of the examples under one test loss,
//
//	E = 1/N sum_i E[l_i | i absent] = E[mean_i e_i + sum_i 1[i absent] (l_i - e_i)/(N p_i)]
//
// for any center e that does not depend on the resample, since example i is absent with probability p_i (N
// counts those that ever are). The center is the mean of the losses in the previous resamples and the
// theory's left-out error: the sum over resamples is a martingale about E, and once e is near E[l_i | i
// absent] it is the ratio estimator that averages every example's losses first. The controls are the two
// terms of the theory's test loss, averaged over its Gaussian law at the site, to second order in F1:
//
//	sum_i 1[i absent] w_i (F1_i - E F1_i)   and   sum_i 1[i absent] q_i ((F1_i - E F1_i)^2 - Var F1_i).
//
// Their coefficients are fitted by cross-validation over groups, to the losses minus the theory's left-out
// errors, which do not depend on resamples.
type leftOut struct {
	test         loss.Test
	theory       []float64 // e_i of the theory
	theoryMean   float64   // over the examples that are ever left out
	center       []float64 // the present e_i
	mean         float64   // of center
	sums         []float64 // of the losses of each example when absent
	slope, curve []float64 // w, q
	scale        []float64 // 1/(N p_i), 0 for examples that are always present
	weight       []float64 // the examples' w_i/N

	all      *regression // the controls; losses about theory, about center
	observed [4]float64  // of the present period
}

// differenceStep is the step, in standard deviations of the cavity, of finite differences of the averaged
// test loss.
const differenceStep = 0.05

func newLeftOut(p *Controls, test loss.Test) *leftOut {
	s, n := p.Solution, len(p.Solution.Problem.Y)
	l := &leftOut{test: test, sums: make([]float64, n), slope: make([]float64, n), curve: make([]float64, n),
		scale: make([]float64, n), weight: make([]float64, n), all: newRegression(1, 2)}
	_, l.theory = s.LeftOut(test)
	l.center = slices.Clone(l.theory)
	examples := 0.0 // that are ever left out
	for i, e := range l.theory {
		l.weight[i] = weightOf(s.Problem.Weights, i)
		if p := resample.ProbAbsent(p.Scheme, i); p > 0 {
			l.scale[i] = l.weight[i] / p
			examples += l.weight[i]
			l.theoryMean += l.weight[i] * e
		}
	}
	floats.Scale(1/examples, l.scale)
	floats.Scale(1/examples, l.weight)
	l.theoryMean /= examples
	l.mean = l.theoryMean
	for i, y := range s.Problem.Y {
		cavity := s.Cavity[s.SiteOf(i)]
		step := differenceStep * math.Sqrt(absentVar(s, i))
		if step == 0 {
			continue
		}
		at := func(f float64) float64 { return test.Gaussian(f, cavity.Var, y) }
		below, above := at(cavity.Mean-step), at(cavity.Mean+step)
		l.slope[i] = (above - below) / (2 * step)
		l.curve[i] = (above - 2*at(cavity.Mean) + below) / (2 * step * step)
	}
	return l
}

// begin starts a resample.
func (l *leftOut) begin() {
	l.observed[2] += l.theoryMean
	l.observed[3] += l.mean
}

// add adds the loss of an absent example, with F1 and its square minus their means.
func (l *leftOut) add(example int, value, first, square float64) {
	l.observed[0] += l.scale[example] * l.slope[example] * first
	l.observed[1] += l.scale[example] * l.curve[example] * square
	l.observed[2] += l.scale[example] * (value - l.theory[example])
	l.observed[3] += l.scale[example] * (value - l.center[example])
	l.sums[example] += value
}

// end closes a period of that many resamples, and moves the centers.
func (l *leftOut) end(group int, period float64, absent []int) {
	for i := range l.observed {
		l.observed[i] /= period
	}
	l.all.Add(group, 0, l.observed[:])
	clear(l.observed[:])
	for i, count := range absent {
		if count == 0 {
			continue
		}
		center := (theoryWeight*l.theory[i] + l.sums[i]) / (theoryWeight + float64(count))
		l.mean += l.weight[i] * (center - l.center[i])
		l.center[i] = center
	}
}

// estimate is the left-out error, its standard error, and the ratio of its variances without and with
// controls.
func (l *leftOut) estimate(floor [controls]float64) (value, se, gain float64) {
	at, all := l.all.estimate(0, plan{floor, [][controls]float64{{1, 1}, {1, 1}}, true}), l.all.Total(0)
	if gain = 1; at.cov[1][1] > 0 {
		gain = max(0, all.Central(controls+1, controls+1)) / (all.Count() * (all.Count() - 1)) / at.cov[1][1]
	}
	return at.mean[1], at.se(1), gain
}

// plain is estimate without controls, which is in the range of the loss: the mean over the examples that
// resamples leave out of their mean losses there.
func (l *leftOut) plain(absent []int) (value, se, gain float64) {
	weights := 0.0
	for i, count := range absent {
		if count > 0 {
			value += l.weight[i] * l.sums[i] / float64(count)
			weights += l.weight[i]
		}
	}
	return value / weights, l.all.estimate(0, uncontrolled).se(1), 1
}

// weightOf is the weight of an example; nil stands for 1.
func weightOf(weights []float64, example int) float64 {
	if weights == nil {
		return 1
	}
	return weights[example]
}

// leastAbsent is the least variance of a left-out prediction, relative to the predictor's, that is not
// rounding: for nearly independent sites it is 0.
const leastAbsent = 1e-6

// absentVar is the variance of the prediction for an example over the resamples without it.
func absentVar(s *solver.Solution, example int) float64 {
	site := s.SiteOf(example)
	return math.Max(s.Cavity[site].Var, leastAbsent*s.Var[site])
}
