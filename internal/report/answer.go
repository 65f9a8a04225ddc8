package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/solver"
)

// Answer is the answer of estimate, retrain, cv, loo and predict, for one target, several classes or several
// targets. A part without a meaning for a question is nil.
type Answer struct {
	Command string `json:"command"`
	Subject
	*NewRows           // of predict
	*Resampling        // of the training sets
	Folds       int    `json:"folds,omitempty"`
	*Validation        // of cross-validation
	Method      string `json:"method"` // of the theory or, without it, of training
	Status      string `json:"status,omitempty"`
	*Draws             // of fits without the theory
	// Skipped counts the fits of which training did not converge; of loo the examples that needed no
	// training.
	Skipped          *int   `json:"skipped,omitempty"`
	TestLoss         string `json:"test_loss,omitempty"`
	*Quote                  // the error to quote
	*Trained                // if that is the error of the model of all rows
	*Errors                 // around the left-out error
	*RetrainedErrors        // of retrain
	// TestError is the mean left-out loss of the theory or, without it, of retraining; of predict the mean
	// loss on new rows. BaggedError is the loss of the mean prediction over resamples, and VoteError the
	// error rate of the majority, at left-out or new rows.
	TestError   *Number `json:"test_error,omitempty"`
	BaggedError *Number `json:"bagged_error,omitempty"`
	VoteError   *Number `json:"vote_error,omitempty"`

	// Stability says how much a left-out prediction changes with the resample: the standard deviation (root
	// mean square over examples), of labels and classes the probability that two resamples disagree. Nil:
	// unknown.
	Stability *Number `json:"stability,omitempty"`

	// Spread is of resamples with generated targets, in place of all errors.
	Spread *Spread `json:"spread,omitempty"`

	Quality     *Quality     `json:"quality,omitempty"`     // of the quoted error
	Calibration *Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Metrics     *Metrics     `json:"metrics,omitempty"`
	Measured    *Measured    `json:"judged,omitempty"`
	ROC         *ROC         `json:"roc,omitempty"`
	// Threshold is the probability of the positive label from which on it is predicted; nil: the sign of the
	// prediction decides.
	Threshold  *Number `json:"threshold,omitempty"`
	*Decisions         // of several classes
	// Names are several targets, and Targets their answers in units of each. The quoted error is then the
	// unexplained fraction of the variance, averaged over the targets; its Monte Carlo error is an upper
	// bound, since the targets share the resamples. Correlation has the correlations of the left-out
	// residuals of two targets, in the order of Names.
	Names       []string           `json:"names,omitempty"`
	Targets     map[string]*Answer `json:"targets,omitempty"`
	Correlation []Numbers          `json:"correlation,omitempty"`

	*Convergence            // of the theory
	Refined       *Refined  `json:"refined,omitempty"`
	LearningCurve *Learning `json:"learning_curve,omitempty"` // of a sample
	Level         float64   `json:"level,omitempty"`          // of the intervals from lower to upper
	*Interval               // of predict
	Sets          *Sets     `json:"sets,omitempty"` // of classes, of predict
	*LeftOneOut             // of loo
	// SupportVectors is the number of sites of nonzero weight of a model that was trained once.
	SupportVectors *int        `json:"support_vectors,omitempty"`
	Points         *Points     `json:"points,omitempty"`
	Covariance     *Covariance `json:"covariance,omitempty"`
	Outcome

	Figures  []*Figure `json:"-"` // of values outside the document
	Examples Examples  `json:"-"` // left-out errors, refined if the estimate is
	OutOfBag []float64 `json:"-"` // mean left-out predictions
}

// Covariance is the covariances over resamples of the predictions at new inputs (M03-41, 48), in squared
// units of the target: a matrix, or one for each of several functions, the targets or the classes against the
// others, one below the other.
type Covariance struct {
	Functions []string       `json:"functions,omitempty"`
	File      string         `json:"file"`
	Matrix    blas64.General `json:"-"`
}

// NewRows are the new inputs of predict, and the file of the model if one was read.
type NewRows struct {
	Test      string `json:"test"`
	Count     int    `json:"test_n"`
	Outside   *int   `json:"outside,omitempty"` // rows whose support is below 0.1; nil: unknown
	ModelFile string `json:"model_file,omitempty"`
}

// Spread says how far predictions of models of generated targets are from the model that generates them: root
// mean squares over the rows of their standard deviation, and of their mean minus its prediction.
type Spread struct {
	SD   Number `json:"sd"`
	Bias Number `json:"bias"`
}

// Errors are estimates in units of the test loss around a left-out error and one fit to all data.
type Errors struct {
	Apparent      Number `json:"apparent_error"`
	NoInformation Number `json:"no_information_error"`
	Err632        Number `json:"err632"`
	Err632Plus    Number `json:"err632plus"`
}

