package fits

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
)

// anderson accelerates one fixed-point iteration x <- x + r(x): the next point is the image of the
// combination of past points with the least combined residual (type II: Anderson 1965; Walker and Ni 2011).
// It stores the newest differences in a ring.
type anderson[T number] struct {
	residual matrix[T] // depth x M: differences of weighted residuals
	image    matrix[T] // depth x M: differences of points and residuals, x + r
	gram     []float64 // depth x depth: inner products of residual's rows
	held     int       // rows in use
	next     int       // row of the next difference
}

// relativeRidge keeps the least squares solvable if residuals are parallel within rounding of single
// precision.
const relativeRidge = 1e-7

func newAnderson[T number](sites int) anderson[T] {
	return anderson[T]{residual: newMatrix[T](depth, sites), image: newMatrix[T](depth, sites),
		gram: make([]float64, depth*depth)}
}

// reset drops the history.
func (a *anderson[T]) reset() { a.held, a.next = 0, 0 }

// open is the row of the next difference. image takes the step of x plus the difference of residuals,
// residual that difference, weighted.
func (a *anderson[T]) open() (residual, image []T) {
	return a.residual.row(a.next), a.image.row(a.next)
}

// coefficients adds the open row to the history and writes into c the coefficients of the combination of the
// history nearest to the weighted residual. It returns their number, 0 if the least squares cannot be solved.
// small is workspace.
func (a *anderson[T]) coefficients(c, weighted []T, small []float64) int {
	a.held = min(a.held+1, depth)
	c = c[:a.held]
	gemv(gblas.NoTrans, 1, a.residual.top(a.held), a.residual.row(a.next), 0, c)
	for j, v := range c {
		a.gram[j*depth+a.next], a.gram[a.next*depth+j] = float64(v), float64(v)
	}
	gemv(gblas.NoTrans, 1, a.residual.top(a.held), weighted, 0, c)
	a.next = (a.next + 1) % depth
	if !solveRidge(small, a.gram, c) {
		a.reset()
		return 0
	}
	return a.held
}

// solveRidge overwrites c with the solution of gram c = c by Cholesky's factorisation, its diagonal raised by
// relativeRidge. It returns false if gram is not positive definite.
func solveRidge[T number](l, gram []float64, c []T) bool {
	n := len(c)
	for i := range n {
		for j := range i + 1 {
			v := gram[i*depth+j]
			if i == j {
				v *= 1 + relativeRidge
			}
			for k := range j {
				v -= l[i*n+k] * l[j*n+k]
			}
			if i > j {
				l[i*n+j] = v / l[j*n+j]
				continue
			}
			if !(v > 0) || math.IsInf(v, 1) {
				return false
			}
			l[i*n+i] = math.Sqrt(v)
		}
	}
	x := l[n*n : n*n+n]
	for i := range n {
		x[i] = float64(c[i])
		for k := range i {
			x[i] -= l[i*n+k] * x[k]
		}
		x[i] /= l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= l[k*n+i] * x[k]
		}
		x[i] /= l[i*n+i]
		c[i] = T(x[i])
	}
	return true
}
