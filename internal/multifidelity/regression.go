package multifidelity

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// groups is the number of groups of resamples. The coefficients of a group are fitted to the nine others.
const groups = 10

// priorWeight is the number of observations as which the coefficients that are expected
// count in the fit (ridge regression about them): few observations say little of two
// coefficients, least where the controls have heavy tails.
const priorWeight = 8

// controls are F1 - E F1 and (F1 - E F1)^2 - Var F1.
const controls = 2

// regression estimates the means of responses y with the help of controls x of known mean
// 0, at many points at a time. Its memory does not grow with the number of observations; it
// is most of what refined estimates take.
type regression struct {
	responses int
	sums      [groups][]float64 // points x (1 + v + v(v+1)/2) for v = controls + responses
}

func newRegression(points, responses int) *regression {
	r := &regression{responses: responses}
	for g := range r.sums {
		r.sums[g] = make([]float64, points*r.width())
	}
	return r
}

func (r *regression) variables() int { return controls + r.responses }

// width is how many sums there are at a point: the number of observations, the variables,
// and their products, the upper triangle by rows.
func (r *regression) width() int {
	v := r.variables()
	return 1 + v + v*(v+1)/2
}

// add takes in an observation, controls then responses, at one point.
func (r *regression) add(group, point int, observed []float64) {
	sums := r.sums[group][point*r.width():][:r.width()]
	sums[0]++
	at := 1 + len(observed)
	for i, v := range observed {
		sums[1+i] += v
		for _, w := range observed[i:] {
			sums[at] += v * w
			at++
		}
	}
}

// moments are the sums of one point.
type moments struct {
	variables int
	sums      []float64
}

func (m moments) count() float64     { return m.sums[0] }
func (m moments) sum(i int) float64  { return m.sums[1+i] }
func (m moments) mean(i int) float64 { return m.sum(i) / m.count() }
func (m moments) at(i, j int) float64 { // sum of products
	i, j = min(i, j), max(i, j)
	return m.sums[1+m.variables+i*m.variables-i*(i-1)/2+j-i]
}

// covariance is the sum of products about the means.
func (m moments) covariance(i, j int) float64 { return m.at(i, j) - m.sum(i)*m.mean(j) }

// group are the sums of one group.
func (r *regression) group(point, g int) moments {
	return moments{r.variables(), r.sums[g][point*r.width():][:r.width()]}
}

// total are the sums of all groups.
func (r *regression) total(point int) moments {
	total := make([]float64, r.width())
	for g := range groups {
		floats.Add(total, r.sums[g][point*r.width():][:r.width()])
	}
	return moments{r.variables(), total}
}

// less are the sums of m without those of a part of it.
func (m moments) less(part moments) moments {
	rest := make([]float64, len(m.sums))
	floats.SubTo(rest, m.sums, part.sums)
	return moments{m.variables, rest}
}

// plan says how the coefficients of a point are found.
type plan struct {
	plain bool                // all are 0
	floor [controls]float64   // the least mean square of each control that is not rounding
	prior [][controls]float64 // of each response the coefficients that are expected
	alike bool                // all are fitted to the first response
}

// estimate is means of responses and the covariance of their errors.
type estimate struct {
	mean   []float64
	cov    [][]float64
	counts [groups]float64   // observations by group
	sums   [groups][]float64 // of the residuals y - beta x
}

// se is the standard error of the mean of response k.
func (e *estimate) se(k int) float64 { return math.Sqrt(math.Max(0, e.cov[k][k])) }

// without is the mean of response k with one group deleted, NaN where nothing is left.
func (e *estimate) without(k, group int) float64 {
	sum, count := 0.0, 0.0
	for g := range groups {
		if g != group && e.counts[g] > 0 {
			sum += e.sums[g][k]
			count += e.counts[g]
		}
	}
	return sum / count
}

