package svm

import (
	"math"

	"bootbench/train/internal/workspace"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
)

// freeSet takes active-set steps. On the set F of free weights, those inside a linear piece of phi, the dual
// is a quadratic with the maximum
//
//	beta_F + (K_FF)^-1 (t - f)_F,   t = +1 or -1 the slope of phi.
//
// The factor is updated as F changes: a step costs O(n |F|), and |F|^2 for each change. With a bias the steps
// d have sum d = 0, and the factor is the one of K + constant: an equal problem, in which K may be singular
// in one more direction.
type freeSet struct {
	factor
	dependent []int // free weights whose rows of K depend linearly on the factor's
	members   []int // workspace: members of the next factor

	// By weight.
	gradient   []float64 // t - f of the members
	betaBefore []float64 // the beta that f was computed with

	// Over the members of the factor.
	step []float64 // Newton step, then a direction of the null space
	ones []float64 // (K_FF + constant)^-1 1
}

// reset empties the set.
func (c *freeSet) reset(q *dual) {
	n := len(q.beta)
	c.factor.reset(n)
	workspace.ResizeAll(n, &c.gradient, &c.betaBefore, &c.step, &c.ones)
	c.constant = 0
	if q.biased {
		c.constant = q.largestK
	}
}

// countChanges counts the weights that became free or bounded since the last update, and the free ones.
func (c *freeSet) countChanges(q *dual) (joined, left, free int) {
	for i := range q.beta {
		if q.free(i) {
			free++
			if c.position[i] < 0 {
				joined++
			}
		} else if c.position[i] >= 0 {
			left++
		}
	}
	return joined, left, free
}

// maximize maximises the dual over the free weights, removes those that meet an end of their piece, and
// updates f. If K is singular on the free set it also moves along its null space. It reports whether the dual
// is bounded there, within rounding.
func (c *freeSet) maximize(q *dual) (bounded bool) {
	copy(c.betaBefore, q.beta)
	c.update(q)
	for {
		c.newtonSteps(q)
		c.updateF(q)
		if changed, bounded := c.nullspaceStep(q); !changed || !bounded {
			return bounded && q.size() <= q.maxSize()
		}
	}
}

// maxUpdateShare is the fraction of changed members above which a new factor is cheaper than updates.
const maxUpdateShare = 0.2

// update makes the factor the one of the present free set.
func (c *freeSet) update(q *dual) {
	joined, left, free := c.countChanges(q)
	c.dependent, c.members = c.dependent[:0], c.members[:0]
	c.reserve(free)
	for i := range q.beta {
		if q.free(i) {
			c.members = append(c.members, i)
		}
	}
	c.become(q, joined+left, free)
}

// dropBounded removes the members that are no longer free.
func (c *freeSet) dropBounded(q *dual) {
	c.members = c.members[:0]
	for _, i := range c.index {
		if q.free(i) {
			c.members = append(c.members, i)
		}
	}
	c.become(q, len(c.index)-len(c.members), len(c.index))
}

// become makes the factor one over members: by changes updates, or if these are many, by a new factorisation,
// in one call or else row by row.
func (c *freeSet) become(q *dual, changes, order int) {
	if float64(changes) <= maxUpdateShare*float64(order) {
		c.removeBounded(q)
	} else {
		for _, i := range c.index {
			c.position[i] = -1
		}
		c.index = append(c.index[:0], c.members...)
		if c.factorise(q) {
			return
		}
		c.index = c.index[:0]
	}
	for _, i := range c.members {
		if c.position[i] >= 0 {
			continue
		}
		if _, joined := c.append(q, i); !joined {
			c.dependent = append(c.dependent, i)
		}
	}
}

// removeBounded removes the members that are no longer free, one by one.
func (c *freeSet) removeBounded(q *dual) {
	for p := len(c.index) - 1; p >= 0; p-- {
		if !q.free(c.index[p]) {
			c.remove(p)
		}
	}
}

