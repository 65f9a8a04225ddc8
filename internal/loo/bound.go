package loo

import "bootbench/internal/svm"

// screen decides the outcomes that the bounds decide, and lists the other examples.
func (e *estimate) screen() (list []int) {
	loss := e.marginLoss()
	for i, xi := range e.full.Slack {
		a := e.full.Alpha[i]
		switch {
		case xi > 1+boundTolerances*e.settings.Tolerance:
			e.result.Outcome[i] = SafelyWrong
		case a*loss(i)+xi >= 1-boundTolerances*e.settings.Tolerance:
			list = append(list, i)
		case !e.biasIsFixed(i):
			e.result.BiasFree++
			list = append(list, i)
		default:
			e.result.Outcome[i] = SafelyCorrect
		}
	}
	return list
}

// boundTolerances, in tolerances of the training, is how close to its bound an
// example may be and still be retrained.
const boundTolerances = 10

// marginLoss is the most that the margin of an example can lose for each unit of its
// weight: 2 R^2 with a bias, K_ii without.
func (e *estimate) marginLoss() func(i int) float64 {
	if e.problem.Bias {
		twice := 2 * e.radius()
		return func(int) float64 { return twice }
	}
	return func(i int) float64 { return e.problem.Kernel.Diag(e.problem.Site.At(i)) }
}

// radius is R^2: given, or found. Without a bias it is max K_ii.
func (e *estimate) radius() float64 {
	r2, k := e.settings.RadiusSquared, e.problem.Kernel
	switch {
	case r2 > 0:
	case e.problem.Bias:
		r2 = svm.RadiusSquared(k)
	default:
		for s := range k.N() {
			r2 = max(r2, k.Diag(s))
		}
	}
	e.result.RadiusSquared = r2
	return r2
}

// biasIsFixed reports whether the bias stays bounded when example i is left out:
// whether the free support vectors at other sites can take over more than its weight.
// Those of its label can increase to C, those of the other one decrease to 0
// (doc/decisions/0010-leaving-out.md).
func (e *estimate) biasIsFixed(i int) bool {
	if !e.problem.Bias {
		return true
	}
	p, alpha, site := &e.problem, e.full.Alpha, e.problem.Site.At(i)
	room := 0.0
	for k, a := range alpha {
		if !(a > 0 && a < p.cost(p.Y[k])) || p.Site.At(k) == site {
			continue
		}
		if p.Y[k] == p.Y[i] {
			room += p.cost(p.Y[k]) - a
		} else {
			room += a
		}
		if room > alpha[i]*(1+1e-9) {
			return true
		}
	}
	return false
}

// xiAlpha counts an example as an error where rho a_i R^2 + xi_i >= 1. From
// rho = 2 on, where the count is meant as a bound, an example whose removal
// may make the bias unbounded counts as well.
func (e *estimate) xiAlpha() {
	rho, r2 := e.settings.Rho, e.radius()
	e.result.Rho = rho
	for i, xi := range e.full.Slack {
		e.result.Outcome[i] = Correct
		switch {
		case rho*e.full.Alpha[i]*r2+xi >= 1-boundTolerances*e.settings.Tolerance:
			e.result.Outcome[i] = Wrong
		case rho >= 2 && !e.biasIsFixed(i):
			e.result.BiasFree++
			e.result.Outcome[i] = Wrong
		}
	}
}