// estimate computes the means of the residuals y - beta x at a point, with the coefficients beta of each
// group fitted to the other groups, and the covariance of these means from that of the residuals. All is NaN
// without observations, the covariance with one.
func (r *regression) estimate(point int, p plan) *estimate {
	q := r.responses
	e := &estimate{mean: make([]float64, q), cov: make([][]float64, q)}
	squares := make([][]float64, q)
	for k := range q {
		squares[k], e.cov[k] = make([]float64, q), make([]float64, q)
	}
	total, count := r.total(point), 0.0
	for g := range groups {
		own := r.group(point, g)
		e.sums[g] = make([]float64, q)
		if own.count() == 0 {
			continue
		}
		e.counts[g] = own.count()
		count += own.count()
		beta := r.coefficients(total.less(own), p)
		for k := range q {
			e.sums[g][k] = own.sum(controls + k)
			for i, b := range beta[k] {
				e.sums[g][k] -= b * own.sum(i)
			}
			e.mean[k] += e.sums[g][k]
			for l := range k + 1 {
				squares[k][l] += own.residualProduct(beta, k, l)
			}
		}
	}
	floats.Scale(1/count, e.mean)
	for k := range q {
		for l := range k + 1 {
			c := (squares[k][l] - count*e.mean[k]*e.mean[l]) / (count * (count - 1))
			switch {
			case count < 2:
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
func (m moments) residualProduct(beta [][controls]float64, k, l int) float64 {
	sum := m.at(controls+k, controls+l)
	for i := range controls {
		sum -= beta[k][i]*m.at(i, controls+l) + beta[l][i]*m.at(i, controls+k)
		for j := range controls {
			sum += beta[k][i] * beta[l][j] * m.at(i, j)
		}
	}
	return sum
}

// coefficients are those of each response on the controls: least squares about the prior
// ones with their weight, or about 0 where the prior ones do not lower the variance. A control that is
// constant within rounding, or determined by those before it, keeps its prior one.
func (r *regression) coefficients(m moments, p plan) [][controls]float64 {
	beta := make([][controls]float64, r.responses)
	if p.plain {
		return beta
	}
	if copy(beta, p.prior); m.count() < 2 {
		return beta
	}
	covariance := ridge(m, p.floor)
	for k := range beta {
		response := controls + k
		if p.alike {
			response = controls
		}
		b := &beta[k]
		var with, left [controls]float64 // covariances with the response, and with what b leaves of it
		gain := 0.0                      // what b lowers the variance by
		for i := range with {
			with[i] = m.covariance(i, response)
			left[i] = with[i]
			for j, c := range b {
				left[i] -= c * m.covariance(i, j)
			}
			gain += b[i] * (with[i] + left[i])
		}
		if !(gain > 0) {
			*b, left = [controls]float64{}, with
		}
		for i, v := range covariance.solve(left) {
			b[i] += v
		}
	}
	return beta
}

// controlCovariance is the controls' covariances with the prior's weight, a 2 x 2 matrix whose second
// control is taken less its regression on the first. A pivot of 0 leaves a control out.
type controlCovariance struct {
	pivot [controls]float64
	slope float64 // of the second control on the first
}

// collinear is the share of a control's variance that the one before it must leave.
const collinear = 1e-6

// ridge leaves out what is constant within rounding, by the least mean squares in floor, or determined by
// the control before it.
func ridge(m moments, floor [controls]float64) (c controlCovariance) {
	raise := 1 + priorWeight/m.count()
	for i := range controls {
		square := m.covariance(i, i)
		if !(square > floor[i]*m.count()) {
			continue
		}
		rest := square * raise
		if i == 1 && c.pivot[0] > 0 {
			c.slope = m.covariance(0, 1) / c.pivot[0]
			rest -= c.slope * m.covariance(0, 1)
		}
		if rest > collinear*square {
			c.pivot[i] = rest
		}
	}
	return c
}

// solve is the solution x of C x = b, 0 for controls that are left out.
func (c *controlCovariance) solve(b [controls]float64) (x [controls]float64) {
	if c.pivot[1] > 0 {
		x[1] = (b[1] - c.slope*b[0]) / c.pivot[1]
	}
	if c.pivot[0] > 0 {
		x[0] = b[0]/c.pivot[0] - c.slope*x[1]
	}
	return x
}
