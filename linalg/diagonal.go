package linalg

// reach bounds the moves for which Estimate calls itself valid: no element of
// diag(G) may change by more than this factor.
const reach = 2

// Estimate is the O(N^2) step of M03 appendix A.4. There
//
//	G_ii(d+e) ~ G_ii - sum_j G_ij^2 (e_j - e_j^2 G_jj + e_j^3 G_jj^2)      (T12, M03-67)
//
// while |e_j| mean(G_jj) < 0.1. The bracket is the start of the geometric series
//
//	e_j - e_j^2 G_jj + e_j^3 G_jj^2 - ... = e_j/(1 + e_j G_jj),
//
// which is used whole: it is exact when one site moves, however far, and stays
// bounded for moves of the order of d itself. What both leave out is of the
// second order in the off-diagonal elements of G. b follows from 1 - d chi by
// difference to the exact diagonal.
func (e *Exact) Estimate(move, chi, b []float64) (valid bool) {
	weight := e.scaled
	for j, v := range move {
		weight[j] = v / (1 + v*e.chi[j])
	}
	e.OffSquareMulVec(chi, weight)
	valid = true
	for i, drop := range chi {
		drop += e.chi[i] * e.chi[i] * weight[i]
		chi[i] = e.chi[i] - drop
		b[i] = e.b[i] + e.d[i]*drop - move[i]*chi[i]
		valid = valid && chi[i]*reach >= e.chi[i] && chi[i] <= reach*e.chi[i] && b[i] > 0
	}
	return valid
}
