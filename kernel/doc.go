// Package kernel turns inputs into covariances: Gram matrices over training
// inputs, and kernel vectors between them and new inputs.
//
// A covariance is A k(x, x') + B, where k is one of the kinds below, A the
// amplitude and B the constant. With r^2 = sum_j ((x_j - x'_j) / L_j)^2:
//
//	rbf         exp(-r^2 / 2), which is exp(-gamma |x - x'|^2) for gamma = 1 / (2 L^2)
//	matern12    exp(-r)
//	matern32    (1 + sqrt(3) r) exp(-sqrt(3) r)
//	matern52    (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)
//	rq          1 / (1 + r^2 / 2), the rational quadratic of exponent 1
//	linear      x . x'
//	poly        (gamma x . x' + coef0)^degree
//	precomputed the caller brings the matrix
//
// The jitter J belongs to the diagonal of a Gram matrix over training examples
// and to nothing else.
//
// Inputs are row-major, one example a row. Error messages count rows and
// columns from 1.
package kernel
