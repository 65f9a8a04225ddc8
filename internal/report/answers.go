// Package report turns results into what is read: JSON documents, text tables,
// CSV and pictures. It computes nothing but summaries of what it is given.
package report

import (
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/solver"
)

// Subject says what was modelled. Its fields are in every document about one
// data set.
type Subject struct {
	Data   string `json:"data"`
	N      int    `json:"n"`      // examples
	D      int    `json:"d"`      // features
	Sites  int    `json:"sites"`  // distinct inputs; all examples with a jitter
	Merged int    `json:"merged"` // examples that share the site of an earlier one
	Task   string `json:"task"`
	Loss   string `json:"loss"`
	loss.Parameters
	Kernel       kernel.Spec `json:"kernel"` // with its defaults
	Standardized bool        `json:"standardized"`
	Target       string      `json:"target,omitempty"` // column of the file
	// taken off the targets, and added to predictions; nil: nothing is
	TargetMean *float64         `json:"target_mean,omitempty"`
	Labels     *dataset.Classes `json:"labels,omitempty"` // where the file has others than -1 and +1
	// Notes say what was found in the file, left out or encoded.
	Notes  []string `json:"notes,omitempty"`
	Preset string   `json:"preset,omitempty"` // where the model of an embedded set comes from
	// Reading are the flags that decided what was read of the data, as name=value.
	Reading []string `json:"reading,omitempty"`
	Model   *Model   `json:"model,omitempty"`
	// Where no model was asked for: how it was chosen, and the command line that repeats it.
	ChosenBy    string `json:"chosen_by,omitempty"`
	CommandLine string `json:"command_line,omitempty"`
}

// Model holds every hyperparameter, by the name of its flag.
type Model struct {
	Loss string `json:"loss"`
	loss.Parameters
	Kernel          kernel.Kind `json:"kernel"`
	Gamma           float64     `json:"gamma,omitempty"`
	LengthScale     []float64   `json:"length_scale,omitempty"`
	Degree          int         `json:"degree,omitempty"`
	Coef0           float64     `json:"coef0,omitempty"`
	Amplitude       float64     `json:"amplitude"`
	Constant        float64     `json:"constant"`
	Jitter          float64     `json:"jitter"`
	Bias            bool        `json:"bias"`
	Standardize     bool        `json:"standardize"`
	NormalizeTarget bool        `json:"normalize_target"`
}

// Resampling says how training sets are redrawn.
type Resampling struct {
	Scheme          string  `json:"scheme"`
	Ratio           float64 `json:"ratio"` // nu = S/N
	Folds           int     `json:"folds,omitempty"`
	Is632Applicable bool    `json:"suits_632"` // whether .632 and .632+ are meant for this scheme and ratio
	Distinct        float64 `json:"distinct"`  // mean number of distinct examples in a resample
}

// Errors are the estimates of the test error in units of the test loss.
type Errors struct {
	TestLoss      string     `json:"test_loss"`
	TestError     null.Float `json:"test_error"` // mean left-out loss
	Apparent      null.Float `json:"apparent_error"`
	NoInformation null.Float `json:"no_information_error"`
	Err632        null.Float `json:"err632"`
	Err632Plus    null.Float `json:"err632plus"`
}

// Quote is the number to quote: the refined left-out error where there are exact resamples, else the
// theory's, whose standard error is unknown.
type Quote struct {
	Error   null.Float  `json:"error"`
	ErrorSE *null.Float `json:"error_se"`
}

// Contradicted is the status of a theory that has converged, but that its exact resamples refute.
const Contradicted = "contradicted"

// Ensemble is the out-of-bag ensemble: for every example the mean prediction, and
// the majority vote, of the resamples that leave it out.
type Ensemble struct {
	BaggedError null.Float  `json:"bagged_error"`         // test loss of the mean prediction
	VoteError   *null.Float `json:"vote_error,omitempty"` // share of labels that the majority misses
}

