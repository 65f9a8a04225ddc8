package svm

import (
	"math"

	"bootbench/blas"
	"bootbench/train/internal/workspace"

	gonum "gonum.org/v1/gonum/blas"
)

// factor is a Cholesky factor, L L' = K_FF + constant, over a set F of weights that changes by a few at a
// time: a weight joins in O(|F|^2) and leaves in O(|F|^2).
type factor struct {
	constant float64
	index    []int // the members of F in the order of the factor
	position []int // by weight: position in index, or -1
	l        []float64
	stride   int

	column       []float64 // L^-1 (K + constant)_F,i of the weight i appended last
	cosine, sine []float64 // of the rotations that remove a row
}

// reset empties the factor, for n weights.
func (c *factor) reset(n int) {
	workspace.ResizeAll(n, &c.column, &c.cosine, &c.sine)
	c.position = workspace.Resize(c.position, n)
	for i := range c.position {
		c.position[i] = -1
	}
	c.index = c.index[:0]
}

// reserve makes room for order m and keeps the content.
func (c *factor) reserve(m int) {
	if m <= c.stride {
		return
	}
	stride := m + m/2 + 8
	old := c.l
	c.l = make([]float64, stride*stride)
	for p := range c.index {
		copy(c.l[p*stride:p*stride+p+1], old[p*c.stride:p*c.stride+p+1])
	}
	c.stride = stride
}

// minBlockedOrder is the order below which a factor is built row by row.
const minBlockedOrder = 48

// factorise computes the factor over index by one call of LAPACK's potrf. It returns false, and leaves the
// factor empty, if K is singular there to working precision, or if the order is too small to pay.
func (c *factor) factorise(q *dual) bool {
	m := len(c.index)
	if m < minBlockedOrder {
		return false
	}
	for p, i := range c.index {
		row, l := q.row(i), c.l[p*c.stride:]
		for r, j := range c.index[:p+1] {
			l[r] = row[j] + c.constant
		}
	}
	if blas.Bound().Potrf(gonum.Lower, m, c.l, c.stride) != 0 {
		return false
	}
	for p, i := range c.index {
		if d := c.l[p*c.stride+p]; !(d*d > c.minPivot(q, i, m)) {
			return false
		}
	}
	for p, i := range c.index {
		c.position[i] = p
	}
	return true
}

// minPivot is the pivot of weight i below which, in a factor of order m, it counts as rounding.
func (c *factor) minPivot(q *dual, i, m int) float64 {
	return (1e-13 + 1e-15*float64(m)) * (q.diag[i] + c.constant)
}

// append adds weight i to the factor and returns its pivot, the conditional variance of i given F. If row i
// of K depends linearly on the rows of F, i does not join; column is computed in any case.
func (c *factor) append(q *dual, i int) (pivot float64, joined bool) {
	m := len(c.index)
	c.reserve(m + 1)
	row, column := q.row(i), c.column[:m]
	for p, j := range c.index {
		column[p] = row[j] + c.constant
	}
	c.substitute(gonum.NoTrans, column)
	pivot = q.diag[i] + c.constant
	for _, w := range column {
		pivot -= w * w
	}
	if !(pivot > c.minPivot(q, i, m)) {
		return pivot, false
	}
	copy(c.l[m*c.stride:], column)
	c.l[m*c.stride+m] = math.Sqrt(pivot)
	c.position[i] = m
	c.index = append(c.index, i)
	return pivot, true
}

// substitute overwrites x with L^-1 x, or with L'^-1 x.
func (c *factor) substitute(t gonum.Transpose, x []float64) {
	blas.Bound().Dtrsv(gonum.Lower, t, gonum.NonUnit, len(x), c.l, max(1, c.stride), x, 1)
}

// remove takes out the member at position p. Without row p the factor has one column too many, which Givens
// rotations of neighbouring columns clear.
func (c *factor) remove(p int) {
	m := len(c.index)
	c.position[c.index[p]] = -1
	for r := p; r < m-1; r++ {
		c.index[r] = c.index[r+1]
		c.position[c.index[r]] = r
		row := c.l[r*c.stride : r*c.stride+r+2]
		copy(row, c.l[(r+1)*c.stride:(r+1)*c.stride+r+2])
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
