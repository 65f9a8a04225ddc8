package svm

import (
	"math"

	"bootbench/blas"
	"bootbench/train"

	gonum "gonum.org/v1/gonum/blas"
)

// freeSet is the set of free weights F and the Cholesky factor L L' = K_FF. On a
// face the dual is a quadratic, and its top is one solve away:
//
//	beta_F + K_FF^-1 (t - f)_F,   t = +1 or -1 the slope of phi.
//
// The factor follows small changes of the set, so that a face costs O(n |F|)
// beside |F|^2 per change. With a bias the steps d keep sum d = 0, and the factor
// is that of K + constant: it is the same problem, where K may be singular in
// one direction more.
type freeSet struct {
	biased   bool
	constant float64 // 0 without a bias
	ones     []float64
	index    []int // members in the order of the factor
	position []int // by weight: position in index, or -1
	factor   []float64
	stride   int

	dependent  []int     // free weights whose rows of K depend on those of index
	gradient   []float64 // t - f on index
	step       []float64 // Newton step on index, then solves in general
	toEnd      []float64 // shares of the step at which members meet their ends
	excess     []float64 // what of a step lies beyond an end
	kExcess    []float64 // K over
	cosine     []float64
	sine       []float64
	moved      []int     // weights that moved since f was brought up to date
	betaBefore []float64 // by weight: beta when it joined touched
}

// reset forgets the factor and makes room for n weights.
func (c *freeSet) reset(n int) {
	c.index, c.dependent, c.moved = c.index[:0], c.dependent[:0], c.moved[:0]
	c.position = train.Resize(c.position, n)
	for i := range c.position {
		c.position[i] = -1
	}
	c.betaBefore = train.Resize(c.betaBefore, n)
}

// setBias says whether there is a bias, given the largest K_ii.
func (c *freeSet) setBias(biased bool, largestK float64) {
	c.biased, c.constant = biased, 0
	if biased {
		c.constant = largestK
	}
}

// reserve makes room for a factor of order m, keeping its content.
func (c *freeSet) reserve(m int) {
	for _, v := range []*[]float64{&c.gradient, &c.step, &c.ones, &c.toEnd, &c.excess, &c.kExcess, &c.cosine, &c.sine} {
		if len(*v) < m {
			*v = append(*v, make([]float64, m-len(*v))...)
		}
	}
	if m <= c.stride {
		return
	}
	stride := m + m/2 + 8
	old := c.factor
	c.factor = make([]float64, stride*stride)
	for p := range c.index {
		copy(c.factor[p*stride:p*stride+p+1], old[p*c.stride:p*c.stride+p+1])
	}
	c.stride = stride
}

// countChanges counts the weights that joined and left the free set since the
// factor was last used, and the free ones in all.
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

// maxUpdateShare: above this share of changed weights a new factor is cheaper than
// following the changes.
const maxUpdateShare = 0.2

