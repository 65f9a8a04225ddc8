package gp

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// pendingRows is the number of changes that are gathered: enough for a matrix product, and
// few enough that a row of S in between is read at little cost.
const pendingRows = 32

// pending is a symmetric matrix S under changes of rank one, many of which are made to the matrix C in
// memory at a time (delayed updates):
//
//	S = C - D'D + U'U.
type pending struct {
	c        blas64.Symmetric // upper triangle
	diag     []float64        // of S
	down, up blas64.General   // D and U
}

// pendingLen is the length of the workspace for order n.
func pendingLen(n int) int { return 2 * n * pendingRoom(n) }

// pendingRoom is the number of rows of either sign that wait at most.
func pendingRoom(n int) int { return min(pendingRows, max(1, n/4)) }

// begin starts from S = c, with a workspace.
func (p *pending) begin(c blas64.Symmetric, diag, workspace []float64) {
	n := c.N
	half := n * pendingRoom(n)
	p.c, p.diag = c, diag
	p.down = blas64.General{Cols: n, Stride: n, Data: workspace[:half]}
	p.up = blas64.General{Cols: n, Stride: n, Data: workspace[half : 2*half]}
	for i := range diag {
		diag[i] = c.Data[i*c.Stride+i]
	}
}

// row copies row i of S.
func (p *pending) row(dst []float64, i int) {
	for j := range i {
		dst[j] = p.c.Data[j*p.c.Stride+i]
	}
	copy(dst[i:], p.c.Data[i*p.c.Stride+i:i*p.c.Stride+p.c.N])
	addTimesColumn(dst, -1, p.down, i)
	addTimesColumn(dst, 1, p.up, i)
}

// addTimesColumn is dst += sign A'A_i, with column i of A.
func addTimesColumn(dst []float64, sign float64, a blas64.General, i int) {
	if a.Rows > 0 {
		column := blas64.Vector{N: a.Rows, Inc: a.Stride, Data: a.Data[i:]}
		blas64.Gemv(blas.Trans, sign, a, column, 1, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
	}
}

// subtract changes S to S - weight row row'.
func (p *pending) subtract(weight float64, row []float64) {
	a, root := &p.down, math.Sqrt(math.Abs(weight))
	if weight < 0 {
		a = &p.up
	}
	next := a.Data[a.Rows*a.Stride:]
	for j, v := range row {
		next[j] = root * v
		p.diag[j] -= weight * v * v
	}
	if a.Rows++; a.Rows == pendingRoom(a.Cols) {
		p.flush()
	}
}

// flush makes the changes to C.
func (p *pending) flush() {
	addSquare(p.c, -1, &p.down)
	addSquare(p.c, 1, &p.up)
}

// addSquare is c += sign A'A, and empties A.
func addSquare(c blas64.Symmetric, sign float64, a *blas64.General) {
	if a.Rows > 0 {
		blas64.Syrk(blas.Trans, sign, *a, 1, c)
		a.Rows = 0
	}
}
