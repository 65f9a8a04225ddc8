package svm

import "math"

// smoBias maximises the dual with a bias by moving weight between pairs, which
// keeps its sum: sequential minimal optimisation with second-order selection.
// The weight that rises is the one that asks for the largest bias,
// floor_i - f_i; the one that falls gains most with it,
//
//	slope_ij^2 / (2 (K_ii + K_jj - 2 K_ij)),   slope_ij = (floor_i - f_i) - (ceil_j - f_j).
//
// It ends when no slope exceeds tolerance or steps pairs have moved, and returns
// how many did.
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

// pairStep is where a pair goes, and by how much.
type pairStep struct{ up, down, by float64 }

// pairOptimum is the best place of the pair on its linear pieces of phi.
func (q *dual) pairOptimum(up, down int, curvature float64) pairStep {
	a, b := q.beta[up], q.beta[down]
	top, bottom := q.high[up], q.low[down]
	if a < q.kink[up] {
		top = q.kink[up]
	}
	if b > q.kink[down] {
		bottom = q.kink[down]
	}
	curvature = max(curvature, minPivotShare*(q.diag[up]+q.diag[down]))
	by := ((q.floor[up] - q.f[up]) - (q.ceil[down] - q.f[down])) / curvature
	// The ends are met exactly: which weights are free hangs on it.
	switch room, left := top-a, b-bottom; {
	case by >= room && room <= left:
		return pairStep{top, max(b-room, bottom), room}
	case by >= left:
		return pairStep{min(a+left, top), bottom, left}
	}
	return pairStep{min(a+by, top), max(b-by, bottom), by}
}

// selectUp is the weight that asks for the largest bias, -1 if none can rise.
func (q *dual) selectUp() int {
	best, top := -1, math.Inf(-1)
	for i, f := range q.f {
		if v := q.floor[i] - f; v > top {
			best, top = i, v
		}
	}
	return best
}

// selectDown is the weight that gains most when it falls while weight up rises,
// -1 if none gains, and the largest slope of all. row is row up of K.
func (q *dual) selectDown(row []float64, up int) (best int, slope float64) {
	n := len(row)
	f, ceil, diag := q.f[:n], q.ceil[:n], q.diag[:n]
	asks, own := q.floor[up]-q.f[up], q.diag[up]
	best, top, least := -1, 0.0, minPivotShare*own
	for j, k := range row {
		v := asks + (f[j] - ceil[j])
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

// axpyPairSelectUp brings f up to date with a transfer and returns the riser then.
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

// biasInterval is the interval of biases that satisfy everyone: from the largest that
// a weight asks for to the smallest that one allows. It is empty, from > to,
// where weight can still be exchanged.
func (q *dual) biasInterval() (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	for i, f := range q.f {
		from = max(from, q.floor[i]-f)
		to = min(to, q.ceil[i]-f)
	}
	return from, to
}

// bias is the mean of the biases that the free weights ask for; without free
// weights the middle of those that satisfy everyone, or the end that there is.
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

// projectToZeroSum moves single weights until all sum to 0, each time the one that asks
// most for it, and brings f up to date. It is for starting points; pairs keep
// the balance.
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
		addOne(q.f, q.row(i), q.beta[i]-before)
	}
}

// selectForBalance is the weight that best moves against the excess, -1 if none can.
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

// pieceEnd is the end of the linear piece of phi in a direction in which weight i
// can move.
func (q *dual) pieceEnd(i int, direction float64) float64 {
	switch {
	case direction > 0 && q.beta[i] < q.kink[i], direction < 0 && q.beta[i] > q.kink[i]:
		return q.kink[i]
	case direction > 0:
		return q.high[i]
	}
	return q.low[i]
}
