package linalg

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"bootbench/linalg/internal/core"
)

// Response estimates the diagonals of G and of I - diag(d)G after a change of d, much cheaper than Factorize,
// around the present G of an engine: it is valid until G changes.
//
// The estimate costs a product with G o G, and agrees with M03's series (M03-67) to first order. Site i
// depends on the others through its cavity variance v_i = chi_i/b_i. If all d change by the same factor, d ->
// (1 + a)d,
//
//	v_i(a) = v_i sum_k w_k/(1 + a h_k),
//
// where the h_k, in [0, 1), are the eigenvalues of d^1/2 G d^1/2 without site i and the weights w_k >= 0 sum
// to 1. Their mean is known, h = sum_{j != i} G_ij^2 d_j/(b_i chi_i), and bounds the response: by convexity
//
//	1/(1 + a h) <= v_i(a)/v_i <= 1 - h + h/(1 + a).
//
// The estimate lies at a fixed fraction between these. For changes e_j that differ, a = sum G_ij^2 e_j/sum
// G_ij^2 d_j, exact to first order. The site's own change is exact: 1/chi_i = 1/v_i + d_i.
type Response struct {
	engine   Engine
	coupling []float64 // sum_{j != i} G_ij^2 d_j
}

// Constants of Response.
const (
	interpolation = 0.75 // position of the estimate between the two bounds
	maxRelease    = 0.7  // largest relative decrease of the coupling that the model accepts
)

// NewResponse starts at the G of e and needs all of it.
func NewResponse(e Engine) *Response {
	d := e.Precisions()
	r := &Response{e, make([]float64, len(d))}
	e.MulVecSquaredOffDiag(r.coupling, d)
	return r
}

// PredictDiag writes the estimates at d + move. It reports whether move is small enough for them.
func (r *Response) PredictDiag(move, chi, b []float64) (valid bool) {
	chi0, b0 := r.engine.Diag()
	d := r.engine.Precisions()
	r.engine.MulVecSquaredOffDiag(chi, move)
	valid = true
	for i, fall := range chi {
		if chi0[i] <= 0 {
			chi[i], b[i] = chi0[i], b0[i]
			continue
		}
		mean := math.Min(r.coupling[i]/chi0[i]/b0[i], 1)
		a := 0.0
		if mean > 0 {
			a = fall / r.coupling[i]
		}
		if !(a >= -maxRelease) {
			a, valid = -maxRelease, false
		}
		shrunk := (1-interpolation)/(1+a*mean) + interpolation*(1-mean+mean/(1+a))
		c := b0[i] / (chi0[i] * shrunk)
		chi[i] = 1 / (c + d[i] + move[i])
		b[i] = c * chi[i]
	}
	return valid
}

// maxCubicMove is the largest |delta_j| mean(G_jj) of CubicDiag (M03 appendix A.4).
const maxCubicMove = 0.1

// CubicDiag writes M03's cubic estimates of diag(G) and of 1 - d diag(G) at d + move, as printed, at the cost
// of a product with G o G. It needs all of G:
//
//	chi_i = G_ii - sum_j G_ij^2 (delta_j - delta_j^2 G_jj + delta_j^3 G_jj^2),  delta = move.  (M03-67)
//
// It reports whether move is small enough, |delta_j| mean(G_jj) < 0.1 for all j, and the estimates positive.
// Response.PredictDiag costs the same, and is accurate at much larger moves.
func CubicDiag(e Engine, move, chi, b []float64) (valid bool) {
	g, _ := e.Diag()
	d, mean := e.Precisions(), stat.Mean(g, nil)
	terms := make([]float64, len(move))
	for j, delta := range move {
		if !(math.Abs(delta)*mean < maxCubicMove) {
			return false
		}
		x := delta * g[j]
		terms[j] = delta * (1 - x + x*x)
	}
	e.MulVecSquaredOffDiag(chi, terms)
	for i, others := range chi {
		chi[i] = g[i] - others - g[i]*g[i]*terms[i]
		b[i] = 1 - (d[i]+move[i])*chi[i]
	}
	return core.Positive(chi) && core.Positive(b)
}
