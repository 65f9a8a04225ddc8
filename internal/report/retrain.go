package report

import (
	"fmt"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
	"bootbench/loss"
)

// Retraining is the answer of retrain. Standard errors are those of Monte Carlo, but for the Quote's.
type Retraining struct {
	Command string `json:"command"`
	Subject
	Resampling
	Draws
	Quote
	Errors
	Ensemble
	EnsembleSE
	Quality *calibration.Quality `json:"quality,omitempty"`
	SE      null.Float           `json:"standard_error"` // of the left-out error, by Monte Carlo
	FitS    float64              `json:"fit_s"`          // mean wall time of one fit, in seconds
	Points  *Points              `json:"points,omitempty"`
	Outcome
}

// Draws describes the resamples of a retraining and their training.
type Draws struct {
	Method    string `json:"method"`   // "batch" or "single"
	Training  string `json:"training"` // algorithm of one resample, and its tolerance
	Status    string `json:"status"`   // "complete" or "cancelled"
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	Workers   int    `json:"workers"`
	Empty     int    `json:"empty"`               // resamples without examples
	OneClass  int    `json:"one_class,omitempty"` // those of one class, which predict its label
	Skipped   int    `json:"skipped"`             // further resamples, whose training did not converge
}

func (r *Retraining) document() *document {
	d := about("Bootstrap retraining on", r.Subject)
	d.resampling(r.Resampling, r.N)
	d.gap()
	u := units(r.TestLoss)
	d.Lead = fmt.Sprintf("Models of %d resamples err by %s on the rows that they lack.", r.Resamples,
		r.Quote.text(u))
	d.line("left-out error", "%s", r.Quote.long(u))
	d.errors(r.Errors, r.Resampling, r.Ensemble, &r.EnsembleSE)
	d.quality(r.Quality, u)
	d.line("status", "%s, %d resamples%s, seed %d, method %s; Monte Carlo error %s", r.Status, r.Resamples,
		nonzero(", %d more skipped", r.Skipped), r.Seed, r.Method, u.se(r.TestError, r.SE))
	d.line("trained by", "%s", r.Training)
	d.line("one fit", "%s s on one thread, %d at a time", seconds(r.FitS), r.Workers)
	d.cost(r.Cost)
	return d
}

