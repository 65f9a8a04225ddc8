package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat/distuv"
)

// Quote is the error to quote. Its standard error, which a screen shows after +-, is over examples, or over
// whole groups, and over resamples.
type Quote struct {
	Error   Number `json:"error"`
	ErrorSE Number `json:"error_se"`
	// MonteCarloSE is the part of the standard error over resamples; nil without.
	MonteCarloSE *Number `json:"monte_carlo_se,omitempty"`
	// RMSE is the root of a mean square error, nil for others, with its standard error.
	RMSE   *Number `json:"rmse,omitempty"`
	RMSESE *Number `json:"rmse_se,omitempty"`
	// Lower and Upper are the interval of the error of the model of all rows, of level Trained.ErrorLevel,
	// nil of two groups; of other errors the one-sided 95% bound of a rate of about 0, or 1, whose standard
	// error tells nothing.
	Lower *Number `json:"error_lower,omitempty"`
	Upper *Number `json:"error_upper,omitempty"`
}

// A standard error tells nothing of an error rate of less than fewErrors examples, or if a screen shows rate
// and standard error as 0.0%, which it does below shownAsZero.
const fewErrors, shownAsZero = 0.5, 0.0005

// NewQuote is the quote of a mean test loss, with the standard error over examples of its quality, nil if
// unknown, and that over resamples, nil for none.
func NewQuote(testLoss string, mean Number, quality *Quality, monteCarlo *Number) Quote {
	q, u, rate := Quote{Error: mean, ErrorSE: unknown}, units(testLoss), float64(mean)
	if quality != nil {
		q.ErrorSE = quality.ExampleSE
	}
	if monteCarlo != nil {
		q.MonteCarloSE = NumberOf(float64(*monteCarlo))
		if quality == nil {
			q.ErrorSE = *monteCarlo
		} else if se := *monteCarlo; se == se {
			q.ErrorSE = Number(math.Hypot(float64(q.ErrorSE), float64(se)))
		}
	}
	if u.root() {
		q.RMSE, q.RMSESE = NumberOf(float64(u.shown(mean))), NumberOf(float64(u.shownSE(mean, q.ErrorSE)))
	}
	if !u.share() || quality == nil {
		return q
	}
	few := fewErrors / quality.Effective
	if q.ErrorSE < shownAsZero {
		few = max(few, shownAsZero)
	}
	switch {
	case rate < few:
		q.Upper = NumberOf(upperBound(rate, quality.Effective))
	case rate > 1-few:
		q.Lower = NumberOf(1 - upperBound(1-rate, quality.Effective))
	}
	return q
}

// upperBound is the one-sided 95% bound of the probability of an event that a share of n trials had (Clopper
// and Pearson 1934): 1 - 0.05^(1/n) for none.
func upperBound(share, n float64) float64 {
	return distuv.Beta{Alpha: share*n + 1, Beta: n - share*n}.Quantile(0.95)
}

// on is the error on these rows, with its interval or standard error.
func (q *Quote) on(rows string, t *Trained, u units) string {
	within := q.within(t, u)
	switch {
	case q.Error != q.Error:
		return "unknown"
	case u.share():
		return u.text(q.Error) + " of " + rows + " get the wrong label" + nonzero(" (%s)", within)
	}
	return fmt.Sprintf("%s on %s (%s)", u.text(q.Error), rows, join(u.String(), within))
}

// within is the interval, the one-sided 95% bound or the standard error; "" if it is unknown.
func (q *Quote) within(t *Trained, u units) string {
	switch se := q.plusMinus(u); {
	case q.isInterval():
		return fmt.Sprintf("%.3g%% interval %s", 100*cmp.Or(t, &Trained{ErrorLevel: 0.95}).ErrorLevel, se)
	case q.Upper != nil || q.Lower != nil:
		return se + " with 95% confidence"
	case q.ErrorSE == q.ErrorSE:
		return "standard error " + se
	}
	return ""
}

// isInterval reports whether the bounds are of two sides.
func (q *Quote) isInterval() bool { return q.Upper != nil && q.Lower != nil && *q.Lower > 0 }

// plusMinus is the interval, the one-sided bound or the standard error.
func (q *Quote) plusMinus(u units) string {
	switch {
	case q.isInterval():
		return u.text(*q.Lower) + " to " + u.text(*q.Upper)
	case q.Upper != nil:
		return fmt.Sprintf("at most %.2g%%", 100**q.Upper)
	case q.Lower != nil:
		return fmt.Sprintf("at least %.3g%%", 100**q.Lower)
	}
	return u.se(q.Error, q.ErrorSE)
}

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
