package solver

import (
	"math"

	"bootbench/linalg"
)

// Accuracy of the linear solve for the variances: the residual relative to the
// right side, in tolerances of the solve.
const (
	linearShare = 1e-3
	linearLimit = 500
	worthFall   = 0.03 // of the residual per correction on a coarser kernel, at most
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
	r.engine.MulVecOffDiag(q, r.SiteMean)
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
	r.SiteVariance = make([]float64, n)
	l := &linear{run: r, fixed: fixed, t: t, own: own, chi: chi, spread: make([]float64, n)}
	if !l.solve(r.SiteVariance) && r.Status == Converged {
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

// linear is the system u = fixed + t o (W u), with own = 1 - t W_ii.
type linear struct {
	*run
	fixed, t, own, chi []float64
	spread             []float64 // W u without the diagonal of W, at the solution
}

// solve reports false when the matrix is not positive definite or the solution
// not >= 0; u is then the last iterate, negative entries raised. Where nothing was
// raised the variances' share of the others, spread, comes with it.
func (l *linear) solve(u []float64) bool {
	positive := l.nested(u)
	if !positive {
		positive = l.conjugate(l.engine, u, l.spread, l.fixed, linearShare*l.settings.Tolerance)
	}
	raised := false
	for i, v := range u {
		if !(v >= 0) {
			u[i], raised = 0, true
		}
	}
	if !raised {
		l.Var = l.spread
	}
	return positive && !raised
}

// nested solves the system on the coarser kernel within the engine's, and
// corrects by what that leaves, for as long as it pays. It reports false where
// there is none or it does not.
func (l *linear) nested(u []float64) bool {
	if l.settings.Skip&SkipCoarse != 0 || l.settings.Steps == ExactOnly {
		return false
	}
	coarse := l.engine.Coarse()
	if coarse == nil {
		return false
	}
	n := len(u)
	defect, step, image := make([]float64, n), make([]float64, n), make([]float64, n)
	if !l.conjugate(coarse, u, image, l.fixed, coarseTolerance) {
		return false
	}
	last := 1.0
	for {
		l.engine.MulVecSquaredOffDiag(l.spread, u)
		l.Stats.Linear++
		wrong, size := 0.0, 0.0
		for i, v := range u {
			defect[i] = l.fixed[i] + l.t[i]*l.spread[i] - l.own[i]*v
			if l.t[i] > 0 {
				wrong += defect[i] * defect[i] / l.t[i]
				size += (v - l.fixed[i]) * (v - l.fixed[i]) / l.t[i]
			}
		}
		left := 0.0
		if wrong > 0 {
			left = math.Sqrt(wrong / size)
		}
		fall := left / last
		if !(fall < worthFall) || !l.conjugate(coarse, step, image, defect, coarseTolerance) {
			return false
		}
		for i, v := range step {
			u[i] += v
			l.spread[i] += image[i]
		}
		if left*fall <= linearShare*l.settings.Tolerance {
			return true
		}
		last = left
	}
}

// conjugate solves u = fixed + t o (W u), W that of engine, by conjugate gradients
// on the symmetric form (I - s W s) x = s W fixed, u = fixed + s x, s = t^1/2,
// preconditioned by its diagonal, until the residual has fallen to the given share.
// image is W u without the diagonal of W. It reports false when the matrix is not
// positive definite.
func (l *linear) conjugate(engine linalg.Engine, u, image, fixed []float64, share float64) bool {
	n := len(u)
	s := make([]float64, n)
	x, residual, direction, turned := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	scaled, product := make([]float64, n), make([]float64, n)
	positive := true
	for i := range s {
		s[i] = math.Sqrt(l.t[i])
		positive = positive && l.own[i] > 0
	}
	// The part of u with t = 0 is fixed; x carries the rest, with the fixed
	// part's image on the right side: u = fixed + s x, x = s W (fixed + s x).
	engine.MulVecSquaredOffDiag(image, fixed)
	for i := range residual {
		residual[i] = s[i] * (image[i] + l.chi[i]*l.chi[i]*fixed[i])
	}
	goal := share * share * dot(residual, residual)
	rho := 0.0
	for range linearLimit {
		if !positive || dot(residual, residual) <= goal {
			break
		}
		if engine == l.engine {
			l.Stats.Linear++
		}
		last := rho
		rho = 0
		for i, v := range residual {
			rho += v * v / l.own[i]
		}
		for i, v := range residual {
			direction[i] = v/l.own[i] + keep(rho, last)*direction[i]
			scaled[i] = s[i] * direction[i]
		}
		engine.MulVecSquaredOffDiag(product, scaled)
		for i, v := range direction {
			turned[i] = l.own[i]*v - s[i]*product[i]
		}
		curvature := dot(direction, turned)
		if !(curvature > 0) {
			positive = false
			break
		}
		for i := range x {
			x[i] += rho / curvature * direction[i]
			residual[i] -= rho / curvature * turned[i]
			image[i] += rho / curvature * product[i]
		}
	}
	for i := range u {
		u[i] = fixed[i] + s[i]*x[i]
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
