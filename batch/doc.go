// Package batch trains many resamples at once, exactly, as products with one matrix.
//
// For the counts s of a resample write the fit f = K a, a_i = -s_i l'(f_i), with the
// theory's d, g and G = (K^-1 + diag(d))^-1 as (T13)
//
//	xi = a + d f,   f = G xi,   h_i = (f_i - chi_i xi_i)/b_i,   f_i = f_{s_i}(h_i),
//
// chi = diag(G), b = 1 - d chi, and f_k(h) the proximal map of the loss at curvature
// c = b/chi (T3). The fit is the fixed point of xi -> f -> h -> f_s(h) -> xi: no
// factorisation, one product with G an iteration. The rows of a block are resamples, so
// that the product is one gemm for all of them; the map of the sites is elementwise. Each
// row is accelerated on its own by Anderson's method (type II: Walker and Ni 2011).
// Rows leave the block as they converge, and others take their place.
//
// The iteration runs on the differences from the theory's average, xi - g and f - m,
// which are of the size of what is wanted: rounding in single precision is then a small
// part of the standard deviation over resamples.
package batch
