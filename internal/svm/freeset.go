package svm

import (
	"math"

	"bootbench/internal/train"
)

// freeSet takes active-set steps. On the set F of free weights, those inside a
// linear piece of phi, the dual is a quadratic with the maximum
//
//	beta_F + (K_FF)^-1 (t - f)_F,   t = +1 or -1 the slope of phi.
//
// The factor is updated as F changes, so that a step costs O(n |F|) beside |F|^2
// for each change. With a bias the steps d keep sum d = 0, and the factor is that of
// K + constant: the problem is the same, and K may be singular in one direction
// more.
type freeSet struct {
	factor
	biased    bool
	dependent []int // free weights whose rows of K depend linearly on those of the factor

	// Over the members of the factor.
	gradient []float64 // t - f
	step     []float64 // Newton step, then a direction of the null space
	toEnd    []float64 // share of the step at which the weight meets the end of its piece
	change   []float64 // of the moved weights
	ones     []float64 // (K_FF + constant)^-1 1

	moved      []int     // weights whose change is not yet in f
	betaBefore []float64 // by weight: beta when it was added to moved
}

// reset empties the set, for n weights, with a bias or without. largestK is the
// largest K_ii.
func (c *freeSet) reset(n int, biased bool, largestK float64) {
	c.factor.reset(n)
	c.dependent, c.moved = c.dependent[:0], c.moved[:0]
	c.betaBefore = train.Resize(c.betaBefore, n)
	c.biased, c.constant = biased, 0
	if biased {
		c.constant = largestK
	}
}

// makeRoom is reserve for the vectors over the members as well.
func (c *freeSet) makeRoom(m int) {
	c.reserve(m)
	for _, v := range []*[]float64{&c.gradient, &c.step, &c.toEnd, &c.change, &c.ones} {
		extend(v, m)
	}
}

// countChanges counts the weights that have become free or bounded since the factor
// was last updated, and the free ones in all.
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

// maxUpdateShare is the share of changed members above which a new factor is
// cheaper than updates.
const maxUpdateShare = 0.2

// maximize maximises the dual over the free weights, removing those that meet an
// end of their piece, and updates f. Where K is singular on the free set it also
// moves along its null space. If nothing bounds the dual there, ray is the weight
// that leads the way to infinity, else -1. maxSize is the size sum |beta| beyond
// which a weight counts as infinite.
func (c *freeSet) maximize(q *dual, maxSize float64) (ray int) {
	c.update(q)
	for {
		c.newtonSteps(q)
		c.applyToF(q)
		changed, ray := c.nullspaceStep(q, maxSize)
		if !changed || ray >= 0 {
			return ray
		}
	}
}

// update brings the factor to the present free set.
func (c *freeSet) update(q *dual) {
	joined, left, free := c.countChanges(q)
	c.dependent = c.dependent[:0]
	c.makeRoom(free)
	if float64(joined+left) > maxUpdateShare*float64(free) {
		for _, i := range c.index {
			c.position[i] = -1
		}
		c.index = c.index[:0]
		for i := range q.beta {
			if q.free(i) {
				c.index = append(c.index, i)
			}
		}
		c.refactor(q)
		return
	}
	c.removeBounded(q)
	for i := range q.beta {
		if q.free(i) && c.position[i] < 0 {
			c.join(q, i)
		}
	}
}

// refactor computes a new factor over index, in one call or else row by row.
func (c *freeSet) refactor(q *dual) {
	if c.factorise(q) {
		return
	}
	members := c.index
	c.index = c.index[:0]
	for p, i := range members {
		c.gradient[len(c.index)] = c.gradient[p]
		c.join(q, i)
	}
}

// join adds weight i to the factor, or to the dependent ones.
func (c *freeSet) join(q *dual, i int) {
	if _, joined := c.append(q, i); !joined {
		c.dependent = append(c.dependent, i)
	}
}

// removeBounded removes the members that are no longer free, one by one.
func (c *freeSet) removeBounded(q *dual) {
	for p := len(c.index) - 1; p >= 0; p-- {
		if !q.free(c.index[p]) {
			copy(c.gradient[p:len(c.index)-1], c.gradient[p+1:len(c.index)])
			c.remove(p)
		}
	}
}

// dropBounded removes the members that are no longer free, by a new factor where
// they are many.
func (c *freeSet) dropBounded(q *dual) {
	bounded := 0
	for _, i := range c.index {
		if !q.free(i) {
			bounded++
		}
	}
	if float64(bounded) <= maxUpdateShare*float64(len(c.index)) {
		c.removeBounded(q)
		return
	}
	kept := 0
	for p, i := range c.index {
		c.position[i] = -1
		if q.free(i) {
			c.index[kept], c.gradient[kept] = i, c.gradient[p]
			kept++
		}
	}
	c.index = c.index[:kept]
	c.refactor(q)
}

// newtonSteps takes Newton steps, each of which either reaches the maximum over the
// members or removes those that meet an end. It leaves f to applyToF.
func (c *freeSet) newtonSteps(q *dual) {
	for p, i := range c.index {
		c.gradient[p] = q.floor[i] - q.f[i]
		c.recordMove(q, i)
	}
	for len(c.index) > 0 {
		m := len(c.index)
		step := c.step[:m]
		copy(step, c.gradient[:m])
		c.forward(step)
		c.backward(step)
		if c.biased {
			c.centerStep(q)
		}
		if c.takeStep(q) {
			return
		}
		if c.dropBounded(q); len(c.index) == m {
			return // only a step of NaN is cut short and removes nothing
		}
	}
}

