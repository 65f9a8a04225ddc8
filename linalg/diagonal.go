package linalg

import "math"

// reach bounds the moves for which Estimate calls itself valid: |e_j| times the
// mean of diag(G) stays below it (M03, appendix A.4).
const reach = 0.1

// Estimate is the O(N^2) step of M03 appendix A.4,
//
//	G_ii(d+e) ~ G_ii - sum_j G_ij^2 (e_j - e_j^2 G_jj + e_j^3 G_jj^2),   (T12, M03-67)
//
// valid while |e_j| mean(G_jj) < 0.1 for all j. b follows from 1 - d chi by
// difference to the exact diagonal.
func (e *Exact) Estimate(move, chi, b []float64) (valid bool) {
	weight := e.scaled
	mean := 0.0
	for _, v := range e.chi {
		mean += v / float64(len(e.chi))
	}
	valid = true
	for j, v := range move {
		valid = valid && math.Abs(v)*mean < reach
		x := v * e.chi[j]
		weight[j] = v * (1 - x + x*x)
	}
	e.OffSquareMulVec(chi, weight)
	for i, drop := range chi {
		drop += e.chi[i] * e.chi[i] * weight[i]
		chi[i] = e.chi[i] - drop
		b[i] = e.b[i] + e.d[i]*drop - move[i]*chi[i]
		valid = valid && chi[i] > 0 && b[i] > 0
	}
	return valid
}
