package svm

import "math"

// smo maximises the dual over one or two weights at a time (sequential minimal
// optimisation) until no violation exceeds tolerance or steps rows of K have been
// used, and returns how many were. Without a bias the first weight of a pair is the
// one whose own step gains most, slope^2/(2 K_ii); the second is the one that gains
// most after it if the two move jointly. Steps end at the kinks of phi.
func (q *dual) smo(tolerance float64, steps int) (made int) {
	if q.biased {
		return q.smoBias(tolerance, steps)
	}
	first := q.selectBest()
	for made < steps {
		if first = q.recheckCandidate(first, tolerance); first < 0 {
			break
		}
		row := q.row(first)
		second := q.axpySelectPair(row, q.coordinateStep(first), 1/q.diag[first], first)
		if made++; second < 0 {
			first = q.selectBest()
			continue
		}
		first = q.pairStepFrom(first, second, row)
		made++
	}
	return made
}

// recheckCandidate returns the given site if its violation exceeds tolerance, else
// that of the largest violation, -1 if none exceeds it. Where the K_ii differ, the
// largest gain and the largest violation can be at two sites.
func (q *dual) recheckCandidate(site int, tolerance float64) int {
	if site >= 0 {
		if slope, _ := q.ascentDirection(site); slope > tolerance || slope < -tolerance {
			return site
		}
	}
	if site, violation := q.mostViolated(); violation > tolerance {
		return site
	}
	return -1
}

// coordinateStep maximises the dual over weight i on its linear piece of phi and
// returns the change of the weight. It leaves f to the caller.
func (q *dual) coordinateStep(i int) (move float64) {
	slope, end := q.ascentDirection(i)
	if slope == 0 {
		return 0
	}
	before := q.beta[i]
	q.setBeta(i, stopAt(before, before+slope/q.diag[i], end))
	return q.beta[i] - before
}

// pairStepFrom maximises the dual over weight j, and over i with it where i is free,
// if it is at its maximum over i already. It updates f and returns the site of the
// largest gain then. row is row i of K.
func (q *dual) pairStepFrom(i, j int, row []float64) (next int) {
	ratio := row[j] / q.diag[i]
	curvature := q.diag[j] - ratio*row[j]
	if !q.free(i) || !(curvature > minPivotShare*q.diag[j]) {
		return q.axpySelect(q.row(j), q.coordinateStep(j))
	}
	slope, end := q.ascentDirection(j)
	a, b := q.beta[i], q.beta[j]
	from, to := q.piece(i)
	newB := stopAt(b, b+slope/curvature, end)
	newA := a - ratio*(newB-b)
	if newA < from || newA > to {
		// i meets its end first; j moves on alone.
		newA = min(max(newA, from), to)
		newB = stopAt(b, b+(slope-row[j]*(newA-a))/q.diag[j], end)
	}
	q.setBeta(i, newA)
	q.setBeta(j, newB)
	return q.axpyTwoSelect(row, newA-a, q.row(j), newB-b)
}

// minPivotShare bounds K_jj - K_ij^2/K_ii from below, as a share of K_jj, for weights
// i and j to move as a pair: below it, rounding would determine the step.
const minPivotShare = 1e-10

// selectBest returns the site of the largest gain, -1 where nothing is violated.
func (q *dual) selectBest() int { return q.axpySelect(q.f, 0) }

// axpySelect adds move times row to f and returns selectBest of the new f. Training
// spends its time in this function and its two siblings: one pass each, with a
// branch that is rarely taken.
func (q *dual) axpySelect(row []float64, move float64) (best int) {
	n := len(row)
	f, floor, ceil, weight := q.f[:n], q.floor[:n], q.ceil[:n], q.invSqrtDiag[:n]
	best, top := -1, 0.0
	for j, k := range row {
		at, w := f[j]+move*k, weight[j]
		f[j] = at
		if (floor[j]-at)*w > top || (at-ceil[j])*w > top {
			best, top = j, max(floor[j]-at, at-ceil[j])*w
		}
	}
	return best
}

// axpyTwoSelect is axpySelect for two rows.
func (q *dual) axpyTwoSelect(row []float64, move float64, row2 []float64, move2 float64) (best int) {
	n := len(row)
	f, floor, ceil, weight := q.f[:n], q.floor[:n], q.ceil[:n], q.invSqrtDiag[:n]
	row2 = row2[:n]
	best, top := -1, 0.0
	for j, k := range row {
		at, w := f[j]+(move*k+move2*row2[j]), weight[j]
		f[j] = at
		if (floor[j]-at)*w > top || (at-ceil[j])*w > top {
			best, top = j, max(floor[j]-at, at-ceil[j])*w
		}
	}
	return best
}

// axpySelectPair is axpySelect for row i of K, but returns the site j != i of the
// largest gain by a joint move of the weights i and j:
//
//	slope_j^2 / (2 (K_jj - K_ij^2/K_ii)).
//
// inverse is 1/K_ii.
func (q *dual) axpySelectPair(row []float64, move, inverse float64, i int) (best int) {
	n := len(row)
	f, floor, ceil, diag := q.f[:n], q.floor[:n], q.ceil[:n], q.diag[:n]
	if !q.free(i) {
		inverse = 0
	}
	best, top := -1, 0.0
	for j, k := range row {
		at := f[j] + move*k
		f[j] = at
		least := top * (diag[j] - k*k*inverse)
		rise, fall := floor[j]-at, at-ceil[j]
		if rise*math.Abs(rise) > least || fall*math.Abs(fall) > least {
			if left := diag[j] - k*k*inverse; j != i && left > minPivotShare*diag[j] {
				rise = max(rise, fall)
				best, top = j, rise*rise/left
			}
		}
	}
	return best
}
