// Package bench compares the analytic theory with retraining: costs and agreement across N.
package bench

import (
	"bootbench/blas"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/retrain"
	"bootbench/resample"
	"bootbench/solver"
)

// CompareRow is one comparison: the theory and retraining on the same n examples, in the same process, one
// after the other. Times are wall times in seconds, without the kernel matrix.
type CompareRow struct {
	Setup
	Theory
	SingleFits
	Retrained
	Refined

	// FitsEquivalent is theory_s in fits of merged resamples, and NaiveFitsEquivalent in fits of all S rows.
	FitsEquivalent      float64 `json:"fits_equivalent"`
	NaiveFitsEquivalent float64 `json:"naive_fits_equivalent"`

	VarianceAccuracy
	PeakBytes int64 `json:"peak_bytes"` // of the theory: kernel matrix, engine, solution
	Rates
	Machine
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

// NewSetup is the Setup of a model with the given displayed name of the data.
func NewSetup(name string, m *model.Model, scheme resample.Scheme) Setup {
	return Setup{Data: name, Loss: m.Loss.Name(), N: m.Set.N(), Sites: m.Sites(), D: m.Set.D(),
		Ratio: scheme.Mean(), Scheme: scheme.Name()}
}

// Theory is one solve: start value, all refreshes, variances and the left-out error.
type Theory struct {
	TheoryS     float64    `json:"theory_s"`
	TheoryError null.Float `json:"theory_error"`
	Engine      string     `json:"engine"` // that held the kernel matrix
	Rank        int        `json:"rank,omitempty"`
	Convergence
}

// Convergence is the status of a solve, and its cost.
type Convergence struct {
	Status    string           `json:"status"`
	Residual  null.Float       `json:"residual"`
	Sweeps    int              `json:"sweeps"`
	Refreshes solver.Refreshes `json:"refreshes"`
}

// NewConvergence is the Convergence of a solution.
func NewConvergence(s *solver.Solution) Convergence {
	return Convergence{s.Status.String(), null.Float(s.Residual), s.Stats.Sweeps, s.Stats.Refreshes}
}

// SingleFits are the seconds of one fit with predictions at all sites, with all BLAS threads: on all data, on
// a resample with repeated rows merged, and on the S rows of a resample without merging (square loss only, 0
// otherwise).
type SingleFits struct {
	FitS         float64 `json:"fit_s"`
	ResampleFitS float64 `json:"resample_fit_s"`
	NaiveFitS    float64 `json:"naive_fit_s"`
}

// Retrained is the reference, in parallel with one BLAS thread per worker.
type Retrained struct {
	RetrainError     null.Float `json:"retrain_error"`
	RetrainSE        null.Float `json:"retrain_se"`
	RetrainResamples int        `json:"retrain_resamples"`
	RetrainS         float64    `json:"retrain_s"` // of all resamples
}

// NewRetrained are the figures of retraining with one test loss.
func NewRetrained(r *retrain.Result) Retrained {
	return Retrained{null.Float(r.Tests[0].Error), null.Float(r.Tests[0].SE), r.Resamples,
		r.Stats.Elapsed.Seconds()}
}

// Refined is the theory refined by exact resamples in batches: RefinedS is the time with the solve,
// RefinedEquivalent the number of plain retrainings whose left-out error has the same standard error, and
// RefinedSpeedup their time over RefinedS. 0 if the loss has no proximal map.
type Refined struct {
	RefinedError      null.Float `json:"refined_error,omitempty"`
	RefinedSE         null.Float `json:"refined_se,omitempty"`
	RefinedResamples  int        `json:"refined_resamples,omitempty"`
	RefinedS          float64    `json:"refined_s,omitempty"`
	RefinedEquivalent null.Float `json:"refined_equivalent,omitempty"`
	RefinedSpeedup    null.Float `json:"refined_speedup,omitempty"`
}

// VarianceAccuracy is the accuracy of the theory's variances.
type VarianceAccuracy struct {
	// VarianceError is the theory's root mean square relative error in the per-site variances, with the noise of
	// the retraining reference subtracted, 0 if it is insignificant; VarianceNoise is that noise.
	VarianceError float64 `json:"variance_error"`
	VarianceNoise float64 `json:"variance_noise"`
	// EqualResamples is the number of resamples with which retraining has the same error in the variances, and
	// SpeedupEqualAccuracy their time over theory_s. If VarianceError is 0 both are lower bounds, from the
	// resamples drawn, and EqualIsBound is set.
	EqualResamples       float64 `json:"equal_resamples"`
	SpeedupEqualAccuracy float64 `json:"speedup_equal_accuracy"`
	EqualIsBound         bool    `json:"equal_is_bound"`
}

// Rates are those of the linear algebra, measured one after the other.
type Rates struct {
	RefreshGflops float64 `json:"refresh_gflops"` // diag(G), counting 2M^3/3 flops
	DgemmGflops   float64 `json:"dgemm_gflops"`   // M x M times M x M
}

// Machine describes the hardware and the BLAS.
type Machine struct {
	Backend string `json:"backend"`
	Core    string `json:"core"`
	Threads int    `json:"threads"`
}

// NewMachine describes this machine.
func NewMachine() Machine {
	info := blas.Describe()
	return Machine{info.Backend, info.Core, info.Threads}
}
