package core

import "math"

// Constants of PredictDiag.
const (
	interpolation = 0.75 // place of the estimate between the two bounds of the response
	maxRelease    = 0.7  // largest relative decrease of the coupling that the model accepts
)

// PredictDiag estimates chi and b after a change of d in O(N^2). It agrees with M03's
// series (M03-67) to first order. What site i gets from the others is its cavity
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
// The site's own move is exact: 1/chi_i = 1/v_i + d_i. mulSquared is the product
// (G o G) x without the diagonal of G.
func (s *Sites) PredictDiag(mulSquared func(dst, x []float64), move, chi, b []float64) (valid bool) {
	if !s.couplingValid {
		mulSquared(s.coupling, s.D)
		s.couplingValid = true
	}
	mulSquared(chi, move)
	valid = true
	for i, fall := range chi {
		if s.Chi[i] <= 0 {
			chi[i], b[i] = s.Chi[i], s.B[i]
			continue
		}
		mean := math.Min(s.coupling[i]/s.Chi[i]/s.B[i], 1)
		a := 0.0
		if mean > 0 {
			a = fall / s.coupling[i]
		}
		if !(a >= -maxRelease) {
			a, valid = -maxRelease, false
		}
		shrunk := (1-interpolation)/(1+a*mean) + interpolation*(1-mean+mean/(1+a))
		c := s.B[i] / (s.Chi[i] * shrunk)
		chi[i] = 1 / (c + s.D[i] + move[i])
		b[i] = c * chi[i]
	}
	return valid
}