// EnsembleSE are Monte-Carlo standard errors of an Ensemble.
type EnsembleSE struct {
	BaggedError null.Float  `json:"bagged_error_se"`
	VoteError   *null.Float `json:"vote_error_se,omitempty"`
}

// Convergence says how good a solve is and what it took.
type Convergence struct {
	Method    string           `json:"method"`
	Engine    string           `json:"engine"`
	Status    string           `json:"status"`
	Residual  null.Float       `json:"residual"`
	Sweeps    int              `json:"sweeps"`
	Refreshes solver.Refreshes `json:"refreshes"`

	// Of a low-rank engine: the rank of its factor, the mean residual as a share of
	// the mean variance of the kernel, and the largest residual.
	Rank         int     `json:"rank,omitempty"`
	RankResidual float64 `json:"rank_residual,omitempty"`
	RankLargest  float64 `json:"rank_largest,omitempty"`
	// RankError estimates the change of the left-out error by the low rank, as a share of it.
	RankError null.Float `json:"rank_error,omitempty"`
}

// Points are values per example in the order of the file, or per new input.
// Lists that a command does not have are left out.
type Points struct {
	Names []string `json:"names,omitempty"` // of the rows
	// of one trained model; of a classifier its sign says the class
	Prediction null.Floats `json:"prediction,omitempty"`
	Mean       null.Floats `json:"mean,omitempty"`
	Variance   null.Floats `json:"variance,omitempty"`
	Error      null.Floats `json:"error,omitempty"` // left-out loss; for new inputs the expected loss
	MeanSE     null.Floats `json:"mean_se,omitempty"`
	VarianceSE null.Floats `json:"variance_se,omitempty"`
	SD         null.Floats `json:"sd,omitempty"`
	Lower      null.Floats `json:"lower,omitempty"`
	Upper      null.Floats `json:"upper,omitempty"`
	// Out of bag: mean prediction over the resamples that leave an example out, and
	// the share of them that predict above 0; Vote is that share of all resamples.
	OOBMean null.Floats `json:"oob_mean,omitempty"`
	OOBVote null.Floats `json:"oob_vote,omitempty"`
	Vote    null.Floats `json:"vote,omitempty"`
	// Negative is the share of the resamples whose classifier says -1.
	Negative null.Floats `json:"p_negative,omitempty"`
	// Quantiles over resamples, a list for each of the levels.
	QuantileLevels levels        `json:"quantile_levels,omitempty"`
	Quantiles      []null.Floats `json:"quantiles,omitempty"`
	// Probability is that of the label +1.
	Probability null.Floats `json:"probability,omitempty"`
	Target      null.Floats `json:"target,omitempty"`
	Class       []string    `json:"class,omitempty"` // predicted by the mean, as the file writes it
}

// levels are numbers that are no values of points.
type levels []float64

// Shift adds a constant to all predictions.
func (p *Points) Shift(by float64) {
	for _, list := range [][]float64{p.Mean, p.Lower, p.Upper, p.OOBMean} {
		floats.AddConst(by, list)
	}
}

// Times are wall times in seconds. Total runs from the start of the command to
// its answer.
type Times struct {
	Read    float64 `json:"read"`
	Gram    float64 `json:"gram"`
	Fit     float64 `json:"fit,omitempty"` // the one fit to all data
	Solve   float64 `json:"solve,omitempty"`
	Predict float64 `json:"predict,omitempty"`
	Retrain float64 `json:"retrain,omitempty"`
	Fits    float64 `json:"fits,omitempty"` // of retraining, with the solve that batches are trained around
	Total   float64 `json:"total"`
	// Iterations are those of all fits in blocks that this process has trained, and Exact the number of fits
	// that blocks left to the loss's own trainer.
	Iterations int `json:"iterations,omitempty"`
	Exact      int `json:"exact,omitempty"`
}

// Memory is what the process has taken at most so far (maximum resident set).
type Memory struct {
	PeakBytes int64 `json:"peak_bytes"`
}