// CrossValidation is the answer of cv: errors of examples by models trained without their fold.
type CrossValidation struct {
	Command string `json:"command"`
	Subject
	Folding
	TestLoss string `json:"test_loss"`
	Quote
	ErrorSEOver  string      `json:"error_se_over"` // examples or groups
	RepeatsSE    null.Float  `json:"repeats_se"`    // standard error over partitions
	PValue       *null.Float `json:"p_value,omitempty"`
	Permutations int         `json:"permutations,omitempty"`
	// NullHypothesis is what the p-value is of, with the units that are permuted.
	NullHypothesis string `json:"null_hypothesis,omitempty"`
	Draws
	Quality     *calibration.Quality     `json:"quality,omitempty"`
	Metrics     *calibration.Metrics     `json:"metrics,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Points      *Points                  `json:"points,omitempty"`
	Outcome
}

// Folding describes the folds.
type Folding struct {
	Folds   int    `json:"folds,omitempty"`
	Repeats int    `json:"repeats,omitempty"`  // partitions into folds
	FoldsOf string `json:"folds_of,omitempty"` // units of the folds
}

func (c *CrossValidation) document() *document {
	e := c.Judged()
	e.Points = nil
	d := e.document()
	over := fmt.Sprintf("; over %d partitions the error has standard error %s", c.Repeats,
		units(c.TestLoss).se(c.Error, c.RepeatsSE))
	d.line("folds", "%d, by %s%s", c.Folds, c.FoldsOf, either(c.Repeats > 1, over, ""))
	if c.PValue != nil {
		d.line("p-value", "%.3g if %s", *c.PValue, c.NullHypothesis)
	}
	d.judged("", c.Metrics, c.Calibration)
	d.line("fits", "%d, %s, in %s s, seed %d", c.Resamples, c.Method, seconds(c.Time.Retrain), c.Seed)
	return d
}

// LeaveOneOut is the answer of loo. A comparison lists the methods' answers, and its own is that of the fast
// method.
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
	Outcome
}

// LeaveOneOutMethod is the answer of one method.
type LeaveOneOutMethod struct {
	Method string `json:"method"`
	// Quote has the fraction of left-out examples that are misclassified; for regression the mean square of
	// the left-out residuals.
	Quote
	Errors    int        `json:"errors"`           // their number, 0 for regression
	Retrained int        `json:"retrained"`        // examples that the model was retrained without
	Skipped   int        `json:"skipped"`          // examples that needed no retraining
	Recall    null.Float `json:"recall"`           // fraction of the label +1 that is predicted
	Precision null.Float `json:"precision"`        // fraction of predictions +1 that are right
	Rho       float64    `json:"rho,omitempty"`    // of xialpha
	Ties      []int      `json:"ties,omitempty"`   // examples, from 1, whose left-out prediction is about 0
	Unheld    int        `json:"unheld,omitempty"` // examples whose removal makes the bias unbounded
	Seconds   float64    `json:"seconds"`          // with the training on all examples
	Status    string     `json:"status"`           // "complete", "inexact" or "cancelled"
}

// units are those of its errors.
func (l *LeaveOneOut) units() units {
	return units(either(l.Task == "classification", loss.ZeroOne{}.Name(), loss.SquareTest{}.Name()))
}

func (l *LeaveOneOut) document() *document {
	d, classes := about("Leave-one-out error on", l.Subject), l.Task == "classification"
	u := l.units()
	wrong := either(classes, share(l.Error)+" get the wrong label", "root mean square error "+u.long(l.Error))
	judged := l.Retrained + l.Skipped
	d.Lead = fmt.Sprintf("%s predicted by a model without it: %s.", either(judged < l.N,
		fmt.Sprintf("%d of the %d rows, each", judged, l.N), "Each row"), wrong)
	d.gap()
	switch {
	case !classes:
		d.line("left out", "%s (method %s)", l.Quote.long(u), l.Method)
	case len(l.Methods) > 0:
		d.table([]head{"<method", "rho", "errors", "error", "recall", "precision", "ties", "retrained", "seconds"},
			each(l.Methods, LeaveOneOutMethod.cells))
	default:
		d.line("left out", "%s: %d of %d examples misclassified (method %s)", l.Quote.long(u), l.Errors,
			judged, l.Method)
		d.line("label +1", "recall %s, precision %s", number(l.Recall), number(l.Precision))
		d.line("retrained", "%d times, %d examples needed none", l.Retrained, l.Skipped)
	}
	d.line("status", "%s%s", unfinished(l.Status), either(judged < l.N,
		fmt.Sprintf(": %d of the %d examples are judged", judged, l.N), ""))
	d.quality(l.Quality, u)
	if classes {
		d.line("training", "%d support vectors, %s, Kuhn-Tucker violation %.1e", l.SupportVectors, biased(l.Bias),
			l.Violation)
	}
	d.cost(l.Cost)
	return d
}

func biased(b bool) string { return either(b, "bias", "no bias") }

// cells are those of a row of a comparison.
func (m LeaveOneOutMethod) cells() []string {
	retrained := fmt.Sprintf("%.2f%%", 100*float64(m.Retrained)/float64(max(1, m.Retrained+m.Skipped)))
	return []string{m.Method, either(m.Rho > 0, fmt.Sprint(m.Rho), "-"), fmt.Sprint(m.Errors),
		either(m.Retrained+m.Skipped > 0, units(loss.ZeroOne{}.Name()).long(m.Error), "-"),
		number(m.Recall), number(m.Precision), fmt.Sprint(len(m.Ties)), retrained, seconds(m.Seconds)}
}
