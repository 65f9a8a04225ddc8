package solver

import (
	"math"

	"bootbench/linalg"
	"bootbench/loss"
)

// inverseScale times 1/K_ii replaces an infinite d, for which b/chi tends to the diagonal of K^-1. It is
// equivalent to a jitter of K_ii/inverseScale.
const inverseScale = 1e12

// meanField solves the factorising approximation (M03 figure 1, dotted; no
// formulas are printed there): c_i = (K^-1)_ii, no cavity variance,
//
//	gc = c m - K^-1 m,   m_i = E_k (gc_i + k y_i/s2)/(c_i + k/s2),
//
// which is linear in m: m = G d y with d = c o/(1 - o). The predictor at a site varies over resamples with
// the site's count only, so new inputs have no variance.
func meanField(r *run) error {
	d := make([]float64, len(r.sites))
	for i, v := range linalg.Diagonal(r.Problem.Gram) {
		d[i] = inverseScale / math.Max(v, smallestVariance)
	}
	if err := r.refresh(d); err != nil {
		return asProblem(err)
	}
	chi, b := r.engine.Diag()
	c := make([]float64, len(d))
	for i, q := range r.quadratic {
		c[i] = cavityPrecision(chi[i], b[i])
		d[i] = precision(q, c[i])
	}
	if err := r.refresh(d); err != nil {
		return asProblem(err)
	}
	r.Stats.Sweeps = 2
	r.engine.FormG()
	r.SitePrecision = d
	r.fields()
	r.SiteVariance = make([]float64, len(d))
	r.readCavities()
	for i, q := range r.quadratic {
		y, _ := q.Target()
		r.Cavity[i] = loss.Cavity{C: c[i], Mean: r.Mean[i] - d[i]*(y-r.Mean[i])/c[i]}
		r.Var[i] = q.Moments(r.Cavity[i]).Var
	}
	r.warn("mean field: K^-1 computed with a jitter of %.0e K_ii; no variance at new inputs", 1/inverseScale)
	return nil
}

// The variational Gaussian approximation (M03 figure 1, dashed; no formulas are
// printed there). For square loss, with nu_i the mean total count of site i,
//
//	d_i = nu_i/(s2 + G_ii),   g = y d,
//	u_i = nu_i (C_i + (m_i - y_i)^2)/(s2 + G_ii)^2,   C_i = sum_j G_ij^2 u_j,
//
// the (m - y)^2 averaged over the examples of the site. This holds for Poisson counts, whose variance equals
// their mean; for multinomial counts nearly.

// countAndNoise are nu_i and s2.
func countAndNoise(r *run, i int) (nu, noise float64) {
	return r.Problem.Law.Mean() * float64(len(r.sites[i].Examples)), loss.TraitsOf(r.Problem.Loss).Noise
}

func variationalPrecision(r *run, i int, chi float64) float64 {
	nu, noise := countAndNoise(r, i)
	return nu / (noise + chi)
}

func variationalCoefficients(r *run, i int, chi, b float64) (t, own float64) {
	nu, noise := countAndNoise(r, i)
	s := noise + chi
	return nu / (s * s), b + (1-b)*noise/s
}
