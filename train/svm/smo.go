package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// ascendPairs is sequential minimal optimisation, for the dual with a bias: two weights change at a time, one
// up and one down by the same amount. They are chosen by second-order information (working set selection 2 of
// Fan, Chen and Lin 2005): the weight i to increase has the largest lower bound of the bias, floor_i - f_i;
// the weight j to decrease gains most with it,
//
//	slope_ij^2 / (2 (K_ii + K_jj - 2 K_ij)),   slope_ij = (floor_i - f_i) - (ceil_j - f_j).
//
// Unlike LIBSVM it shrinks nothing: no weight is left out of the search.
func (q *dual) ascendPairs(tolerance float64, steps int) (made int) {
	up := q.selectUp()
	for made < steps && up >= 0 {
		row := q.row(up)
		down, slope := q.selectDown(row, up)
		if down < 0 || slope <= tolerance {
			break
		}
		row2 := q.row(down)
		up = q.axpyPairSelectUp(row, row2, q.transfer(up, down, row[down]))
		made++
	}
	return made
}

// minPivotShare is the least K_jj - K_ij^2/K_ii, relative to K_jj, of weights i and j that move as a pair:
// below it rounding would determine the step.
const minPivotShare = 1e-10

// transfer moves the amount from weight down to weight up that maximises the dual on their present linear
// pieces of phi, and returns it. k is K between the two.
func (q *dual) transfer(up, down int, k float64) (by float64) {
	a, b := q.beta[up], q.beta[down]
	top, bottom := q.pieceEnd(up, 1), q.pieceEnd(down, -1)
	own := q.diag[up] + q.diag[down]
	by = ((q.floor[up] - q.f[up]) - (q.ceil[down] - q.f[down])) / max(own-2*k, minPivotShare*own)
	raised, lowered := min(a+by, top), max(b-by, bottom)
	// Meet the ends exactly: that decides which weights are free.
	switch room, left := top-a, b-bottom; {
	case by >= room && room <= left:
		by, raised, lowered = room, top, max(b-room, bottom)
	case by >= left:
		by, raised, lowered = left, min(a+left, top), bottom
	}
	q.setBeta(up, raised)
	q.setBeta(down, lowered)
	return by
}

// selectUp returns the weight with the largest lower bound of the bias, -1 if none can increase.
func (q *dual) selectUp() int { return q.axpyPairSelectUp(q.f, q.f, 0) }

// selectDown returns the weight that gains most when it decreases while weight up increases, -1 if none
// gains, and the largest slope of all. row is row up of K.
func (q *dual) selectDown(row []float64, up int) (best int, slope float64) {
	n := len(row)
	f, ceil, diag := q.f[:n], q.ceil[:n], q.diag[:n]
	upBound, own := q.floor[up]-q.f[up], q.diag[up]
	best, top, least := -1, 0.0, minPivotShare*own
	for j, k := range row {
		v := upBound + (f[j] - ceil[j])
		if v <= 0 {
			continue
		}
		slope = max(slope, v)
		curvature := max(own+diag[j]-2*k, least)
		if v*v > top*curvature {
			best, top = j, v*v/curvature
		}
	}
	return best, slope
}

// axpyPairSelectUp adds by (row - row2) to f and returns selectUp of the new f.
func (q *dual) axpyPairSelectUp(row, row2 []float64, by float64) (best int) {
	n := len(row)
	f, floor := q.f[:n], q.floor[:n]
	row2 = row2[:n]
	best, top := -1, math.Inf(-1)
	for j, k := range row {
		at := f[j] + by*(k-row2[j])
		f[j] = at
		if v := floor[j] - at; v > top {
			best, top = j, v
		}
	}
	return best
}

// projectToZeroSum makes the weights of a starting point sum to 0 and updates f: each move is of the weight
// that gains most or loses least. Pair steps keep the sum.
func (q *dual) projectToZeroSum() {
	size := q.size()
	for range 2*len(q.beta) + 1 {
		excess := floats.Sum(q.beta)
		if math.Abs(excess) <= snapShare*size {
			return
		}
		i := q.selectForBalance(excess)
		if i < 0 {
			return
		}
		floats.AddScaled(q.f, q.advance(i, -excess), q.row(i))
	}
}

// selectForBalance returns the weight whose move best reduces an excess of the sum, -1 if none can.
func (q *dual) selectForBalance(excess float64) int {
	if excess < 0 {
		return q.selectUp()
	}
	best, top := -1, math.Inf(-1)
	for i, f := range q.f {
		if v := f - q.ceil[i]; v > top {
			best, top = i, v
		}
	}
	return best
}
