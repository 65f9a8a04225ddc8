// Package leaveout counts, bounds and estimates the leave-one-out errors of support vector classifiers, with
// and without a bias (theory 12).
//
// Leaving out example i of weight a_i changes its margin by at most a multiple of a_i. Without a bias
//
//	y_i f_i - a_i K_ii <= y_i f_-i <= y_i f_i,
//
// since both trainings are optimal for their own examples (Jaakkola, Haussler). With a bias (Joachims)
//
//	y_i f_i - 2 a_i R^2 <= y_i f_-i <= y_i f_i,   2 R^2 >= |phi(x) - phi(x')|^2,
//
// the left part provided that the free support vectors have room for more than a_i: then not every margin can
// decrease, and the bias stays bounded (doc/decisions/0010-leaving-out.md). Without that room Fast retrains.
//
// So a training error, xi_i > 1, is a leave-one-out error, and an example with 2 a_i R^2 + xi_i < 1 is none.
// Fast retrains only without the others, XiAlpha counts rho a_i R^2 + xi_i >= 1 as errors, and Approximate
// estimates all margins under the assumption that free support vectors stay free and bounded ones bounded.
package leaveout
