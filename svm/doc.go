// Package svm trains support vector classifiers, with a bias term and without,
// and perceptrons.
//
// The examples (label y_i = -1 or +1, box C_i > 0, +Inf for a hard margin) sit
// on M sites, the distinct inputs, where the kernel matrix K is known; several
// examples, also of both labels, may share a site s(i). The predictor f
// minimises, over its values at the sites,
//
//	1/2 f' K^-1 f + sum_i C_i max(0, 1 - y_i f_s(i)),                      (T1)
//
// where C_i = +Inf stands for the constraint y_i f_s(i) >= 1 (M04-1). The dual
// problem is
//
//	max  sum_i a_i - 1/2 beta' K beta,   0 <= a_i <= C_i,
//
// with beta_s the sum of y_i a_i over the examples on site s, and f = K beta.
// There is no equality constraint. With a bias b, which costs nothing, f = K beta
// + b and the dual has one, sum beta_s = sum y_i a_i = 0 (theory 12). An example that a
// resample holds k times has the box k C under a soft margin and stays one
// constraint under a hard one.
//
// Trainer solves the dual in the site weights beta. Coordinate ascent, two
// weights at a time, finds which weights are free (with a bias the two exchange
// weight, as in LIBSVM); between its runs a Cholesky factor, kept up to date,
// maximises exactly over the free ones, with a bias in the plane sum beta = 0.
// Certificates judge the answer afterwards, from an f computed anew. Nothing is
// shrunk: the exact steps keep coordinate steps few.
//
// Trainer.LeaveOut trains without one example, from the solution of all.
package svm
