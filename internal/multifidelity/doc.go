// Package multifidelity estimates averages over resamples from few exact fits, with the
// first iterate of batch training as a control variate.
//
// Batch training (package batch, THEORY T13) starts every resample at the theory's
// cavities. Its first iterate is additive in the counts s of the resample,
//
//	F1_j(s) = m_j + sum_i G_ji (xi_i(s_i) - g_i),   xi_i(s_i) = f_{s_i}(m_c,i)/chi_i - c_i m_c,i,
//
// with f_k(h) the proximal map of the loss (T3). So its mean and variance over resamples are sums over sites,
// exact for any accuracy of the theory (Expectation); its cost is negligible compared with the exact fit f,
// with which it is correlated. The estimate of E f is the mean of f - beta (F1 - E F1) (control variates:
// Owen 2013, chapter 8.9; the first-order case of multifidelity Monte Carlo: Peherstorfer, Willcox and
// Gunzburger 2016). It is unbiased: the coefficient beta of a group of resamples is fitted to the other
// groups only.
package multifidelity
