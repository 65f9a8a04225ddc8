// Package svm trains support vector classifiers, with a bias term and without, and perceptrons.
//
// The weights of a train.Set are the boxes C_i. Resume starts at the last dual weights if the examples of C_i
// > 0 are at the same sites (DeCoste and Wagstaff 2000).
//
// The examples (label y_i = -1 or +1, box C_i > 0, +Inf for a hard margin) sit on M sites, the distinct
// inputs, where the kernel matrix K is known; several examples, also of both labels, may share a site s(i).
// The predictor f minimises, over its values at the sites,
//
//	1/2 f' K^-1 f + sum_i C_i max(0, 1 - y_i f_s(i)),                      (T1)
//
// where C_i = +Inf means the constraint y_i f_s(i) >= 1 (M04-1). The dual problem is
//
//	max  sum_i a_i - 1/2 beta' K beta,   0 <= a_i <= C_i,
//
// with beta_s the sum of y_i a_i over the examples on site s, and f = K beta. There is no equality
// constraint. With an unpenalised bias b, f = K beta + b and the dual has the equality sum beta_s = sum y_i
// a_i = 0 (theory 12). An example that a resample holds k times has the box k C under a soft margin and stays
// one constraint under a hard one.
//
// Trainer solves the dual in the site weights beta by two methods in turn. Coordinate ascent, with a bias
// over pairs of weights (sequential minimal optimisation with the second-order working set of Fan, Chen and
// Lin 2005), finds which weights are free: strictly inside their boxes. An active-set step then maximises
// exactly over these, by a Cholesky factor that is updated as the set changes, with a bias in the plane sum
// beta = 0. Certificates then judge the answer, from an f recomputed from beta. LIBSVM's shrinking, which
// leaves bounded weights out of the search, would not pay: active-set steps leave few coordinate steps.
//
// Trainer.LeaveOut trains without one example, from the solution of all; Trainer.Response makes that cheap
// for many examples.
package svm
