package report

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// Quality compares a test error with a baseline.
type Quality struct {
	Baseline Number  `json:"baseline"` // test error of the best constant prediction
	Constant string  `json:"constant"` // that prediction, in the file's labels
	RSquared *Number `json:"r_squared,omitempty"`
	RMSE     *Number `json:"rmse,omitempty"`
	// mean of the two classes' error rates
	Balanced *Number `json:"balanced_error,omitempty"`
	// area under the ROC curve of the predictions, and whether it is above 1/2 by twice its standard error
	AUC   *Number `json:"auc,omitempty"`
	Ranks bool    `json:"-"`
	// standard error of the test error over examples, or groups
	ExampleSE Number  `json:"example_se"`
	Effective float64 `json:"-"` // their effective number
}

// sameError is the relative difference of errors that are equal up to rounding.
const sameError = 1e-9

// Check says that a model is not better than a constant; it is empty if that is not so, and for constant
// targets. A model of labels that ranks them has learned something, although its errors are as many.
func (q *Quality) Check(testError Number) Checks {
	if q == nil || q.Baseline == 0 || !(testError >= q.Baseline*(1-sameError)) {
		return nil
	}
	errs, baseline, unit := float64(testError), float64(q.Baseline), ""
	if q.RSquared != nil {
		errs, baseline, unit = math.Sqrt(errs), math.Sqrt(baseline), " (root mean square)"
	}
	text := fmt.Sprintf("the error of the model is %.5g%s, by always predicting %s it is %.5g", errs, unit,
		q.Constant, baseline)
	if q.Ranks {
		return Checks{Unequal.Check(float64(*q.AUC), "judge by the balanced error, and choose a threshold "+
			"of the probability", "%s; yet the model ranks the classes, with an AUC of %.3f", text, *q.AUC)}
	}
	return Checks{NoBetter.Check(errs/baseline, "take other features, another kernel or more rows",
		"%s: the model has learned nothing useful", text)}
}

// Measured is what the model of all rows is expected to have by the measure of --judge, corrected for a
// choice of the model on these rows, with an interval, unknown of two groups.
type Measured struct {
	By    string `json:"by"`
	Value Number `json:"value"`
	SE    Number `json:"se"`
	Lower Number `json:"lower"`
	Upper Number `json:"upper"`
}

// measured prints the measure of --judge with its interval, nil for the error.
func (d *document) measured(m *Measured, level float64) {
	if m == nil {
		return
	}
	within := fmt.Sprintf("standard error %.3g", m.SE)
	if m.Lower == m.Lower {
		within = fmt.Sprintf("%.3g%% interval %.3g to %.3g", 100*level, m.Lower, m.Upper)
	}
	d.line("judged by", "%s: %.3g on new rows (%s)", m.By, m.Value, within)
}

// loss is what is less for better models: the measure, or 1 minus the area under the ROC curve.
func (m *Measured) loss() (name string, value Number) {
	isArea := m.By == "auc"
	return either(isArea, "1 - auc", m.By), either(isArea, 1-m.Value, m.Value)
}

// ROC is the receiver operating characteristic of models that are trained with other weights of the classes:
// Weights are the weights of +1 over the weights of -1, and the shares are of rows that are left out.
type ROC struct {
	Weights     Numbers `json:"weights"`
	Sensitivity Shares  `json:"sensitivity"` // of the rows of +1, those that are predicted to be
	Specificity Shares  `json:"specificity"` // of the rows of -1
	Area        Number  `json:"area"`        // under the polygon through the points
}

// Shares are shares of rows with standard errors and intervals.
type Shares struct {
	Value Numbers `json:"value"`
	SE    Numbers `json:"se"`
	Lower Numbers `json:"lower"`
	Upper Numbers `json:"upper"`
}