// RetrainedErrors are Monte-Carlo standard errors of retraining, and the mean wall time of a fit in seconds.
type RetrainedErrors struct {
	SE       Number  `json:"standard_error"` // of the left-out error
	BaggedSE Number  `json:"bagged_error_se"`
	VoteSE   *Number `json:"vote_error_se,omitempty"`
	FitS     float64 `json:"fit_s"`
}

// Draws describes the fits of a plan and their training.
type Draws struct {
	Training  string `json:"training,omitempty"` // algorithm of one fit, and its tolerance
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	Workers   int    `json:"workers"`
	Empty     int    `json:"empty"`               // fits without examples
	OneClass  int    `json:"one_class,omitempty"` // fits of one class, which predict its label
}

// Validation describes the folds of a cross-validation.
type Validation struct {
	Repeats     int     `json:"repeats"`       // partitions into folds
	FoldsOf     string  `json:"folds_of"`      // units of the folds
	ErrorSEOver string  `json:"error_se_over"` // examples or groups
	RepeatsSE   Number  `json:"repeats_se"`    // standard error over partitions
	PValue      *Number `json:"p_value,omitempty"`
	// Permutations is the number of permutations of the targets, and NullHypothesis what the p-value is of.
	Permutations   int    `json:"permutations,omitempty"`
	NullHypothesis string `json:"null_hypothesis,omitempty"`
}

// Decisions are the errors of decisions between several classes.
type Decisions struct {
	Classes    []string `json:"classes"`
	Multiclass string   `json:"multiclass,omitempty"` // "ovo": pairs of classes vote
	LogLoss    *Number  `json:"log_loss,omitempty"`
	Brier      *Number  `json:"brier,omitempty"`
	// rows: true class; columns: the majority of decisions
	Confusion [][]int      `json:"confusion,omitempty"`
	Each      []ClassError `json:"each,omitempty"`
}

// ClassError is the errors of one class.
type ClassError struct {
	Class    string `json:"class"`
	Examples int    `json:"n"`
	Error    Number `json:"error"` // fraction of its examples that are misclassified
	// Left-out errors of the class against the others, by the theory and by exact resamples.
	Theory  *Number `json:"theory_against_others,omitempty"`
	Refined *Number `json:"refined_against_others,omitempty"`
	// Calibration is of the probabilities of the class against the others, by left-out rows; nil if unknown.
	Calibration *Reliability `json:"calibration,omitempty"`
}

// Convergence describes a solve and its engine.
type Convergence struct {
	Engine string `json:"engine"`
	Solve

	// For a low-rank engine: the rank of its factor, the mean residual relative to the mean variance of the
	// kernel, and the largest residual.
	Rank         int     `json:"rank,omitempty"`
	RankResidual float64 `json:"rank_residual,omitempty"`
	RankLargest  float64 `json:"rank_largest,omitempty"`
	// RankError estimates the relative change of the left-out error by the low rank.
	RankError Number `json:"rank_error,omitempty"`
}

// Refined are unbiased estimates from exact resamples.
type Refined struct {
	Resamples      int    `json:"resamples"`
	Method         string `json:"method"`              // of training
	OneClass       int    `json:"one_class,omitempty"` // resamples of one class, which predict its label
	*RefinedErrors        // nil where no row is left out
	// Replaced counts estimates that are plain averages, because control variates took them out of range.
	Replaced int `json:"replaced,omitempty"`
	// VarianceRatio is the median over inputs of the theory's variance over the refined one.
	VarianceRatio Number `json:"variance_ratio"`
	// Contradicts lists the contradictions to the theory.
	Contradicts []string     `json:"contradicts,omitempty"`
	Calibration *Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Metrics     *Metrics     `json:"metrics,omitempty"`
	Points      *Points      `json:"points,omitempty"`
	Time        RefinedTime  `json:"time"`
}

// RefinedErrors are left-out errors of exact resamples, and those around them.
type RefinedErrors struct {
	TestError   Number `json:"test_error"`
	SE          Number `json:"standard_error"` // of TestError
	Err632      Number `json:"err632"`
	Err632Plus  Number `json:"err632plus"`
	BaggedError Number `json:"bagged_error"`
	BaggedSE    Number `json:"bagged_error_se"`
	// EquivalentResamples is the number of plain retrainings with the same standard error.
	EquivalentResamples Number `json:"equivalent_resamples"`
}

// RefinedTime is the cost in this process: wall times in seconds, and iterations.
type RefinedTime struct {
	Fits  float64 `json:"fits"`
	Total float64 `json:"total"` // with the set-up
	// of all trained fits, and the number of those left to the loss's trainer
	Iterations int `json:"iterations"`
	Exact      int `json:"exact,omitempty"`
}