// centerStep shifts the bias so that the weights sum to 0 after the step, and takes
// the shift out of step and gradient.
func (c *freeSet) centerStep(q *dual) {
	m := len(c.index)
	ones, step := c.ones[:m], c.step[:m]
	for p := range ones {
		ones[p] = 1
	}
	c.forward(ones)
	c.backward(ones)
	sum, perBias := q.total(), 0.0
	for p, v := range step {
		sum += v
		perBias += ones[p]
	}
	bias := sum / perBias
	for p := range step {
		step[p] -= bias * ones[p]
		c.gradient[p] -= bias
	}
}

// recordMove notes beta_i before it changes, for applyToF.
func (c *freeSet) recordMove(q *dual, i int) {
	c.moved = append(c.moved, i)
	c.betaBefore[i] = q.beta[i]
}

// takeStep takes the Newton step up to where the first weight meets the end of its piece, and reports whether
// it was taken whole.
func (c *freeSet) takeStep(q *dual) (whole bool) {
	m := len(c.index)
	gradient, step, toEnd := c.gradient[:m], c.step[:m], c.toEnd[:m]
	first := math.Inf(1)
	for p, i := range c.index {
		toEnd[p] = stepToEnd(q, i, step[p])
		first = min(first, toEnd[p])
	}
	share := min(1, first)
	for p, i := range c.index {
		moveBy(q, i, step[p], share, toEnd[p])
		gradient[p] *= 1 - share
	}
	return first > 1
}

// stepToEnd is the multiple of direction at which the free weight i meets the end
// of its piece.
func stepToEnd(q *dual, i int, direction float64) float64 {
	if direction == 0 {
		return math.Inf(1)
	}
	return (freeEnd(q, i, direction) - q.beta[i]) / direction
}

// freeEnd is the end of the piece of the free weight i in a direction.
func freeEnd(q *dual, i int, direction float64) float64 {
	from, to := q.piece(i)
	if direction > 0 {
		return to
	}
	return from
}

// moveBy moves the free weight i by share of direction, or to the end of its piece,
// which it meets at toEnd.
func moveBy(q *dual, i int, direction, share, toEnd float64) {
	if toEnd <= share {
		q.setBeta(i, freeEnd(q, i, direction))
	} else {
		q.setBeta(i, q.beta[i]+share*direction)
	}
}

// applyToF adds to f what the moved weights have changed.
func (c *freeSet) applyToF(q *dual) {
	c.makeRoom(len(c.moved))
	change := c.change[:len(c.moved)]
	for p, i := range c.moved {
		change[p] = q.beta[i] - c.betaBefore[i]
	}
	addRows(q.f, q.row, c.moved, change)
	c.moved = c.moved[:0]
}

// nullspaceStep moves along a direction in which K has no curvature, if the dual
// increases there: z with z_i = 1 and z_F = -K_FF^-1 K_F,i for a dependent weight i.
// It stops where a weight meets an end, and reports whether anything changed. Where
// nothing stops it, the dual has no maximum, and ray is i, else -1.
func (c *freeSet) nullspaceStep(q *dual, maxSize float64) (changed bool, ray int) {
	for len(c.dependent) > 0 {
		last := len(c.dependent) - 1
		i := c.dependent[last]
		c.dependent = c.dependent[:last]
		if !q.free(i) {
			continue
		}
		pivot, joined := c.append(q, i)
		c.makeRoom(len(c.index) + 1)
		if joined {
			return true, -1
		}
		z := c.step[:len(c.index)]
		copy(z, c.column)
		c.backward(z)
		slope, length := q.floor[i]-q.f[i], 1.0
		for p, j := range c.index {
			z[p] = -z[p]
			slope += z[p] * (q.floor[j] - q.f[j])
			length += math.Abs(z[p])
		}
		if math.Abs(slope) <= flatSlope*length {
			continue
		}
		if slope < 0 {
			for p := range z {
				z[p] = -z[p]
			}
		}
		top := math.Inf(1)
		if pivot > 0 {
			top = math.Abs(slope) / pivot
		}
		return c.moveAlong(q, i, math.Copysign(1, slope), top, maxSize/length)
	}
	return false, -1
}

// flatSlope is the slope per unit of sum |z| below which the dual counts as constant
// along a direction without curvature.
const flatSlope = 1e-10

// moveAlong moves weight i in direction sign, and the members along step, until one
// of them meets an end, or to the distance top. Beyond limit that counts as
// infinitely far.
func (c *freeSet) moveAlong(q *dual, i int, sign, top, limit float64) (changed bool, ray int) {
	own := stepToEnd(q, i, sign)
	far := own
	for p, j := range c.index {
		far = min(far, stepToEnd(q, j, c.step[p]))
	}
	if top < far {
		far = top
	} else if far < own {
		c.dependent = append(c.dependent, i) // another weight leaves the set: try again
	}
	if far > limit {
		return true, i
	}
	c.recordMove(q, i)
	moveBy(q, i, sign, far, own)
	for p, j := range c.index {
		c.recordMove(q, j)
		moveBy(q, j, c.step[p], far, stepToEnd(q, j, c.step[p]))
	}
	c.applyToF(q)
	c.removeBounded(q)
	return true, -1
}