// update brings the factor up to date with the free set.
func (c *freeSet) update(q *dual) {
	joined, left, free := c.countChanges(q)
	c.dependent = c.dependent[:0]
	c.reserve(free)
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

// join appends weight i to the face, or sets it apart.
func (c *freeSet) join(q *dual, i int) {
	if c.append(q, i); c.position[i] < 0 {
		c.dependent = append(c.dependent, i)
	}
}

// refactor factorises K on index anew. Members whose rows depend on those
// before them are set apart.
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

// factorise is refactor in one call of BLAS. It reports false, for sets so
// small that this does not pay too, where K is singular on index.
func (c *freeSet) factorise(q *dual) bool {
	m := len(c.index)
	if m < minBlockedOrder {
		return false
	}
	for p, i := range c.index {
		row, l := q.row(i), c.factor[p*c.stride:]
		for r, j := range c.index[:p+1] {
			l[r] = row[j] + c.constant
		}
	}
	if blas.Bound().Potrf(gonum.Lower, m, c.factor, c.stride) != 0 {
		return false
	}
	for p, i := range c.index {
		if pivot := c.factor[p*c.stride+p]; !(pivot*pivot > c.roundoff(m)*(q.diag[i]+c.constant)) {
			return false
		}
	}
	for p, i := range c.index {
		c.position[i] = p
	}
	return true
}

// minBlockedOrder is the order below which a factor is built row by row.
const minBlockedOrder = 48

// roundoff is the share of K_ii below which a pivot of a factor of order m
// says nothing.
func (c *freeSet) roundoff(m int) float64 { return 1e-13 + 1e-15*float64(m) }

// append adds weight i to the factor, unless row i of K depends on the rows
// that are there: then it leaves L^-1 K_F,i in move. It returns what the face
// leaves of K_ii.
func (c *freeSet) append(q *dual, i int) (pivot float64) {
	m := len(c.index)
	pivot = c.eliminate(q, i)
	if !(pivot > c.roundoff(m)*(q.diag[i]+c.constant)) {
		return pivot
	}
	row := c.factor[m*c.stride:]
	copy(row[:m], c.step[:m])
	row[m] = math.Sqrt(pivot)
	c.position[i] = m
	c.index = append(c.index, i)
	return pivot
}

// eliminate leaves L^-1 K_F,i in move and returns what is left of K_ii.
func (c *freeSet) eliminate(q *dual, i int) (pivot float64) {
	m := len(c.index)
	c.reserve(m + 1)
	row := q.row(i)
	for p, j := range c.index {
		c.step[p] = row[j] + c.constant
	}
	c.forward(c.step[:m])
	pivot = q.diag[i] + c.constant
	for _, w := range c.step[:m] {
		pivot -= w * w
	}
	return pivot
}

// forward overwrites x with L^-1 x.
func (c *freeSet) forward(x []float64) {
	blas.Bound().Dtrsv(gonum.Lower, gonum.NoTrans, gonum.NonUnit, len(x), c.factor, max(1, c.stride), x, 1)
}

// backward overwrites x with L'^-1 x.
func (c *freeSet) backward(x []float64) {
	blas.Bound().Dtrsv(gonum.Lower, gonum.Trans, gonum.NonUnit, len(x), c.factor, max(1, c.stride), x, 1)
}

// removeBounded removes the members that are no longer free, with their lack.
func (c *freeSet) removeBounded(q *dual) {
	for p := len(c.index) - 1; p >= 0; p-- {
		if !q.free(c.index[p]) {
			c.remove(p)
		}
	}
}

// dropBounded drops the members that have met an end.
func (c *freeSet) dropBounded(q *dual) {
	bound := 0
	for _, i := range c.index {
		if !q.free(i) {
			bound++
		}
	}
	if float64(bound) <= maxUpdateShare*float64(len(c.index)) {
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

// remove takes position p out of the face. Without row p the factor has one
// column too many; rotations of neighbouring columns clear it.
func (c *freeSet) remove(p int) {
	m := len(c.index)
	c.position[c.index[p]] = -1
	copy(c.gradient[p:m-1], c.gradient[p+1:m])
	for r := p; r < m-1; r++ {
		c.index[r] = c.index[r+1]
		c.position[c.index[r]] = r
		row := c.factor[r*c.stride : r*c.stride+r+2]
		copy(row, c.factor[(r+1)*c.stride:(r+1)*c.stride+r+2])
		x := row[p]
		for k := p; k < r; k++ {
			y := row[k+1]
			row[k] = c.cosine[k]*x + c.sine[k]*y
			x = c.cosine[k]*y - c.sine[k]*x
		}
		y := row[r+1]
		length := math.Hypot(x, y)
		c.cosine[r], c.sine[r] = x/length, y/length
		row[r] = length
	}
	c.index = c.index[:m-1]
}

// maximize maximises the dual over the free weights, dropping those that meet an
// end of their piece, and brings f up to date. Where K is singular on the free
// set it also moves along the directions without curvature; ray is then the
// site of a weight that may go on rising for ever, else -1.
//
// limit is the size sum |beta| beyond which a weight counts as infinite.
func (c *freeSet) maximize(q *dual, limit float64) (ray int) {
	c.update(q)
	for {
		c.newtonSteps(q)
		c.applyToF(q)
		changed, ray := c.nullspaceStep(q, limit)
		if !changed || ray >= 0 {
			return ray
		}
	}
}

// newtonSteps climbs to the top of the face that is left when every weight that
// meets an end has dropped out.
func (c *freeSet) newtonSteps(q *dual) {
	for p, i := range c.index {
		c.gradient[p] = q.floor[i] - q.f[i]
		c.recordMove(q, i)
	}
	for len(c.index) > 0 {
		m := len(c.index)
		move := c.step[:m]
		copy(move, c.gradient[:m])
		c.forward(move)
		c.backward(move)
		if c.biased {
			c.centerStep(q)
		}
		if c.takeStep(q) {
			return
		}
		if c.dropBounded(q); len(c.index) == m {
			return // only numbers that are none stop a step and drop nothing
		}
	}
}

// centerStep takes from the step in move the bias that makes the weights sum to 0
// after it, and from lack what no step can change.
func (c *freeSet) centerStep(q *dual) {
	m := len(c.index)
	ones, move := c.ones[:m], c.step[:m]
	for p := range ones {
		ones[p] = 1
	}
	c.forward(ones)
	c.backward(ones)
	sum, of := q.total(), 0.0
	for p, v := range move {
		sum += v
		of += ones[p]
	}
	bias := sum / of
	for p := range move {
		move[p] -= bias * ones[p]
		c.gradient[p] -= bias
	}
}

func (c *freeSet) recordMove(q *dual, i int) {
	c.moved = append(c.moved, i)
	c.betaBefore[i] = q.beta[i]
}

// takeStep takes the Newton step in move, or as much of it as the ends allow,
// and reports whether it was taken whole.
func (c *freeSet) takeStep(q *dual) (whole bool) {
	m := len(c.index)
	lack, move, ends := c.gradient[:m], c.step[:m], c.toEnd[:m]
	first := math.Inf(1) // share of the step at which the first weight meets its end
	for p, i := range c.index {
		ends[p] = stepToEnd(q, i, move[p])
		first = min(first, ends[p])
	}
	share := 1.0
	switch {
	case first <= 1 && c.biased:
		share = first // a weight stopped at its end would unbalance the others
	case first <= 1:
		share = c.lineSearch(q, first)
	}
	left := c.overshoot(q, share)
	for p, i := range c.index {
		if ends[p] <= share {
			q.setBeta(i, end(q, i, move[p]))
		} else {
			q.setBeta(i, q.beta[i]+share*move[p])
		}
		lack[p] = (1-share)*lack[p] + left[p]
	}
	return first > 1
}

// lineSearch is the share of the Newton step that gains most when every weight
// that would pass its end stops there, among 1, 1/2, 1/4, ... and first.
func (c *freeSet) lineSearch(q *dual, first float64) (best float64) {
	best, top := first, 0.0
	for share := 1.0; share > first; share /= 2 {
		gain := c.gain(q, share)
		if gain < top {
			return best
		}
		best, top = share, gain
	}
	if c.gain(q, first) > top {
		return first
	}
	return best
}

// gain is what share of the Newton step gains, with weights stopped at their
// ends. A step d turns lack r into r - K d and gains d'(r + r - K d)/2.
func (c *freeSet) gain(q *dual, share float64) float64 {
	left := c.overshoot(q, share)
	gain := 0.0
	for p, r := range left {
		gain += (share*c.step[p] - c.excess[p]) * ((2-share)*c.gradient[p] + r) / 2
	}
	return gain
}

// overshoot is K times what share of the Newton step reaches beyond the ends of
// the pieces. It leaves that excess in over.
func (c *freeSet) overshoot(q *dual, share float64) (left []float64) {
	left = c.kExcess[:len(c.index)]
	clear(left)
	for p, end := range c.toEnd[:len(c.index)] {
		if end >= share {
			c.excess[p] = 0
			continue
		}
		c.excess[p] = (share - end) * c.step[p]
		e, row := c.excess[p], q.row(c.index[p])
		for r, j := range c.index {
			left[r] += e * row[j]
		}
	}
	return left
}

// stepToEnd is how far the free weight i may go in units of direction before it
// meets its end.
func stepToEnd(q *dual, i int, direction float64) float64 {
	if direction == 0 {
		return math.Inf(1)
	}
	return (end(q, i, direction) - q.beta[i]) / direction
}

// end is the end of the linear piece of weight i in a direction.
func end(q *dual, i int, direction float64) float64 {
	from, to := q.piece(i)
	if direction > 0 {
		return to
	}
	return from
}

// applyToF brings f up to date with the weights that moved.
func (c *freeSet) applyToF(q *dual) {
	c.reserve(len(c.moved))
	delta := c.excess[:len(c.moved)]
	for p, i := range c.moved {
		delta[p] = q.beta[i] - c.betaBefore[i]
	}
	addRows(q.f, q.row, c.moved, delta)
	c.moved = c.moved[:0]
}

// nullspaceStep moves along a direction in which K has no curvature, if the dual rises
// there: z with z_i = 1 and z_F = -K_FF^-1 K_F,i for a weight i that is apart.
// It stops where a weight meets an end, and reports whether anything changed.
// Where nothing stops it, ray is i: the dual has no maximum.
func (c *freeSet) nullspaceStep(q *dual, limit float64) (changed bool, ray int) {
	for len(c.dependent) > 0 {
		last := len(c.dependent) - 1
		i := c.dependent[last]
		c.dependent = c.dependent[:last]
		if !q.free(i) {
			continue
		}
		pivot := c.append(q, i)
		if c.position[i] >= 0 {
			return true, -1
		}
		z := c.step[:len(c.index)]
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
		return c.moveAlong(q, i, math.Copysign(1, slope), top, limit/length)
	}
	return false, -1
}

// flatSlope is the slope per unit of sum |z| below which a direction without
// curvature is taken for level.
const flatSlope = 1e-10

// moveAlong moves weight i in direction sign and the face along move until
// one of them meets an end, or to the distance top. Beyond limit that is
// taken for infinitely far.
func (c *freeSet) moveAlong(q *dual, i int, sign, top, limit float64) (changed bool, ray int) {
	own := stepToEnd(q, i, sign)
	far := own
	for p, j := range c.index {
		far = min(far, stepToEnd(q, j, c.step[p]))
	}
	if top < far {
		far = top
	} else if far < own {
		c.dependent = append(c.dependent, i) // another weight leaves the face: try again
	}
	if far > limit {
		return true, i
	}
	c.reserve(len(c.index) + 1)
	c.recordMove(q, i)
	moveOne(q, i, sign, far)
	for p, j := range c.index {
		c.recordMove(q, j)
		moveOne(q, j, c.step[p], far)
	}
	c.applyToF(q)
	c.removeBounded(q)
	return true, -1
}

// moveOne moves weight i by share of direction, not beyond its end.
func moveOne(q *dual, i int, direction, share float64) {
	if stepToEnd(q, i, direction) <= share {
		q.setBeta(i, end(q, i, direction))
	} else {
		q.setBeta(i, q.beta[i]+share*direction)
	}
}
