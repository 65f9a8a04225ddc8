package multifidelity

import (
	"fmt"
	"math"
)

// covariances estimates the covariances over resamples of the predictor at pairs of
// points i, j: as the variance, from products about the theory's means, with the controls
// F1_i - E F1_i, F1_j - E F1_j and their product less Cov(F1_i, F1_j).
type covariances struct {
	pairs    [][2]int
	first    []float64 // Cov(F1_i, F1_j); nil where it is not known
	products *regression[float64]
	unit     []float64 // sums over the present period
}

// Numbers of the variables of a pair.
const (
	pairControls  = 3
	pairResponses = 3 // f_i - center, f_j - center, their product
	pairVariables = pairControls + pairResponses
)

func newCovariances(pairs [][2]int, points int) (*covariances, error) {
	for _, p := range pairs {
		if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= points {
			return nil, fmt.Errorf("there is no pair of points %d and %d among %d", p[0]+1, p[1]+1, points)
		}
	}
	return &covariances{pairs: pairs, products: newRegression[float64](len(pairs), pairControls, pairResponses),
		unit: make([]float64, len(pairs)*pairVariables)}, nil
}

// know takes the covariances of the first iterate, sum_l G_il G_jl Var xi_l for independent
// counts with that variance of the sites' forces.
func (c *covariances) know(x *expectation, variance []float64) {
	a, b := make([]float64, len(variance)), make([]float64, len(variance))
	c.first = make([]float64, len(c.pairs))
	for n, p := range c.pairs {
		x.row(a, p[0])
		x.row(b, p[1])
		for l, v := range variance {
			c.first[n] += a[l] * b[l] * v
		}
	}
}

// row is what the forces of the sites do to a point: its row of G or of Responses.
func (x *expectation) row(dst []float64, point int) {
	if m := len(dst); point >= m {
		copy(dst, x.Responses.Data[(point-m)*x.Responses.Stride:][:m])
		return
	}
	x.engine.Row(dst, point)
}

// add takes in a resample: what F1, if known, and f exceed their centers by.
func (c *covariances) add(first, f func(point int) float64, known bool) {
	for n, p := range c.pairs {
		unit := c.unit[n*pairVariables:][:pairVariables]
		if known {
			a, b := first(p[0]), first(p[1])
			unit[0] += a
			unit[1] += b
			if c.first != nil {
				unit[2] += a*b - c.first[n]
			}
		}
		a, b := f(p[0]), f(p[1])
		unit[3] += a
		unit[4] += b
		unit[5] += a * b
	}
}

// end closes a period of that many resamples.
func (c *covariances) end(group int, period float64) {
	for i := range c.unit {
		c.unit[i] /= period
	}
	for n := range c.pairs {
		c.products.add(group, n, c.unit[n*pairVariables:][:pairVariables])
	}
	clear(c.unit)
}

// estimate is the covariance of pair n and its standard error; p is the plan without its
// prior, move what E F1 exceeds the center by at the two points.
func (c *covariances) estimate(n int, p plan, move [2]float64) (value, se float64) {
	p.prior = [][]float64{{1, 0, 0}, {0, 1, 0}, {move[1], move[0], 1}}
	e := c.products.estimate(n, p)
	a, b := e.mean[0], e.mean[1]
	variance := e.cov[2][2] + b*b*e.cov[0][0] + a*a*e.cov[1][1] - 2*b*e.cov[2][0] - 2*a*e.cov[2][1] +
		2*a*b*e.cov[0][1]
	return e.mean[2] - a*b + e.cov[0][1], math.Sqrt(math.Max(0, variance))
}
