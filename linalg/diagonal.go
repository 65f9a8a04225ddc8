package linalg

import "math"

// How the cavities follow a move of d, see Exact.Estimate.
const (
	curved    = 0.75 // between the two bounds of the response
	mostFreed = 0.7  // share of the others' hold on a site that a move may take away
)

// PredictDiag is a step of O(N^2) in the place of M03's (T12, M03-67), of which
// it keeps the first order. What site i gets from the others is its cavity
// variance v_i = chi_i/b_i. When all of them move by the same share, d -> (1 + a)d,
//
//	v_i(a) = v_i sum_k w_k/(1 + a h_k),
//
// where the h_k, in [0, 1), are the eigenvalues of d^1/2 G d^1/2 without site i
// and the weights w_k >= 0 sum to 1. Their mean is known, h = sum_{j != i} G_ij^2 d_j/(b_i chi_i),
// and bounds the response: by convexity
//
//	1/(1 + a h) <= v_i(a)/v_i <= 1 - h + h/(1 + a).
//
// The estimate lies a fixed part of the way between these. For a, moves that
// differ count by their share in the first order: a = sum G_ij^2 e_j/sum G_ij^2 d_j.
// The site's own move is exact: 1/chi_i = 1/v_i + d_i.
func (e *CholeskyEngine) PredictDiag(move, chi, b []float64) (valid bool) {
	if !e.held {
		e.MulVecSquaredOffDiag(e.hold, e.d)
		e.held = true
	}
	e.MulVecSquaredOffDiag(chi, move)
	return estimate(e, e.hold, move, chi, b)
}

// estimate turns sum_{j != i} G_ij^2 e_j, which it finds in chi, into the
// estimate. hold is the same sum with d in the place of e.
func estimate(e Engine, hold, move, chi, b []float64) (valid bool) {
	valid = true
	d := e.Precisions()
	chi0, b0 := e.Diag()
	for i, fall := range chi {
		if chi0[i] <= 0 {
			chi[i], b[i] = chi0[i], b0[i]
			continue
		}
		mean := math.Min(hold[i]/chi0[i]/b0[i], 1)
		a := 0.0
		if mean > 0 {
			a = fall / hold[i]
		}
		if !(a >= -mostFreed) {
			a, valid = -mostFreed, false
		}
		shrunk := (1-curved)/(1+a*mean) + curved*(1-mean+mean/(1+a))
		c := b0[i] / (chi0[i] * shrunk)
		chi[i] = 1 / (c + d[i] + move[i])
		b[i] = c * chi[i]
	}
	return valid
}
