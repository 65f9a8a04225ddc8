package solver

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// anderson accelerates a fixed-point iteration x <- F(x) (Anderson 1965; type II of Walker and Ni 2011): with
// f = F(x) - x and the differences dX, dF of the last x and f, the next point is
//
//	F(x) - (dX + dF) argmin_c |f - dF c|.
type anderson struct {
	dX, dF [][]float64 // differences of successive x and f, a ring
	x, f   []float64   // the last
	move   []float64
	count  int // points since reset
}

// A coordinate that a step would move farther than maxExtrapolation from F(x) takes F(x) instead. The ridge
// keeps the least squares solvable when changes are parallel.
const (
	andersonDepth    = 6 // sweeps that the history holds; 3 to 15 differ little
	maxExtrapolation = 10
	andersonRidge    = 1e-10
)

func newAnderson(size, depth int) *anderson {
	a := &anderson{dX: make([][]float64, depth), dF: make([][]float64, depth), x: make([]float64, size),
		f: make([]float64, size), move: make([]float64, size)}
	for i := range depth {
		a.dX[i], a.dF[i] = make([]float64, size), make([]float64, size)
	}
	return a
}

// reset drops the history.
func (a *anderson) reset() { a.count = 0 }

// step overwrites x with the next point, given fx = F(x).
func (a *anderson) step(x, fx []float64) {
	a.push(x, fx)
	clear(a.move)
	for k, c := range a.solve() {
		slot := a.slot(k)
		floats.AddScaled(a.move, -c, a.dX[slot])
		floats.AddScaled(a.move, -c, a.dF[slot])
	}
	for i, v := range fx {
		x[i] = v
		if move := a.move[i]; math.Abs(move) <= maxExtrapolation {
			x[i] += move
		}
	}
}

// slot is the index of the differences of k points ago, and stored is the number of differences.
func (a *anderson) slot(k int) int { return (a.count - 2 - k) % len(a.dX) }
func (a *anderson) stored() int    { return max(0, min(a.count-1, len(a.dX))) }

// push stores the differences to the last point.
func (a *anderson) push(x, fx []float64) {
	a.count++
	for i, v := range x {
		f := fx[i] - v
		if a.count > 1 {
			a.dX[a.slot(0)][i] = v - a.x[i]
			a.dF[a.slot(0)][i] = f - a.f[i]
		}
		a.x[i], a.f[i] = v, f
	}
}

// solve returns argmin_c |f - dF c|, newest first, by the normal equations, or nil if they cannot be solved.
func (a *anderson) solve() []float64 {
	size := a.stored()
	if size == 0 {
		return nil
	}
	products := make([]float64, size*size+size)
	normal := blas64.Symmetric{Uplo: blas.Upper, N: size, Stride: size, Data: products[:size*size]}
	c := products[size*size:]
	for i := range size {
		newer := a.dF[a.slot(i)]
		for j := range i + 1 {
			normal.Data[j*size+i] = floats.Dot(newer, a.dF[a.slot(j)])
		}
		c[i] = floats.Dot(newer, a.f)
	}
	for i := range size {
		normal.Data[i*size+i] *= 1 + andersonRidge
	}
	factor, ok := lapack64.Potrf(normal)
	if !ok {
		return nil
	}
	lapack64.Potrs(factor, blas64.General{Rows: size, Cols: 1, Stride: 1, Data: c})
	return c
}
