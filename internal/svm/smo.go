package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// smoBias maximises the dual with a bias by sequential minimal optimisation: two
// weights move at a time, one up and one down by the same amount, so that their sum
// stays. They are chosen by second-order information (working set selection 2 of
// Fan, Chen and Lin 2005): the weight i to increase has the largest lower bound of
// the bias, floor_i - f_i; the weight j to decrease gains most with it,
//
//	slope_ij^2 / (2 (K_ii + K_jj - 2 K_ij)),   slope_ij = (floor_i - f_i) - (ceil_j - f_j).
//
// Unlike LIBSVM it shrinks nothing: no weight is left out of the search. It ends when
// no slope exceeds tolerance or steps pairs have moved, and returns how many did.
func (q *dual) smoBias(tolerance float64, steps int) (made int) {
	up := q.selectUp()
	for made < steps && up >= 0 {
		row := q.row(up)
		down, slope := q.selectDown(row, up)
		if down < 0 || slope <= tolerance {
			break
		}
		row2 := q.row(down)
		curvature := q.diag[up] + q.diag[down] - 2*row[down]
		move := q.pairOptimum(up, down, curvature)
		q.setBeta(up, move.up)
		q.setBeta(down, move.down)
		up = q.axpyPairSelectUp(row, row2, move.by)
		made++
	}
	return made
}

// pairStep holds the new values of a pair of weights, and the amount moved.
type pairStep struct{ up, down, by float64 }

// pairOptimum maximises the dual over the transfer between two weights, on their
// present linear pieces of phi.
func (q *dual) pairOptimum(up, down int, curvature float64) pairStep {
	a, b := q.beta[up], q.beta[down]
	top, bottom := q.pieceEnd(up, 1), q.pieceEnd(down, -1)
	curvature = max(curvature, minPivotShare*(q.diag[up]+q.diag[down]))
	by := ((q.floor[up] - q.f[up]) - (q.ceil[down] - q.f[down])) / curvature
	// Meet the ends exactly: that decides which weights are free.
	switch room, left := top-a, b-bottom; {
	case by >= room && room <= left:
		return pairStep{top, max(b-room, bottom), room}
	case by >= left:
		return pairStep{min(a+left, top), bottom, left}
	}
	return pairStep{min(a+by, top), max(b-by, bottom), by}
}

// selectUp returns the weight with the largest lower bound of the bias, -1 if none
// can increase.
func (q *dual) selectUp() int {
	best, top := -1, math.Inf(-1)
	for i, f := range q.f {
		if v := q.floor[i] - f; v > top {
			best, top = i, v
		}
	}
	return best
}

// selectDown returns the weight that gains most when it decreases while weight up
// increases, -1 if none gains, and the largest slope of all. row is row up of K.
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

// biasInterval is the interval of biases b with floor <= f + b <= ceil at every site:
// from the largest lower bound to the smallest upper one. Before the optimum it is
// empty, from > to.
func (q *dual) biasInterval() (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	for i, f := range q.f {
		from = max(from, q.floor[i]-f)
		to = min(to, q.ceil[i]-f)
	}
	return from, to
}

// bias is the mean of the biases that the free weights require; without free
// weights it is the middle of biasInterval, or its finite end.
func (q *dual) bias() float64 {
	if !q.biased {
		return 0
	}
	sum, free := 0.0, 0
	for i, f := range q.f {
		if q.free(i) {
			sum += q.floor[i] - f
			free++
		}
	}
	from, to := q.biasInterval()
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(from, -1) && math.IsInf(to, 1):
		return 0
	case math.IsInf(from, -1):
		return to
	case math.IsInf(to, 1):
		return from
	}
	return (from + to) / 2
}

// total is the sum of all weights.
func (q *dual) total() float64 {
	s := 0.0
	for _, b := range q.beta {
		s += b
	}
	return s
}

// projectToZeroSum moves single weights until all sum to 0, each time the one that
// gains most or loses least by it, and updates f. It is for starting points; pairs
// keep the sum.
func (q *dual) projectToZeroSum() {
	if !q.biased {
		return
	}
	size := q.size()
	for range 2*len(q.beta) + 1 {
		excess := q.total()
		if math.Abs(excess) <= snapShare*size {
			return
		}
		i := q.selectForBalance(excess)
		if i < 0 {
			return
		}
		before := q.beta[i]
		q.setBeta(i, stopAt(before, before-excess, q.pieceEnd(i, -excess)))
		floats.AddScaled(q.f, q.beta[i]-before, q.row(i))
	}
}

// selectForBalance returns the weight that best moves against an excess of the sum, -1
// if none can.
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
