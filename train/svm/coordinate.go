package svm

// ascend maximises the dual by at most steps coordinate steps, over one weight at a time, with a bias over
// two, until no violation exceeds tolerance. It returns their number. Steps end at the kinks of phi.
func (q *dual) ascend(tolerance float64, steps int) (made int) {
	if q.biased {
		return q.ascendPairs(tolerance, steps)
	}
	for at := q.axpySelect(q.f, 0); made < steps; made++ {
		if at = q.recheckCandidate(at, tolerance); at < 0 {
			break
		}
		slope, move := q.ascentSlope(at), 0.0
		if slope != 0 {
			move = q.advance(at, slope/q.diag[at])
		}
		at = q.axpySelect(q.row(at), move)
	}
	return made
}

// recheckCandidate returns site if its violation exceeds tolerance, else the site of the largest violation,
// which need not gain most, or -1.
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

// axpySelect adds move times row to f and returns the site of the largest gain at the new f, -1 without a
// violation. Training spends its time here: one pass, with a rarely taken branch.
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
