package solver

import "bootbench/loss"

// The variational Gaussian approximation (M03 figure 1, dashed; no formulas are
// printed there). For square loss, with nu_i the mean total count of site i,
//
//	d_i = nu_i/(s2 + G_ii),   g = y d,
//	u_i = nu_i (C_i + (m_i - y_i)^2)/(s2 + G_ii)^2,   C_i = sum_j G_ij^2 u_j,
//
// the (m - y)^2 averaged over the examples of the site. This is for Poisson counts,
// whose variance is their mean; the multinomial's are nearly so.

// noise is s2 of the square loss.
func (r *run) noise() float64 { return r.Problem.Loss.(loss.Square).Noise }

// meanCount is nu_i.
func (r *run) meanCount(i int) float64 {
	return r.Problem.Law.Mean() * float64(len(r.sites[i].Examples))
}

func (r *run) variationalPrecision(i int, chi float64) float64 {
	return r.meanCount(i) / (r.noise() + chi)
}

func (r *run) variationalCoefficients(i int, chi, b float64) (t, own float64) {
	s := r.noise() + chi
	return r.meanCount(i) / (s * s), b + (1-b)*r.noise()/s
}
