// Package retrain estimates resampling averages by brute force: it draws training sets, retrains on each, and
// averages. It is the reference for the analytic theory, so every result has a Monte-Carlo standard error.
//
// A plan (resample.Plan) gives fit r = 0, 1, 2, ... its weights and targets. Fits trains them in parallel, in
// blocks with fixed bounds, and yields them in order; Run averages. So the answer is bitwise independent of
// the number of workers, and a stopped run equals a shorter run. The Estimator of package multifidelity takes
// a Series of fits in the same way and fills the same Result.
package retrain
