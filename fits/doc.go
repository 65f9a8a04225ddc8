// Package fits trains the fits of a plan (resample.Plan) exactly, and averages over them.
//
// A run (Train, Run) passes blocks of fits through workers: one fit after the other by a trainer of package
// train (Single, Along), or all fits of a block together as products with one matrix (Blocks). Plain averages
// are the averages of Run; Controlled averages have the first iterate of the blocks as a control variate.
// Standard errors are Monte-Carlo errors.
//
// # Blocks
//
// For the weights s of a fit write f = K a, a_i = -s_i l'(f_i), with the theory's d, g and G = (K^-1 +
// diag(d))^-1 as (T13)
//
//	xi = a + d f,   h_i = sum_{j != i} G_ij xi_j / b_i,   f_i = f_{s_i}(h_i),
//
// chi = diag(G), b = 1 - d chi, and f_k(h) the proximal map of the loss at curvature c = b/chi (T3). The fit
// is the fixed point of xi -> h -> f_s(h) -> xi = c (f - h) + d f: no factorisation, one product with G per
// iteration. The rows of a block are fits, so that the product is one gemm; the map of the sites is
// elementwise. Each row is accelerated separately by Anderson's method (type II: Walker and Ni 2011).
//
// The iteration runs on the differences x = xi - g from the theory's average, in single precision and in
// units of the predictor's standard deviation. The product omits the diagonal of G: the prediction for an
// absent example is h, which may be orders of magnitude smaller than chi xi (an isolated input under a narrow
// kernel), and a difference would cancel.
//
// A block is BlockSize consecutive fits from a multiple of BlockSize on, in their order; converged ones leave
// it and are not replaced. So the results do not depend on the assignment of blocks to workers. Of many sites
// on a factor one block at a time is trained, its fits and its products in parallel.
//
// # Control variates
//
// Blocks start every fit at the theory's cavities. Their first iterate is additive in the counts s,
//
//	F1_j(s) = m_j + sum_i G_ji (xi_i(s_i) - g_i),   xi_i(s_i) = f_{s_i}(m_c,i)/chi_i - c_i m_c,i.
//
// So its mean and variance over resamples are sums over sites, exact for any accuracy of the theory
// (Expectation); its cost is negligible compared with the exact fit f, with which it is correlated. The
// estimate of E f is the mean of f - beta (F1 - E F1) (control variates: Owen 2013, chapter 8.9; the
// first-order case of multifidelity Monte Carlo: Peherstorfer, Willcox and Gunzburger 2016). It is unbiased:
// the coefficient beta of a group of resamples is fitted to the other groups only.
package fits
