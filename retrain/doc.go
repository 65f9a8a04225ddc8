// Package retrain estimates resampling averages the honest way: it draws
// training sets, retrains on each, and averages. It is the reference that the
// analytic theory is measured against, so everything it reports comes with a
// Monte-Carlo standard error.
//
// Run fits resamples b = 0, 1, 2, ... in parallel. What each holds follows from
// the seed and b alone (resample.Draw), and one collector takes the fits in the
// order of b, so the answer is the same to the last bit for any number of
// workers, and stopping early leaves exactly what a shorter run would have given.
package retrain
