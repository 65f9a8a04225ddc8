package svm

import (
	"math"

	"bootbench/blas"

	gonum "gonum.org/v1/gonum/blas"
)

// face is the set of free weights F and the Cholesky factor L L' = K_FF. On a
// face the dual is a quadratic, and its top is one solve away:
//
//	beta_F + K_FF^-1 (t - f)_F,   t = +1 or -1 the slope of phi.
//
// The factor follows small changes of the set, so that a face costs O(n |F|)
// beside |F|^2 per change. With a bias the steps d keep sum d = 0, and the factor
// is that of K + constant: it is the same problem, where K may be singular in
// one direction more.
type face struct {
	biased   bool
	constant float64 // 0 without a bias
	ones     []float64
	index    []int // members in the order of the factor
	place    []int // by weight: position in index, or -1
	factor   []float64
	stride   int

	apart   []int     // free weights whose rows of K depend on those of index
	lack    []float64 // t - f on index
	move    []float64 // Newton step on index, then solves in general
	reach   []float64 // shares of the step at which members meet their ends
	over    []float64 // what of a step lies beyond an end
	left    []float64 // K over
	cosine  []float64
	sine    []float64
	touched []int     // weights that moved since f was brought up to date
	before  []float64 // by weight: beta when it joined touched
}

// reset forgets the factor and makes room for n weights.
func (c *face) reset(n int) {
	c.index, c.apart, c.touched = c.index[:0], c.apart[:0], c.touched[:0]
	c.place = grow(c.place, n)
	for i := range c.place {
		c.place[i] = -1
	}
	c.before = grow(c.before, n)
}

// raise says whether there is a bias, given the largest K_ii.
func (c *face) raise(biased bool, largestK float64) {
	c.biased, c.constant = biased, 0
	if biased {
		c.constant = largestK
	}
}