// Backend says what did the arithmetic.
type Backend struct {
	Name    string `json:"name"`
	Core    string `json:"core"`
	Threads int    `json:"threads"`
}

// Cost is what an answer cost, and on what.
type Cost struct {
	Time    Times   `json:"time"`
	Memory  Memory  `json:"memory"`
	Backend Backend `json:"backend"`
}

// Estimate is the answer of estimate, and one ratio of Curve.
type Estimate struct {
	Command string `json:"command"`
	Subject
	Resampling
	Quote
	Errors
	Ensemble
	Quality     *calibration.Quality     `json:"quality,omitempty"`     // of the quoted error
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Convergence
	Refined  *Refined             `json:"refined,omitempty"`
	Metrics  *calibration.Metrics `json:"metrics,omitempty"`
	Level    float64              `json:"level,omitempty"` // of the intervals from lower to upper
	Points   *Points              `json:"points,omitempty"`
	Warnings []string             `json:"warnings"`
	Cost
	// Examples are the left-out errors, refined where the estimate is.
	Examples calibration.Errors `json:"-"`
}

// Refine adds what exact resamples say, and quotes them.
func (e *Estimate) Refine(r *Refined) {
	e.Refined, e.Quote = r, Quote{Error: r.TestError, ErrorSE: &r.SE}
	if len(r.Contradicts) > 0 && e.Status == solver.Converged.String() {
		e.Status = Contradicted
	}
}

// Curve is the answer of curve.
type Curve struct {
	Command string `json:"command"`
	Subject
	Scheme   string     `json:"-"`      // of resampling, of every result
	TestLoss string     `json:"-"`      // of every result
	Status   string     `json:"status"` // "complete" or "cancelled"
	Results  []Estimate `json:"results"`
	Cost
}