// Metrics are common metrics of predictions for left-out examples, those that the targets allow.
type Metrics struct {
	RMSE     *Number `json:"rmse,omitempty"`
	MAE      *Number `json:"mae,omitempty"`
	RSquared *Number `json:"r_squared,omitempty"`
	Error    *Number `json:"error,omitempty"` // fraction misclassified
	Balanced *Number `json:"balanced_error,omitempty"`
	AUC      *Number `json:"auc,omitempty"`
	LogLoss  *Number `json:"log_loss,omitempty"`
	Brier    *Number `json:"brier,omitempty"`
	// Jackknife is the standard error of the left-out error over draws of the data.
	Jackknife *Number `json:"jackknife_se,omitempty"`
}

// Names of the metrics of numbers, of labels and of both.
var (
	NumberMetrics = []string{"rmse", "mae", "r2"}
	LabelMetrics  = []string{"error", "balanced-error", "auc", "log-loss", "brier"}
)

// Jackknife is the name of the jackknife's standard error.
const Jackknife = "jackknife"

// Metric is a metric by the name of its flag and in words.
type Metric struct {
	Name, Words string
	Value       **Number
}

// All lists the metrics, unknown ones included.
func (m *Metrics) All() []Metric {
	return []Metric{{"rmse", "RMSE", &m.RMSE}, {"mae", "MAE", &m.MAE}, {"r2", "R^2", &m.RSquared},
		{"error", "error", &m.Error}, {"balanced-error", "balanced error", &m.Balanced},
		{"auc", "AUC", &m.AUC},
		{"log-loss", "log loss", &m.LogLoss}, {"brier", "Brier", &m.Brier},
		{Jackknife, "jackknife standard error", &m.Jackknife}}
}

// text lists the known metrics; "" for nil.
func (m *Metrics) text() (text string) {
	if m == nil {
		return ""
	}
	for _, v := range m.All() {
		if *v.Value != nil {
			text = join(text, v.Words+" "+digits(**v.Value, 4))
		}
	}
	return text
}

// AllMetrics is the name of all metrics.
const AllMetrics = "all"

// HasMetric reports whether a metric is requested.
func HasMetric(requested []string, name string) bool {
	return slices.Contains(requested, name) || slices.Contains(requested, AllMetrics)
}

// Only removes the metrics that are not requested.
func (m *Metrics) Only(requested []string) {
	for _, v := range m.All() {
		if !HasMetric(requested, v.Name) {
			*v.Value = nil
		}
	}
}

// Reliability is the method of the probabilities of the label +1, and their reliability on left-out examples.
type Reliability struct {
	Method  string  `json:"method"` // "posterior", "logistic" or "constant"
	LogLoss *Number `json:"log_loss,omitempty"`
	Brier   *Number `json:"brier,omitempty"`
	// Non-empty bins of equal width of the left-out probabilities: their mean, the fraction of +1 and the
	// number of examples.
	Predicted Numbers `json:"predicted,omitempty"`
	Observed  Numbers `json:"observed,omitempty"`
	Count     []int   `json:"count,omitempty"`
}

// Difference is the difference of the errors of two models on the same examples.
type Difference struct {
	Value         Number `json:"value"`          // mean over examples
	StandardError Number `json:"standard_error"` // over draws of the examples
	By            string `json:"by"`             // "jackknife", "examples" or "nested folds"
	Low           Number `json:"lower"`          // interval
	High          Number `json:"upper"`
	PValue        Number `json:"p_value"` // of no difference, two-sided
}

// Examples are left-out errors of the examples, with influences for comparisons by the jackknife.
type Examples struct {
	Each      []float64
	Weights   []float64 // of the examples; nil: 1
	Influence []float64 // of the examples on the mean; see adjoint.Influence
	// Interactions are the derivatives of error j, times its weight in the mean and n, with respect to the
	// weight of example i; see adjoint.Interactions. If empty, there is no correction.
	Interactions blas64.General
	Noise        float64 // variance of the mean by Monte Carlo; 0 for the theory's
}

// Growth extrapolates the error to twice the examples.
type Growth struct {
	Rows   int    `json:"rows"`    // of the extrapolation
	Now    Number `json:"now"`     // expected error of a model trained on all present rows
	Then   Number `json:"then"`    // on Rows
	Fall   Number `json:"fall"`    // Now - Then
	FallSE Number `json:"fall_se"` // by the law, over subsamples and over examples
}
