// Package erm trains the predictor of (T1) for any convex loss that is known by its proximal map: regularised
// empirical risk minimisation. A bias term is the limit of a large constant in K.
//
// The examples (target y_j, weight k_j >= 0) sit on M sites, the distinct inputs, where the kernel matrix K
// is known; several examples may share a site. With L_i(f) the sum of k_j l(f, y_j) over the examples of site
// i, the predictor at the sites is
//
//	f = argmin 1/2 f' K^-1 f + sum_i L_i(f_i)                              (T1)
//
// K is never inverted and may be singular. At the optimum f = K a with -a_i in the subdifferential of L_i at
// f_i. A Trainer keeps -a_i in the subdifferential at a point p_i, so that a is feasible for the dual problem
//
//	max  sum_i (a_i p_i + L_i(p_i)) - 1/2 a' K a,
//
// and closes the distance between p and f = K a. The pair (p_i, a_i) is one point z_i of a line (T3):
//
//	p_i = prox(z_i) = argmin c_i/2 (p - z_i)^2 + L_i(p),   a_i = c_i (p_i - z_i),
//
// with c_i = 1/K_ii. A coordinate step maximises the dual in one a_i: z_i becomes what f_i would be without
// the site. A Newton step solves p = K a for all z_i, on the present linear pieces of prox, with a line
// search in the dual (proximal Newton, written for the dual). For piecewise linear-quadratic losses the last
// step is exact.
//
// By Fenchel and Young the gap between the primal and the dual objective is
//
//	sum_i L_i(f_i) - L_i(p_i) + a_i (f_i - p_i),
//
// with terms >= 0: it certifies the answer without conjugates.
package erm
