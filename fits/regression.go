package fits

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// controlGroups is the number of groups of resamples. The coefficients of a group are fitted to the others.
const controlGroups = 10

// priorWeight is the weight, in observations, of the prior coefficients in the fit (ridge regression about
// them): few observations hardly determine two coefficients, least for controls with heavy tails.
const priorWeight = 8

// controls are F1 - E F1 and (F1 - E F1)^2 - Var F1.
const controls = 2

// regression estimates the means of responses y with controls x of known mean 0, at many points. The
// variables of its sums are the controls, then the responses. It takes most of the memory of refined
// estimates.
type regression struct {
	*Sums
	responses int
}

func newRegression(points, responses int) *regression {
	return &regression{NewSums(controlGroups, points, controls+responses, true), responses}
}

// plan configures the fit of the coefficients at a point.
type plan struct {
	floor [controls]float64   // the least mean square of each control that is not rounding
	prior [][controls]float64 // prior coefficients by response
	alike bool                // all are fitted to the first response
}

// estimate is means of responses and the covariance of their errors.
type estimate struct {
	mean   []float64
	cov    [][]float64
	counts [controlGroups]float64   // observations by group
	sums   [controlGroups][]float64 // of the residuals y - beta x
	total  []float64                // of the sums
}

// se is the standard error of the mean of response k.
func (e *estimate) se(k int) float64 { return math.Sqrt(math.Max(0, e.cov[k][k])) }

// without is the mean of response k with one group deleted, NaN if that is all.
func (e *estimate) without(k, group int) float64 {
	return (e.total[k] - e.sums[group][k]) / (floats.Sum(e.counts[:]) - e.counts[group])
}

// estimate computes the means of the residuals y - beta x at a point, with the coefficients beta of each
// group fitted to the other groups, and their covariance from the residuals'. All are NaN without
// observations, the covariance also with one.
func (r *regression) estimate(point int, p plan) *estimate {
	q, all := r.responses, r.Total(point)
	e := &estimate{mean: make([]float64, q), cov: make([][]float64, q), total: make([]float64, q)}
	for k := range q {
		e.cov[k] = make([]float64, q)
	}
	for g := range controlGroups {
		own := r.Group(g, point)
		e.counts[g], e.sums[g] = own.Count(), make([]float64, q)
		if own.Count() == 0 {
			continue
		}
		beta := r.coefficients(all.Less(own), p)
		for k := range q {
			e.sums[g][k] = own.Sum(controls + k)
			for i, b := range beta[k] {
				e.sums[g][k] -= b * own.Sum(i)
			}
			e.total[k] += e.sums[g][k]
			for l := range k + 1 {
				e.cov[k][l] += residualProduct(own, beta, k, l)
			}
		}
	}
	n := all.Count()
	for k := range q {
		e.mean[k] = e.total[k] / n
		for l := range k + 1 {
			c := (e.cov[k][l] - n*e.mean[k]*e.mean[l]) / (n * (n - 1))
			switch {
			case n < 2:
				c = math.NaN()
			case k == l:
				c = math.Max(0, c) // rounding
			}
			e.cov[k][l], e.cov[l][k] = c, c
		}
	}
	return e
}

// residualProduct is the sum of (y_k - beta_k x)(y_l - beta_l x).
func residualProduct(m Moments, beta [][controls]float64, k, l int) float64 {
	sum := m.Product(controls+k, controls+l)
	for i := range controls {
		sum -= beta[k][i]*m.Product(i, controls+l) + beta[l][i]*m.Product(i, controls+k)
		for j := range controls {
			sum += beta[k][i] * beta[l][j] * m.Product(i, j)
		}
	}
	return sum
}

// coefficients are the ones of each response on the controls: ridge regression about the prior ones, or about
// 0 if these do not lower the variance. A control that is constant within rounding, or determined by the
// previous ones, keeps its prior coefficient.
func (r *regression) coefficients(m Moments, p plan) [][controls]float64 {
	beta := make([][controls]float64, r.responses)
	if copy(beta, p.prior); m.Count() < 2 {
		return beta
	}
	for k := range beta {
		response := controls + k
		if p.alike {
			response = controls
		}
		b := &beta[k]
		var with, left [controls]float64 // covariances with the response, and with its residual after b
		gain := 0.0                      // decrease of the variance by b
		for i := range with {
			with[i] = m.Central(i, response)
			left[i] = with[i]
			for j, c := range b {
				left[i] -= c * m.Central(i, j)
			}
			gain += b[i] * (with[i] + left[i])
		}
		if !(gain > 0) {
			*b, left = [controls]float64{}, with
		}
		for i, v := range ridge(m, p.floor, left) {
			b[i] += v
		}
	}
	return beta
}

// collinear is the least fraction of the second control's variance that the first does not explain.
const collinear = 1e-6

// ridge solves C x = b for the controls' covariances C, whose diagonal the prior's weight raises. x is 0 for
// a control that is constant within rounding, by the least mean squares in floor, or determined by the first.
func ridge(m Moments, floor, b [controls]float64) (x [controls]float64) {
	n, raise := m.Count(), 1+priorWeight/m.Count()
	first, second := m.Central(0, 0), m.Central(1, 1)
	slope, rest := 0.0, raise*second // of the second control on the first, and its residual
	varies := first > floor[0]*n
	if varies {
		slope = m.Central(0, 1) / (raise * first)
		rest -= slope * m.Central(0, 1)
	}
	if second > floor[1]*n && rest > collinear*second {
		x[1] = (b[1] - slope*b[0]) / rest
	}
	if varies {
		x[0] = b[0]/(raise*first) - slope*x[1]
	}
	return x
}
