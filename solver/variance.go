package solver

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// Limits of the linear solve for the variances.
const (
	varianceTol        = 1e-3 // residual relative to the right side, in tolerances of the solve
	varianceIterations = 500
)

// variances solves the linear system for the sites' part u = -lambda of the variance (T11, in a form that
// holds for every law of the counts). With W = G o G and q = (m - y)^2,
//
//	u = t o (q + W u) + t0,   t = v/(H W_ii),   t0 = sy E2/H,
//
// H = E 1/(c+k/s2)^2, v = H - W_ii, sy the variance of the targets at the site. W, and the solution if it
// exists, have no negative element.
func (r *run) variances() {
	n := len(r.sites)
	chi, b := r.engine.Diag()
	l := &varianceSystem{run: r, t: make([]float64, n), t0: make([]float64, n), diag: make([]float64, n),
		chi: chi, offDiag: make([]float64, n)}
	q := make([]float64, n)
	linalg.MulVecOffDiag(r.engine, q, r.SiteMean)
	for i := range q {
		y, sy := r.quadratic[i].Target()
		// m - y = off-diagonal part of G g + chi d y - y = off-diagonal part - b y.
		q[i] -= b[i] * y
		q[i] *= q[i]
		l.t[i], l.diag[i], l.t0[i] = r.coefficients(i, chi[i], b[i], sy)
		if r.Method == Variational {
			q[i] += sy
		}
		l.t0[i] += l.t[i] * q[i]
	}
	r.SiteVariance = make([]float64, n)
	if !l.solve(r.SiteVariance) && r.Status == Converged {
		r.Status = NumericalFailure
		r.warn("the linear equations for the variances have no positive solution")
	}
}

// coefficients are t, 1 - t W_ii without the difference, and t0 of a site.
func (r *run) coefficients(i int, chi, b, sy float64) (t, diag, t0 float64) {
	if r.Method == Variational {
		t, diag = variationalCoefficients(r, i, chi, b)
		return t, diag, 0
	}
	c := cavityPrecision(chi, b)
	a1, shrinkage, h, e2 := r.quadratic[i].Responses(c)
	v := r.quadratic[i].Spread(c, a1, shrinkage)
	if r.Method == StartOnly { // not at the fixed point: chi differs from A1
		v, a1 = h-chi*chi, chi
	}
	if v < 0 {
		r.Stats.Clamps++
		v = 0
	}
	return v / (h * a1 * a1), a1 * a1 / h, sy * e2 / h
}

// varianceSystem is the system u = t0 + t o (W u), with t o q in t0, and diag = 1 - t W_ii.
type varianceSystem struct {
	run              *run
	t, t0, diag, chi []float64
	offDiag          []float64 // W u without the diagonal of W, at the solution
}

// solve returns false if the matrix is not positive definite or the solution not >= 0; u is then the last
// iterate with negative entries set to 0. Otherwise offDiag holds the off-diagonal products for the
// read-outs.
func (l *varianceSystem) solve(u []float64) bool {
	tol := varianceTol * l.run.settings.Tolerance
	positive := l.pcg(u, tol)
	raised := false
	for i, v := range u {
		if !(v >= 0) {
			u[i], raised = 0, true
		}
	}
	if !raised {
		l.run.Var = l.offDiag
	}
	return positive && !raised
}

// pcg solves u = t0 + t o (W u) by conjugate gradients on the symmetric form (I - s W s) x = s W t0, u = t0 +
// s x, s = t^1/2, preconditioned by its diagonal, until the residual is tol times its first. It returns false
// if the matrix is not positive definite.
func (l *varianceSystem) pcg(u []float64, tol float64) bool {
	n, w, product, t0 := len(u), l.run.engine, l.offDiag, l.t0
	s, x, scaled, image := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	residual, direction, turned := make([]float64, n), make([]float64, n), make([]float64, n)
	positive := true
	for i := range s {
		s[i] = math.Sqrt(l.t[i])
		positive = positive && l.diag[i] > 0
	}
	w.MulVecSquaredOffDiag(product, t0)
	for i := range residual {
		residual[i] = s[i] * (product[i] + l.chi[i]*l.chi[i]*t0[i])
	}
	goal := tol * tol * floats.Dot(residual, residual)
	rho, beta := 0.0, 0.0
	for range varianceIterations {
		if !positive || floats.Dot(residual, residual) <= goal {
			break
		}
		l.run.Stats.Linear++
		last := rho
		rho = 0
		for i, v := range residual {
			rho += v * v / l.diag[i]
		}
		if last != 0 {
			beta = rho / last
		}
		for i, v := range residual {
			direction[i] = v/l.diag[i] + beta*direction[i]
			scaled[i] = s[i] * direction[i]
		}
		w.MulVecSquaredOffDiag(image, scaled)
		for i, v := range direction {
			turned[i] = l.diag[i]*v - s[i]*image[i]
		}
		curvature := floats.Dot(direction, turned)
		if !(curvature > 0) {
			positive = false
			break
		}
		alpha := rho / curvature
		floats.AddScaled(x, alpha, direction)
		floats.AddScaled(residual, -alpha, turned)
		floats.AddScaled(product, alpha, image)
	}
	for i := range u {
		u[i] = t0[i] + s[i]*x[i]
	}
	return positive
}
