// Package batch trains many resamples at once, exactly, as products with one matrix.
//
// For the counts s of a resample write the fit f = K a, a_i = -s_i l'(f_i), with the
// theory's d, g and G = (K^-1 + diag(d))^-1 as (T13)
//
//	xi = a + d f,   h_i = sum_{j != i} G_ij xi_j / b_i,   f_i = f_{s_i}(h_i),
//
// chi = diag(G), b = 1 - d chi, and f_k(h) the proximal map of the loss at curvature c = b/chi (T3). The fit
// is the fixed point of xi -> h -> f_s(h) -> xi = c (f - h) + d f: no factorisation, one product with G per
// iteration. The rows of a block are resamples, so that the product is one gemm; the map of the sites is
// elementwise. Each row is accelerated separately by Anderson's method (type II: Walker and Ni 2011).
//
// The iteration runs on the differences x = xi - g from the theory's average, in single precision and in
// units of the predictor's standard deviation. The product omits the diagonal of G: the prediction for an
// absent example is h, which may be orders of magnitude smaller than chi xi (an isolated input under a narrow
// kernel), and a difference would cancel.
//
// A block is BlockSize consecutive resamples from a multiple of BlockSize on, in their order; converged ones
// leave it and are not replaced. So the results do not depend on the assignment of blocks to workers.
package batch