// newtonSteps takes Newton steps up to the maximum over the members; those that meet an end leave.
func (c *freeSet) newtonSteps(q *dual) {
	for _, i := range c.index {
		c.gradient[i] = q.floor[i] - q.f[i]
	}
	for len(c.index) > 0 {
		m := len(c.index)
		step := c.step[:m]
		for p, i := range c.index {
			step[p] = c.gradient[i]
		}
		workspace.SolveFactored(gonum.Lower, c.l, c.stride, step)
		if q.biased {
			c.centerStep(q)
		}
		share := min(1, c.firstEnd(q))
		c.move(q, share)
		for _, i := range c.index {
			c.gradient[i] *= 1 - share
		}
		if share == 1 {
			return
		}
		if c.dropBounded(q); len(c.index) == m {
			return // only a step of NaN is shortened and removes nothing
		}
	}
}

// centerStep subtracts from step and gradient the bias with which the weights sum to 0 after the step.
func (c *freeSet) centerStep(q *dual) {
	m := len(c.index)
	ones, step := c.ones[:m], c.step[:m]
	for p := range ones {
		ones[p] = 1
	}
	workspace.SolveFactored(gonum.Lower, c.l, c.stride, ones)
	bias := (floats.Sum(q.beta) + floats.Sum(step)) / floats.Sum(ones)
	for p, i := range c.index {
		step[p] -= bias * ones[p]
		c.gradient[i] -= bias
	}
}

// firstEnd is the multiple of step at which the first member meets the end of its piece.
func (c *freeSet) firstEnd(q *dual) float64 {
	first := math.Inf(1)
	for p, i := range c.index {
		first = min(first, q.stepToEnd(i, c.step[p]))
	}
	return first
}

// move moves the members by share of step, or to the ends of their pieces.
func (c *freeSet) move(q *dual, share float64) {
	for p, i := range c.index {
		q.moveFree(i, c.step[p], share)
	}
}

// updateF adds K times the change of beta to f.
func (c *freeSet) updateF(q *dual) {
	for i, b := range q.beta {
		if b != c.betaBefore[i] {
			floats.AddScaled(q.f, b-c.betaBefore[i], q.row(i))
			c.betaBefore[i] = b
		}
	}
}

// nullspaceStep moves along a direction in which K has no curvature, if the dual increases there: z with z_i
// = 1 and z_F = -K_FF^-1 K_F,i for a dependent weight i. It stops when a weight meets an end. It reports
// whether anything changed, and whether a weight did stop it: otherwise the dual has no maximum.
func (c *freeSet) nullspaceStep(q *dual) (changed, bounded bool) {
	for len(c.dependent) > 0 {
		last := len(c.dependent) - 1
		i := c.dependent[last]
		c.dependent = c.dependent[:last]
		if !q.free(i) {
			continue
		}
		pivot, joined := c.append(q, i)
		if joined {
			return true, true
		}
		slope, length := c.nullspaceDirection(q, i)
		if math.Abs(slope) <= flatSlope*length {
			continue
		}
		top := math.Inf(1)
		if pivot > 0 {
			top = math.Abs(slope) / pivot
		}
		return true, c.moveAlong(q, i, math.Copysign(1, slope), top, q.maxSize()/length)
	}
	return false, true
}

// flatSlope is the slope per unit of sum |z| below which the dual counts as constant.
const flatSlope = 1e-10

// nullspaceDirection writes z_F into step, along which the dual increases, for the weight i that append has
// just refused. slope is the dual's slope along z, and length is sum |z|.
func (c *freeSet) nullspaceDirection(q *dual, i int) (slope, length float64) {
	z := c.step[:len(c.index)]
	copy(z, c.column)
	c.substitute(gonum.Trans, z)
	slope, length = q.floor[i]-q.f[i], 1.0
	for p, j := range c.index {
		slope -= z[p] * (q.floor[j] - q.f[j])
		length += math.Abs(z[p])
	}
	floats.Scale(-math.Copysign(1, slope), z)
	return slope, length
}

// moveAlong moves weight i in direction sign, and the members along step, until one of them meets an end, at
// most by the distance top. A distance beyond limit counts as infinite, and nothing moves.
func (c *freeSet) moveAlong(q *dual, i int, sign, top, limit float64) (bounded bool) {
	own := q.stepToEnd(i, sign)
	far := min(own, c.firstEnd(q))
	if top < far {
		far = top
	} else if far < own {
		c.dependent = append(c.dependent, i) // another weight leaves the set: try again
	}
	if far > limit {
		return false
	}
	q.moveFree(i, sign, far)
	c.move(q, far)
	c.updateF(q)
	c.removeBounded(q)
	return true
}
