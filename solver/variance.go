package solver

import (
	"math"
)

// Accuracy of the linear solve for the variances: the residual relative to the
// right side, in tolerances of the solve.
const (
	linearShare = 1e-4
	linearLimit = 500
)

// variances solves the linear system for the sites' share u = -lambda of the
// variance (T11, in a form that holds for every law of the counts). With
// W = G o G and q = (m - y)^2,
//
//	u = t o (q + W u) + t0,   t = v/(H W_ii),   t0 = sy E2/H,
//
// H = E 1/(c+k/s2)^2, v = H - W_ii, sy the variance of the targets at the site.
// W has no negative element, and neither has the solution where there is one.
func (r *run) variances() {
	n := len(r.sites)
	chi, b := r.engine.Diag()
	q, t, own, fixed := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	r.engine.OffMulVec(q, r.Gamma)
	for i := range q {
		y, sy := r.quadratic[i].Target()
		// m - y = off-diagonal part of G g + chi d y - y = off-diagonal part - b y.
		q[i] -= b[i] * y
		q[i] *= q[i]
		t[i], own[i], fixed[i] = r.feedback(i, chi[i], b[i], sy)
		if r.Method == Variational {
			q[i] += sy
		}
		fixed[i] += t[i] * q[i]
	}
	r.Scatter = make([]float64, n)
	if !r.solvePositive(r.Scatter, fixed, t, own, chi) && r.Status == Converged {
		r.Status = NumericalFailure
		r.Warnings = append(r.Warnings, "the linear equations for the variances have no positive solution")
	}
}

// feedback is t, 1 - t W_ii without the difference, and t0 of a site.
func (r *run) feedback(i int, chi, b, sy float64) (t, own, fixed float64) {
	if r.Method == Variational {
		t, own = r.variationalFeedback(i, chi, b)
		return t, own, 0
	}
	c := cavityPrecision(chi, b)
	a1, pull, h, e2 := r.quadratic[i].Responses(c)
	v := r.quadratic[i].Spread(c, a1, pull)
	if r.Method == StartOnly { // not at the fixed point: chi differs from A1
		v, a1 = h-chi*chi, chi
	}
	if v < 0 {
		r.Stats.Clamps++
		v = 0
	}
	return v / (h * a1 * a1), a1 * a1 / h, sy * e2 / h
}

// solvePositive solves u = fixed + t o (W u), where own = 1 - t W_ii, by
// conjugate gradients on the symmetric form (I - s W s) x = s W fixed, u = fixed
// + s x, s = t^1/2, preconditioned by its diagonal. It reports false when the
// matrix is not positive definite or the solution not >= 0; u is then the last
// iterate, negative entries raised.
func (r *run) solvePositive(u, fixed, t, own, chi []float64) bool {
	n := len(u)
	s := make([]float64, n)
	x, residual, direction, image := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	scaled := make([]float64, n)
	for i := range s {
		s[i] = math.Sqrt(t[i])
	}
	// The part of u with t = 0 is fixed; x carries the rest, with the fixed
	// part's image on the right side: u = fixed + s x, x = s W (fixed + s x).
	r.engine.OffSquareMulVec(residual, fixed)
	positive := true
	for i := range residual {
		residual[i] = s[i] * (residual[i] + chi[i]*chi[i]*fixed[i])
		positive = positive && own[i] > 0
	}
	goal := linearShare * r.settings.Tolerance
	goal *= goal * dot(residual, residual)
	apply := func(dst, x []float64) {
		for i, v := range x {
			scaled[i] = s[i] * v
		}
		r.engine.OffSquareMulVec(dst, scaled)
		for i, v := range x {
			dst[i] = own[i]*v - s[i]*dst[i]
		}
	}
	rho := 0.0
	for range linearLimit {
		if !positive || dot(residual, residual) <= goal {
			break
		}
		r.Stats.Linear++
		last := rho
		rho = 0
		for i, v := range residual {
			rho += v * v / own[i]
		}
		for i, v := range residual {
			direction[i] = v/own[i] + keep(rho, last)*direction[i]
		}
		apply(image, direction)
		curvature := dot(direction, image)
		if !(curvature > 0) {
			positive = false
			break
		}
		for i := range x {
			x[i] += rho / curvature * direction[i]
			residual[i] -= rho / curvature * image[i]
		}
	}
	for i := range u {
		u[i] = fixed[i] + s[i]*x[i]
		if !(u[i] >= 0) {
			u[i], positive = 0, false
		}
	}
	return positive
}

// keep is the share of the last direction that conjugate gradients keep.
func keep(rho, last float64) float64 {
	if last == 0 {
		return 0
	}
	return rho / last
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
