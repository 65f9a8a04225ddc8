package report

import "bootbench/solver"

// CompareRow is one comparison: the theory and retraining on the same n examples, in the same process, one
// after the other. Times are wall times in seconds, without the kernel matrix.
type CompareRow struct {
	Setup
	// One solve: start value, all refreshes, variances and the left-out error.
	TheoryS     float64 `json:"theory_s"`
	TheoryError Number  `json:"theory_error"`
	Engine      string  `json:"engine"` // that held the kernel matrix
	Rank        int     `json:"rank,omitempty"`
	Solve
	// One fit with predictions at all sites, by the fastest own trainer of the loss with all BLAS threads: on
	// all data, on a resample with repeated rows merged, and on the S rows of a resample without merging
	// (square loss only, else 0); and on all data by LIBSVM (see libsvmSeconds), a bound if it took longer.
	FitS          float64 `json:"fit_s"`
	ResampleFitS  float64 `json:"resample_fit_s"`
	NaiveFitS     float64 `json:"naive_fit_s"`
	LIBSVMFitS    float64 `json:"libsvm_fit_s"`
	LIBSVMIsBound bool    `json:"libsvm_is_bound"`
	// TheoryS divided by each of these; FitsEquivalent is in merged fits, too.
	TheoryOverFit       float64 `json:"theory_over_fit"`
	TheoryOverMergedFit float64 `json:"theory_over_merged_fit"`
	FitsEquivalent      float64 `json:"fits_equivalent"`
	NaiveFitsEquivalent float64 `json:"naive_fits_equivalent"`
	TheoryOverLIBSVM    float64 `json:"theory_over_libsvm"`
	Retrained
	// The theory refined by exact resamples in batches: RefinedS is the time with the solve, and
	// RefinedEquivalent the number of plain retrainings whose left-out error has the same standard error. 0
	// if the loss has no proximal map.
	RefinedError      Number  `json:"refined_error,omitempty"`
	RefinedSE         Number  `json:"refined_se,omitempty"`
	RefinedResamples  int     `json:"refined_resamples,omitempty"`
	RefinedS          float64 `json:"refined_s,omitempty"`
	RefinedEquivalent Number  `json:"refined_equivalent,omitempty"`
	// Retraining without the theory. Fits50S and Fits200S are the seconds of 50 and 200 resamples, repeated
	// rows merged, one after the other by the fastest own trainer, from the mean of FitsMeasured ones. The
	// fastest way, in blocks and by LIBSVM included, to retrain BaselineFits resamples takes BaselineS: as
	// many as have the standard error of the refined left-out error (all retrained ones, if nothing was
	// refined).
	Fits50S        float64 `json:"fits50_s"`
	Fits200S       float64 `json:"fits200_s"`
	FitsMeasured   int     `json:"fits_measured"`
	Baseline       string  `json:"baseline"`
	BaselineEngine string  `json:"baseline_engine"`
	BaselineRank   int     `json:"baseline_rank,omitempty"`
	BaselineFits   float64 `json:"baseline_fits"`
	BaselineS      float64 `json:"baseline_s"`
	VarianceAccuracy
	PeakBytes int64 `json:"peak_bytes"` // of the theory: kernel matrix, engine, solution
	// Speeds of diag(G), counting 2M^3/3 flops, and of M x M times M x M, measured one after the other.
	RefreshGflops float64 `json:"refresh_gflops"`
	DgemmGflops   float64 `json:"dgemm_gflops"`
	Backend       string  `json:"backend"` // of the linear algebra
	Core          string  `json:"core"`
	Threads       int     `json:"threads"`
}

// Setup is the problem of a row.
type Setup struct {
	Data   string  `json:"data"`
	Loss   string  `json:"loss"`
	N      int     `json:"n"`     // examples
	Sites  int     `json:"sites"` // distinct inputs
	D      int     `json:"d"`
	Ratio  float64 `json:"ratio"`
	Scheme string  `json:"scheme"`
}

// Solve is the status of a solve, and its cost.
type Solve struct {
	Status    string           `json:"status"`
	Residual  Number           `json:"residual"`
	Sweeps    int              `json:"sweeps"`
	Refreshes solver.Refreshes `json:"refreshes"`
}

// NewSolve is the Solve of a solution.
func NewSolve(s *solver.Solution) Solve {
	return Solve{s.Status.String(), Number(s.Residual), s.Stats.Sweeps, s.Stats.Refreshes}
}

// Retrained is the reference, in parallel with one BLAS thread per worker.
type Retrained struct {
	RetrainError     Number  `json:"retrain_error"`
	RetrainSE        Number  `json:"retrain_se"`
	RetrainResamples int     `json:"retrain_resamples"`
	RetrainS         float64 `json:"retrain_s"` // of all resamples
}

// VarianceAccuracy is the accuracy of the theory's variances.
type VarianceAccuracy struct {
	// VarianceError is the theory's root mean square relative error in the per-site variances, with the
	// noise of the retraining reference subtracted, 0 if it is insignificant; VarianceNoise is that noise.
	VarianceError float64 `json:"variance_error"`
	VarianceNoise float64 `json:"variance_noise"`
	// EqualResamples is the number of resamples with which retraining has the same error in the variances,
	// and SpeedupEqualAccuracy their time by the fastest way over theory_s. If VarianceError is 0 both are
	// lower bounds, from the resamples drawn, and EqualIsBound is set.
	EqualResamples       float64 `json:"equal_resamples"`
	SpeedupEqualAccuracy float64 `json:"speedup_equal_accuracy"`
	EqualIsBound         bool    `json:"equal_is_bound"`
}
