package svm

// smo maximises the dual over one weight at a time, or with a bias over two (sequential minimal
// optimisation), until no violation exceeds tolerance or steps rows of K have been used, and returns how
// many were. The weight is the one whose own step gains most, slope^2/(2 K_ii). Steps end at the kinks of
// phi.
func (q *dual) smo(tolerance float64, steps int) (made int) {
	if q.biased {
		return q.smoBias(tolerance, steps)
	}
	for at := q.selectBest(); made < steps; made++ {
		if at = q.recheckCandidate(at, tolerance); at < 0 {
			break
		}
		at = q.axpySelect(q.row(at), q.coordinateStep(at))
	}
	return made
}

// recheckCandidate returns the given site if its violation exceeds tolerance, else
// that of the largest violation, -1 if none exceeds it. Where the K_ii differ, the
// largest gain and the largest violation can be at two sites.
func (q *dual) recheckCandidate(site int, tolerance float64) int {
	if site >= 0 {
		if slope := q.ascentSlope(site); slope > tolerance || slope < -tolerance {
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
	slope := q.ascentSlope(i)
	if slope == 0 {
		return 0
	}
	before := q.beta[i]
	q.setBeta(i, stopAt(before, before+slope/q.diag[i], q.pieceEnd(i, slope)))
	return q.beta[i] - before
}

// minPivotShare bounds K_jj - K_ij^2/K_ii from below, as a share of K_jj, for weights
// i and j to move as a pair: below it, rounding would determine the step.
const minPivotShare = 1e-10

// selectBest returns the site of the largest gain, -1 where nothing is violated.
func (q *dual) selectBest() int { return q.axpySelect(q.f, 0) }

// axpySelect adds move times row to f and returns selectBest of the new f. Training
// spends its time here: one pass, with a branch that is rarely taken.
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