// Prediction is the answer of predict.
type Prediction struct {
	Command string `json:"command"`
	Subject
	Resampling
	Convergence
	Test  string `json:"test"` // the new inputs
	Count int    `json:"test_n"`
	Interval
	Metrics *calibration.Metrics `json:"metrics,omitempty"`
	// Known where the new inputs have targets: the test loss averaged over
	// resamples and inputs, and that of the mean prediction (bagging).
	TestLoss    string                   `json:"test_loss,omitempty"`
	TestError   *null.Float              `json:"test_error,omitempty"`
	BaggedError *null.Float              `json:"bagged_error,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Refined     *Refined                 `json:"refined,omitempty"`
	Quality     *calibration.Quality     `json:"quality,omitempty"`
	Points      *Points                  `json:"points,omitempty"`
	Warnings    []string                 `json:"warnings"`
	Cost
}

// Interval says what the intervals at new inputs, from lower to upper, hold.
type Interval struct {
	Interval string  `json:"interval"` // "estimator" or "observation"
	Level    float64 `json:"level"`
	// Of observations: the unit of residuals, and by how much the share of new targets that
	// the intervals hold differs from data set to data set of this size.
	Residuals  string  `json:"residuals,omitempty"`
	CoverageSD float64 `json:"coverage_sd,omitempty"`
	// Where the new inputs have targets, the share of these in their intervals, and the
	// intervals' mean width.
	Coverage *float64 `json:"coverage,omitempty"`
	Width    *float64 `json:"mean_width,omitempty"`
}

// Retraining is the answer of retrain. Standard errors are those of Monte Carlo.
type Retraining struct {
	Command string `json:"command"`
	Subject
	Resampling
	Draws
	Errors
	Ensemble
	EnsembleSE
	Quality  *calibration.Quality `json:"quality,omitempty"`
	SE       null.Float           `json:"standard_error"` // of the left-out error
	FitS     float64              `json:"fit_s"`          // mean wall time of one fit, in seconds
	Points   *Points              `json:"points,omitempty"`
	Warnings []string             `json:"warnings"`
	Cost
}

// Draws are the resamples of a retraining, and how it trained on them.
type Draws struct {
	Method    string `json:"method"`   // "batch" or "single"
	Training  string `json:"training"` // how one resample is trained, and how exactly
	Status    string `json:"status"`   // "complete" or "cancelled"
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	Workers   int    `json:"workers"`
	Empty     int    `json:"empty"`               // resamples without any example
	OneClass  int    `json:"one_class,omitempty"` // those of one class, which predict its label
	Skipped   int    `json:"skipped"`             // resamples beside these whose training did not converge
}

// LeaveOneOut is the answer of loo. Of a comparison, the methods' answers are
// listed and the answer itself is that of the fast method.
type LeaveOneOut struct {
	Command string `json:"command"`
	Subject
	LeaveOneOutMethod
	Quality        *calibration.Quality `json:"quality,omitempty"`
	Points         *Points              `json:"points,omitempty"`
	Bias           bool                 `json:"bias"`            // the predictor has a bias term
	SupportVectors int                  `json:"support_vectors"` // 0 for regression
	// of the Kuhn-Tucker conditions by the training, in units of y f
	Violation null.Float          `json:"violation"`
	Methods   []LeaveOneOutMethod `json:"methods,omitempty"`
	Warnings  []string            `json:"warnings"`
	Cost
}

// LeaveOneOutMethod is what one method says of the examples left out.
type LeaveOneOutMethod struct {
	Method string `json:"method"`
	// Error is the share of examples that are misclassified when left out; for
	// regression the mean square of the left-out residuals.
	Error     null.Float `json:"error"`
	Errors    int        `json:"errors"`           // their number, 0 for regression
	Retrained int        `json:"retrained"`        // examples that the model was retrained without
	Skipped   int        `json:"skipped"`          // those that needed no retraining
	Recall    null.Float `json:"recall"`           // share of the label +1 that is recognised
	Precision null.Float `json:"precision"`        // share of what is recognised as +1 that is
	Rho       float64    `json:"rho,omitempty"`    // of xialpha
	Ties      []int      `json:"ties,omitempty"`   // examples, from 1, whose left-out prediction is about 0
	Unheld    int        `json:"unheld,omitempty"` // examples whose removal leaves the bias without bounds
	Seconds   float64    `json:"seconds"`          // with the training on all examples
	Status    string     `json:"status"`           // "complete", "inexact" or "cancelled"
}

// Dataset is an embedded set in a listing.
type Dataset struct {
	Name       string `json:"name"`
	N          int    `json:"n"`
	D          int    `json:"d"`
	Task       string `json:"task"`
	Duplicates int    `json:"duplicates"` // examples that repeat the inputs of an earlier one
	Preset     string `json:"preset"`     // where its preset model comes from; "" without one
	Source     string `json:"source"`
}

// Generator is a synthetic set in a listing.
type Generator struct {
	Name  string  `json:"name"`
	Task  string  `json:"task"`
	D     int     `json:"d"`     // default number of features
	Noise float64 `json:"noise"` // default strength of the noise
	About string  `json:"about"`
}

// Datasets is the answer of datasets.
type Datasets struct {
	Sets      []Dataset   `json:"sets"`
	Synthetic []Generator `json:"synthetic"`
}

// Module is a library in the program.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// Machine is the answer of info.
type Machine struct {
	Version        string   `json:"version"`
	Go             string   `json:"go"`
	OS             string   `json:"os"`
	Arch           string   `json:"arch"`
	Backend        string   `json:"backend"`
	Core           string   `json:"core"`
	Config         string   `json:"config,omitempty"`
	Threads        int      `json:"threads"`
	GoProcs        int      `json:"gomaxprocs"`
	Backends       []string `json:"backends"` // of this binary
	CPU            string   `json:"cpu"`
	Cores          int      `json:"cores"`
	SIMD           string   `json:"simd"`
	AvailableBytes *int64   `json:"available_bytes"` // null where unknown
	Modules        []Module `json:"modules"`
	Warnings       []string `json:"warnings"`
}
