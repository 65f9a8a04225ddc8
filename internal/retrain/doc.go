// Package retrain estimates resampling averages the honest way: it draws training sets, retrains on each, and
// averages. It is the reference that the analytic theory is measured against, so everything it reports comes
// with a Monte-Carlo standard error.
//
// A plan (resample.Plan) gives fit r = 0, 1, 2, ... its weights and targets. Fits trains them in parallel, in
// blocks of fixed bounds, and hands them over in order, to a plain loop; Run averages. So the answer is the
// same to the last bit for any number of workers, and stopping early leaves exactly what a shorter run would
// have given. Another Estimator, that of package multifidelity, takes a Series of fits in the same way and
// fills the same Result.
package retrain