// Trained describes the quoted error of the model that training on all rows gives, by cross-validation.
type Trained struct {
	ErrorLevel float64 `json:"error_level"` // of the interval from error_lower to error_upper
	*OfResamples
	// CorrectedFor says what was chosen by the same rows, and again without each fold. Uncorrected is the
	// error by folds of the model that was chosen.
	CorrectedFor []string `json:"corrected_for"`
	Uncorrected  *Number  `json:"uncorrected_error,omitempty"`
	ErrorFolds   int      `json:"error_folds,omitempty"`
	Partitions   int      `json:"error_partitions,omitempty"` // into folds
}

// OfResamples is the error of models of resamples, which have fewer rows.
type OfResamples struct {
	LeftOutError   Number `json:"left_out_error"`
	LeftOutErrorSE Number `json:"left_out_error_se"`
}

// Headline is the error of the model that training on all rows gives: of several targets their mean, as of an
// Answer, and the error of each.
type Headline struct {
	*Quote
	*Trained
	Quality *Quality             `json:"quality,omitempty"`
	Said    Checks               `json:"-"` // of the error, of all targets
	Targets map[string]*Headline `json:"targets,omitempty"`
}

// Learning is the error, at rows outside a sample, of models trained on parts of it and on all of it.
type Learning struct {
	Sizes   []int   `json:"sizes"`
	Errors  Numbers `json:"errors"`
	HeldOut int     `json:"held_out"` // rows
	// Growth predicts the error with twice the rows of the sample; nil: unknown.
	Growth *Growth `json:"growth,omitempty"`
}

// Interval describes the intervals at new inputs, from lower to upper.
type Interval struct {
	Interval string `json:"interval"` // "estimator" or "observation"
	// For observations: the method, the unit of residuals, and the standard deviation of the coverage over
	// data sets of this size.
	Method     string  `json:"interval_method,omitempty"`
	Residuals  string  `json:"residuals,omitempty"`
	CoverageSD float64 `json:"coverage_sd,omitempty"`
	// If the new inputs have targets: the fraction of these in their intervals, and the intervals' mean
	// width.
	Coverage *float64 `json:"coverage,omitempty"`
	Width    *float64 `json:"mean_width,omitempty"`
}

// Sets describes the sets of classes at new inputs: a new label is in its set with probability Level.
type Sets struct {
	Level  float64 `json:"level"`
	Method string  `json:"method"`
	Size   float64 `json:"mean_size"` // classes in a set
	// Coverage is, if the new inputs have targets, the share of these in their sets.
	Coverage *float64 `json:"coverage,omitempty"`
}

// LeftOneOut is the work of leave-one-out, and its methods if all were compared.
type LeftOneOut struct {
	LeftOutRows
	Bias bool `json:"bias"` // the predictor has a bias term
	// of the optimality conditions by the training, in units of y f
	Violation Number        `json:"violation"`
	Methods   []LeaveMethod `json:"methods,omitempty"`
}

// LeftOutRows are the errors of leave-one-out.
type LeftOutRows struct {
	Errors    int     `json:"errors"`           // their number, 0 for regression
	Retrained int     `json:"retrained"`        // examples that the model was retrained without
	Skipped   int     `json:"skipped"`          // examples that needed no retraining
	Recall    Number  `json:"recall"`           // fraction of the label +1 that is predicted
	Precision Number  `json:"precision"`        // fraction of predictions +1 that are right
	Rho       float64 `json:"rho,omitempty"`    // of xialpha
	Ties      []int   `json:"ties,omitempty"`   // examples, from 1, whose left-out prediction is about 0
	Unheld    int     `json:"unheld,omitempty"` // examples whose removal makes the bias unbounded
	Seconds   float64 `json:"seconds"`          // with the training on all examples
}

// LeaveMethod is the answer of one method of leave-one-out.
type LeaveMethod struct {
	Method string `json:"method"`
	Quote
	LeftOutRows
	Status string `json:"status"` // "complete", "inexact" or "cancelled"
}

// unknown is a number that documents leave empty.
var unknown = Number(math.NaN())

// NoTheory is the Convergence of an answer only from exact fits.
func NoTheory() *Convergence { return &Convergence{} }

// Contradicted is the status of a theory that has converged but is refuted by exact resamples.
const Contradicted = "contradicted"

// Done reports whether an answer with this status is complete.
func Done(status string) bool {
	return slices.Contains([]string{solver.Converged.String(), Contradicted, "complete"}, status)
}

// unfinished is the status of an incomplete answer, else "".
func unfinished(status string) string { return either(Done(status), "", status) }