// reserve makes room for a factor of order m, keeping its content.
func (c *face) reserve(m int) {
	for _, v := range []*[]float64{&c.lack, &c.move, &c.ones, &c.reach, &c.over, &c.left, &c.cosine, &c.sine} {
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

// changes counts the weights that joined and left the free set since the
// factor was last used, and the free ones in all.
func (c *face) changes(q *dual) (joined, left, free int) {
	for i := range q.beta {
		if q.free(i) {
			free++
			if c.place[i] < 0 {
				joined++
			}
		} else if c.place[i] >= 0 {
			left++
		}
	}
	return joined, left, free
}

// refactorAt: above this share of changed weights a new factor is cheaper than
// following the changes.
const refactorAt = 0.2

// follow brings the factor up to date with the free set.
func (c *face) follow(q *dual) {
	joined, left, free := c.changes(q)
	c.apart = c.apart[:0]
	c.reserve(free)
	if float64(joined+left) > refactorAt*float64(free) {
		for _, i := range c.index {
			c.place[i] = -1
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
	c.dropBound(q)
	for i := range q.beta {
		if q.free(i) && c.place[i] < 0 {
			c.join(q, i)
		}
	}
}

// join appends weight i to the face, or sets it apart.
func (c *face) join(q *dual, i int) {
	if c.append(q, i); c.place[i] < 0 {
		c.apart = append(c.apart, i)
	}
}

// refactor factorises K on index anew. Members whose rows depend on those
// before them are set apart.
func (c *face) refactor(q *dual) {
	if c.factorise(q) {
		return
	}
	members := c.index
	c.index = c.index[:0]
	for p, i := range members {
		c.lack[len(c.index)] = c.lack[p]
		c.join(q, i)
	}
}

// factorise is refactor in one call of BLAS. It reports false, for sets so
// small that this does not pay too, where K is singular on index.
func (c *face) factorise(q *dual) bool {
	m := len(c.index)
	if m < smallest {
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
		c.place[i] = p
	}
	return true
}

// smallest is the order below which a factor is built row by row.
const smallest = 48

// roundoff is the share of K_ii below which a pivot of a factor of order m
// says nothing.
func (c *face) roundoff(m int) float64 { return 1e-13 + 1e-15*float64(m) }

// append adds weight i to the factor, unless row i of K depends on the rows
// that are there: then it leaves L^-1 K_F,i in move. It returns what the face
// leaves of K_ii.
func (c *face) append(q *dual, i int) (pivot float64) {
	m := len(c.index)
	pivot = c.depend(q, i)
	if !(pivot > c.roundoff(m)*(q.diag[i]+c.constant)) {
		return pivot
	}
	row := c.factor[m*c.stride:]
	copy(row[:m], c.move[:m])
	row[m] = math.Sqrt(pivot)
	c.place[i] = m
	c.index = append(c.index, i)
	return pivot
}

// depend leaves L^-1 K_F,i in move and returns what is left of K_ii.
func (c *face) depend(q *dual, i int) (pivot float64) {
	m := len(c.index)
	c.reserve(m + 1)
	row := q.row(i)
	for p, j := range c.index {
		c.move[p] = row[j] + c.constant
	}
	c.forward(c.move[:m])
	pivot = q.diag[i] + c.constant
	for _, w := range c.move[:m] {
		pivot -= w * w
	}
	return pivot
}

// forward overwrites x with L^-1 x.
func (c *face) forward(x []float64) {
	blas.Bound().Dtrsv(gonum.Lower, gonum.NoTrans, gonum.NonUnit, len(x), c.factor, max(1, c.stride), x, 1)
}

// backward overwrites x with L'^-1 x.
func (c *face) backward(x []float64) {
	blas.Bound().Dtrsv(gonum.Lower, gonum.Trans, gonum.NonUnit, len(x), c.factor, max(1, c.stride), x, 1)
}

// dropBound removes the members that are no longer free, with their lack.
func (c *face) dropBound(q *dual) {
	for p := len(c.index) - 1; p >= 0; p-- {
		if !q.free(c.index[p]) {
			c.remove(p)
		}
	}
}

// thin drops the members that have met an end.
func (c *face) thin(q *dual) {
	bound := 0
	for _, i := range c.index {
		if !q.free(i) {
			bound++
		}
	}
	if float64(bound) <= refactorAt*float64(len(c.index)) {
		c.dropBound(q)
		return
	}
	kept := 0
	for p, i := range c.index {
		c.place[i] = -1
		if q.free(i) {
			c.index[kept], c.lack[kept] = i, c.lack[p]
			kept++
		}
	}
	c.index = c.index[:kept]
	c.refactor(q)
}

// remove takes position p out of the face. Without row p the factor has one
// column too many; rotations of neighbouring columns clear it.
func (c *face) remove(p int) {
	m := len(c.index)
	c.place[c.index[p]] = -1
	copy(c.lack[p:m-1], c.lack[p+1:m])
	for r := p; r < m-1; r++ {
		c.index[r] = c.index[r+1]
		c.place[c.index[r]] = r
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

// climb maximises the dual over the free weights, dropping those that meet an
// end of their piece, and brings f up to date. Where K is singular on the free
// set it also moves along the directions without curvature; ray is then the
// site of a weight that may go on rising for ever, else -1.
//
// limit is the size sum |beta| beyond which a weight counts as infinite.
func (c *face) climb(q *dual, limit float64) (ray int) {
	c.follow(q)
	for {
		c.newton(q)
		c.settle(q)
		changed, ray := c.slide(q, limit)
		if !changed || ray >= 0 {
			return ray
		}
	}
}

// newton climbs to the top of the face that is left when every weight that
// meets an end has dropped out.
func (c *face) newton(q *dual) {
	for p, i := range c.index {
		c.lack[p] = q.floor[i] - q.f[i]
		c.touch(q, i)
	}
	for len(c.index) > 0 {
		m := len(c.index)
		move := c.move[:m]
		copy(move, c.lack[:m])
		c.forward(move)
		c.backward(move)
		if c.biased {
			c.even(q)
		}
		if c.advance(q) {
			return
		}
		if c.thin(q); len(c.index) == m {
			return // only numbers that are none stop a step and drop nothing
		}
	}
}

// even takes from the step in move the bias that makes the weights sum to 0
// after it, and from lack what no step can change.
func (c *face) even(q *dual) {
	m := len(c.index)
	ones, move := c.ones[:m], c.move[:m]
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
		c.lack[p] -= bias
	}
}

func (c *face) touch(q *dual, i int) {
	c.touched = append(c.touched, i)
	c.before[i] = q.beta[i]
}

// advance takes the Newton step in move, or as much of it as the ends allow,
// and reports whether it was taken whole.
func (c *face) advance(q *dual) (whole bool) {
	m := len(c.index)
	lack, move, ends := c.lack[:m], c.move[:m], c.reach[:m]
	first := math.Inf(1) // share of the step at which the first weight meets its end
	for p, i := range c.index {
		ends[p] = reach(q, i, move[p])
		first = min(first, ends[p])
	}
	share := 1.0
	switch {
	case first <= 1 && c.biased:
		share = first // a weight stopped at its end would unbalance the others
	case first <= 1:
		share = c.search(q, first)
	}
	left := c.clipped(q, share)
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

// search is the share of the Newton step that gains most when every weight
// that would pass its end stops there, among 1, 1/2, 1/4, ... and first.
func (c *face) search(q *dual, first float64) (best float64) {
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
func (c *face) gain(q *dual, share float64) float64 {
	left := c.clipped(q, share)
	gain := 0.0
	for p, r := range left {
		gain += (share*c.move[p] - c.over[p]) * ((2-share)*c.lack[p] + r) / 2
	}
	return gain
}

// clipped is K times what share of the Newton step reaches beyond the ends of
// the pieces. It leaves that excess in over.
func (c *face) clipped(q *dual, share float64) (left []float64) {
	left = c.left[:len(c.index)]
	clear(left)
	for p, end := range c.reach[:len(c.index)] {
		if end >= share {
			c.over[p] = 0
			continue
		}
		c.over[p] = (share - end) * c.move[p]
		e, row := c.over[p], q.row(c.index[p])
		for r, j := range c.index {
			left[r] += e * row[j]
		}
	}
	return left
}

// reach is how far the free weight i may go in units of direction before it
// meets its end.
func reach(q *dual, i int, direction float64) float64 {
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

// settle brings f up to date with the weights that moved.
func (c *face) settle(q *dual) {
	c.reserve(len(c.touched))
	delta := c.over[:len(c.touched)]
	for p, i := range c.touched {
		delta[p] = q.beta[i] - c.before[i]
	}
	addRows(q.f, q.row, c.touched, delta)
	c.touched = c.touched[:0]
}

// slide moves along a direction in which K has no curvature, if the dual rises
// there: z with z_i = 1 and z_F = -K_FF^-1 K_F,i for a weight i that is apart.
// It stops where a weight meets an end, and reports whether anything changed.
// Where nothing stops it, ray is i: the dual has no maximum.
func (c *face) slide(q *dual, limit float64) (changed bool, ray int) {
	for len(c.apart) > 0 {
		last := len(c.apart) - 1
		i := c.apart[last]
		c.apart = c.apart[:last]
		if !q.free(i) {
			continue
		}
		pivot := c.append(q, i)
		if c.place[i] >= 0 {
			return true, -1
		}
		z := c.move[:len(c.index)]
		c.backward(z)
		slope, length := q.floor[i]-q.f[i], 1.0
		for p, j := range c.index {
			z[p] = -z[p]
			slope += z[p] * (q.floor[j] - q.f[j])
			length += math.Abs(z[p])
		}
		if math.Abs(slope) <= flat*length {
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
		return c.slideAlong(q, i, math.Copysign(1, slope), top, limit/length)
	}
	return false, -1
}

// flat is the slope per unit of sum |z| below which a direction without
// curvature is taken for level.
const flat = 1e-10

// slideAlong moves weight i in direction sign and the face along move until
// one of them meets an end, or to the distance top. Beyond limit that is
// taken for infinitely far.
func (c *face) slideAlong(q *dual, i int, sign, top, limit float64) (changed bool, ray int) {
	own := reach(q, i, sign)
	far := own
	for p, j := range c.index {
		far = min(far, reach(q, j, c.move[p]))
	}
	if top < far {
		far = top
	} else if far < own {
		c.apart = append(c.apart, i) // another weight leaves the face: try again
	}
	if far > limit {
		return true, i
	}
	c.reserve(len(c.index) + 1)
	c.touch(q, i)
	slideOne(q, i, sign, far)
	for p, j := range c.index {
		c.touch(q, j)
		slideOne(q, j, c.move[p], far)
	}
	c.settle(q)
	c.dropBound(q)
	return true, -1
}

// slideOne moves weight i by share of direction, not beyond its end.
func slideOne(q *dual, i int, direction, share float64) {
	if reach(q, i, direction) <= share {
		q.setBeta(i, end(q, i, direction))
	} else {
		q.setBeta(i, q.beta[i]+share*direction)
	}
}
