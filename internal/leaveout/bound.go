package leaveout

// boundTolerances, in tolerances of the training, is the distance from its bound within which an example is
// retrained.
const boundTolerances = 10

// slack is xi_i = max(0, 1 - y_i f_i).
func (e *estimate) slack(i int) float64 { return max(0, 1-e.margin[i]) }

// screen decides the outcomes that the bounds decide, and lists the other examples.
func (e *estimate) screen() (list []int) {
	near, r2 := boundTolerances*e.settings.Tolerance, e.problem.Kernel.RadiusSquared(e.problem.Bias)
	for i, a := range e.full.Alpha {
		fall := 2 * a * r2 // largest decrease of the margin
		if !e.problem.Bias {
			fall = a * e.problem.Kernel.Diag(e.problem.Site.At(i))
		}
		switch xi := e.slack(i); {
		case xi > 1+near:
			e.result.Loss[i] = 1
		case fall+xi >= 1-near:
			list = append(list, i)
		case !e.biasIsFixed(i):
			e.result.BiasFree++
			list = append(list, i)
		default:
			e.result.Loss[i] = 0
		}
	}
	return list
}

// xiAlpha counts an example as an error if rho a_i R^2 + xi_i >= 1. For rho >= 2, to be a bound, it also
// counts examples whose removal may make the bias unbounded.
func (e *estimate) xiAlpha() {
	rho, r2 := e.settings.Rho, e.problem.Kernel.RadiusSquared(e.problem.Bias)
	e.result.Rho = rho
	copy(e.result.Margin, e.margin)
	for i, a := range e.full.Alpha {
		e.result.Loss[i] = 0
		switch {
		case rho*a*r2+e.slack(i) >= 1-boundTolerances*e.settings.Tolerance:
			e.result.Loss[i] = 1
		case rho >= 2 && !e.biasIsFixed(i):
			e.result.BiasFree++
			e.result.Loss[i] = 1
		}
	}
}

// biasIsFixed reports whether the bias stays bounded without example i: whether the free support vectors at
// other sites can compensate more than its weight. The sites of its label can increase to C, the sites of the
// other one decrease to 0 (doc/decisions/0010-leaving-out.md).
func (e *estimate) biasIsFixed(i int) bool {
	if !e.problem.Bias {
		return true
	}
	p, alpha, site := &e.problem, e.full.Alpha, e.problem.Site.At(i)
	room := 0.0
	for k, a := range alpha {
		if !(a > 0 && a < e.training.Weight[k]) || p.Site.At(k) == site {
			continue
		}
		if p.Y[k] == p.Y[i] {
			room += e.training.Weight[k] - a
		} else {
			room += a
		}
		if room > alpha[i]*(1+1e-9) {
			return true
		}
	}
	return false
}
