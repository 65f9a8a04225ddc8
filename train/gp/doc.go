// Package gp trains exact Gaussian-process regression on weighted data.
//
// The data live on M sites, the distinct inputs. A training set holds site i k_i times with mean target t_i
// over those copies. With kernel matrix K over the sites and noise variance s2 the posterior mean at the
// sites is
//
//	f = K_.a alpha,   (K_aa + diag(s2/k_a)) alpha = t_a,
//
// where a runs over the active sites, those with k_i > 0. It minimises
//
//	1/2 f' K^-1 f + sum_i k_i (f_i - t_i)^2 / (2 s2)                       (T1)
//
// and equals the fit to all rows of the training set with repetitions: k copies of a row with noise s2 are
// equivalent to one row with noise s2/k.
//
// Trainer fits one training set after the other in its own workspaces, FitFull fits all data in the scratch
// triangle of the kernel matrix.
//
// EP approximates the posterior of any other log-concave likelihood by expectation propagation: for probit
// and logit on three sites the error of its means is up to 0.1% of the prior standard deviation.
package gp
