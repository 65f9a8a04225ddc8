package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bootbench/bench"
	"bootbench/internal/calibration"
	"bootbench/internal/null"
	"bootbench/loss"
	"bootbench/solver"
)

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
	Refined       *Refined             `json:"refined,omitempty"`
	FullModel     *FullModel           `json:"full_model,omitempty"`
	LearningCurve *LearningCurve       `json:"learning_curve,omitempty"` // of a sample
	Metrics       *calibration.Metrics `json:"metrics,omitempty"`
	Level         float64              `json:"level,omitempty"` // of the intervals from lower to upper
	Points        *Points              `json:"points,omitempty"`
	Outcome
	Figures     []*Figure `json:"-"` // of values outside the document
	Covariances `json:"-"`
	Examples    calibration.Errors `json:"-"` // left-out errors, refined if the estimate is
}

// Refine adds the estimates from exact resamples.
func (e *Estimate) Refine(r *Refined) {
	e.Refined = r
	if len(r.Contradicts) > 0 && e.Status == solver.Converged.String() {
		e.Status = Contradicted
	}
}

// unknown is a number that documents leave empty.
var unknown = null.Float(math.NaN())

// noErrors are unknown errors.
var noErrors = Errors{TestError: unknown, Apparent: unknown, NoInformation: unknown, Err632: unknown,
	Err632Plus: unknown}

// DropTheory removes the theory's values if the theory does not apply.
func (e *Estimate) DropTheory() {
	e.TestError, e.Err632, e.Err632Plus, e.BaggedError, e.VoteError = unknown, unknown, unknown, unknown, nil
	e.Calibration, e.Metrics, e.Level, e.Convergence = nil, nil, 0, NoTheory
	e.Examples.Influence = nil
	if exact := e.Refined.Points; e.Points != nil && exact != nil {
		points := *exact
		points.Names, points.Target = e.Points.Names, e.Points.Target
		e.Points = &points
	}
}

// DropErrors removes errors if no example is ever left out, with a warning.
func (e *Estimate) DropErrors() {
	e.Quote, e.TestError, e.Err632, e.Err632Plus = noQuote, unknown, unknown, unknown
	e.Ensemble, e.Quality, e.Metrics, e.Calibration = Ensemble{BaggedError: unknown}, nil, nil, nil
	if p := e.Points; p != nil {
		p.Error, p.OOBMean, p.OOBVote = nil, nil, nil
	}
	e.Notes = append(slices.Clone(e.Notes),
		"every resample has all rows, with random weights: none is left out, so there is no error on new rows; "+
			"cv has it")
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

// Ensemble is the out-of-bag ensemble: for every example the mean prediction, and
// the majority vote, of the resamples that leave it out.
type Ensemble struct {
	BaggedError null.Float  `json:"bagged_error"`         // test loss of the mean prediction
	VoteError   *null.Float `json:"vote_error,omitempty"` // error rate of the majority vote
}

// EnsembleSE are Monte-Carlo standard errors of an Ensemble.
type EnsembleSE struct {
	BaggedError null.Float  `json:"bagged_error_se"`
	VoteError   *null.Float `json:"vote_error_se,omitempty"`
}

// Convergence is that of a solve, by a method on an engine.
type Convergence struct {
	Method string `json:"method"`
	Engine string `json:"engine"`
	bench.Convergence

	// For a low-rank engine: the rank of its factor, the mean residual relative to the mean variance of the
	// kernel, and the largest residual.
	Rank         int     `json:"rank,omitempty"`
	RankResidual float64 `json:"rank_residual,omitempty"`
	RankLargest  float64 `json:"rank_largest,omitempty"`
	// RankError estimates the relative change of the left-out error by the low rank.
	RankError null.Float `json:"rank_error,omitempty"`
}

// NoTheory is the Convergence of an answer only from exact resamples.
var NoTheory = Convergence{Convergence: bench.Convergence{Status: "complete"}}

// Contradicted is the status of a theory that has converged but is refuted by exact resamples.
const Contradicted = "contradicted"

// Done reports whether a status is that of a complete answer.
func Done(status string) bool {
	return slices.Contains([]string{solver.Converged.String(), Contradicted, "complete"}, status)
}

// unfinished is the status of an incomplete answer, else "".
func unfinished(status string) string { return either(Done(status), "", status) }

// Refined are unbiased estimates from exact resamples.
type Refined struct {
	Resamples   int        `json:"resamples"`
	Method      string     `json:"method"`              // of training
	OneClass    int        `json:"one_class,omitempty"` // resamples of one class, which predict its label
	TestError   null.Float `json:"test_error"`
	SE          null.Float `json:"standard_error"` // of TestError
	Err632      null.Float `json:"err632"`
	Err632Plus  null.Float `json:"err632plus"`
	BaggedError null.Float `json:"bagged_error"`
	BaggedSE    null.Float `json:"bagged_error_se"`
	// EquivalentResamples is the number of plain retrainings with the same standard error.
	EquivalentResamples null.Float `json:"equivalent_resamples"`
	// Replaced counts estimates that are plain averages, because control variates took them out of range.
	Replaced int `json:"replaced,omitempty"`
	// VarianceRatio is the median over inputs of the theory's variance over the refined one.
	VarianceRatio null.Float `json:"variance_ratio"`
	// Contradicts lists the contradictions to the theory.
	Contradicts []string                 `json:"contradicts,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Metrics     *calibration.Metrics     `json:"metrics,omitempty"`
	Points      *Points                  `json:"points,omitempty"`
	Time        RefinedTime              `json:"time"`
}

// RefinedTime is the cost in this process: wall times in seconds, and iterations.
type RefinedTime struct {
	Fits  float64 `json:"fits"`
	Total float64 `json:"total"` // with the set-up
	// of all trained fits, and the number of those left to the loss's trainer
	Iterations int `json:"iterations"`
	Exact      int `json:"exact,omitempty"`
}

func (e *Estimate) details() *document {
	d := about("Bootstrap estimate of", e.Subject)
	d.resampling(e.Resampling, e.N)
	d.gap()
	u := units(e.TestLoss)
	d.line("left-out error", "%s", e.Quote.long(u))
	d.learning(e)
	d.quality(e.Quality, u)
	if r := e.Refined; r == nil {
		d.errors(e.Errors, e.Resampling, e.Ensemble, nil)
		d.judged("", e.Metrics, e.Calibration)
	} else {
		errors, ensemble := e.Errors, e.Ensemble
		errors.Err632, errors.Err632Plus, ensemble.BaggedError = r.Err632, r.Err632Plus, r.BaggedError
		d.errors(errors, e.Resampling, ensemble, nil)
		d.refined(e)
		d.judged("", e.Metrics, e.Calibration)
		d.judged("refined", r.Metrics, r.Calibration)
	}
	d.convergence(e.Convergence)
	d.cost(e.Cost)
	return d
}

// refined prints the cost of exact resamples, and the theory's errors.
func (d *document) refined(e *Estimate) {
	r := e.Refined
	worth := either(r.EquivalentResamples > 0, // else unknown
		fmt.Sprintf(", worth %.0f plain retrainings", r.EquivalentResamples), "")
	u := units(e.TestLoss)
	d.line("refined by", "%d exact resamples in %s s%s; Monte Carlo error %s", r.Resamples,
		seconds(r.Time.Total), worth, u.se(r.TestError, r.SE))
	if e.TestError != e.TestError {
		d.line("theory", "%s", lasting("not solved; --method theory solves it in about %s", e.Time.Theory))
		return
	}
	theory := u.long(e.TestError)
	if refined := u.shown(r.TestError); refined > 0 {
		theory += fmt.Sprintf(", off by %+.1f%% (Monte Carlo error %.1f%%)",
			100*(u.shown(e.TestError)/refined-1), 100*u.shownSE(r.TestError, r.SE)/refined)
	}
	combined := fmt.Sprintf("; .632 %s, .632+ %s", u.long(e.Err632), u.long(e.Err632Plus))
	d.line("theory", "%s%s; bagged error %s", theory, either(e.Is632Applicable, combined, ""),
		u.long(e.BaggedError))
	d.contradicted(r)
}

// contradicted prints how exact resamples contradict the theory.
func (d *document) contradicted(r *Refined) {
	d.line("contradicted", "%s", strings.Join(r.Contradicts, ", and "))
}

// errors prints the estimates from the left-out error and one fit to all data, and the errors of the
// out-of-bag ensemble, with standard errors of retraining (nil for the theory).
func (d *document) errors(e Errors, r Resampling, ensemble Ensemble, se *EnsembleSE) {
	u, share := units(e.TestLoss), units(loss.ZeroOne{}.Name())
	d.line("apparent error", "%s", u.long(e.Apparent))
	if r.Is632Applicable {
		d.line(".632", "%s", u.long(e.Err632))
		d.line(".632+", "%s", u.long(e.Err632Plus))
	} else {
		d.line(".632, .632+", "none: they are for resamples that leave out 37%% of the examples")
	}
	bagged, vote := "", ""
	if se != nil {
		bagged = ", Monte Carlo error " + u.se(ensemble.BaggedError, se.BaggedError)
		if se.VoteError != nil {
			vote = ", Monte Carlo error " + share.se(*ensemble.VoteError, *se.VoteError)
		}
	}
	d.line("bagged error", "%s%s   (of the mean prediction)", u.long(ensemble.BaggedError), bagged)
	if ensemble.VoteError != nil {
		d.line("vote error", "%s%s   (of the majority)", share.long(*ensemble.VoteError), vote)
	}
}

// convergence prints the status of the theory's solve.
func (d *document) convergence(c Convergence) {
	if c.Method == "" { // no theory
		d.line("status", "%s", c.Status)
		return
	}
	r, verdict := c.Refreshes, either(c.Status == Contradicted, "; the exact resamples refute the theory", "")
	d.line("status", "%s, residual %.2g, %d sweeps (%s), method %s%s", c.Status, c.Residual, c.Sweeps,
		join(fmt.Sprintf("%d exact", r.Exact), nonzero("%d single precision", r.Single),
			nonzero("%d few sites", r.Woodbury), nonzero("%d diagonal", r.Diagonal)), c.Method, verdict)
	if c.Rank > 0 {
		off := either(c.RankError <= 1, fmt.Sprintf("up to about %.1g%%", 100*c.RankError), "more than 100%")
		d.line("engine", "%s, rank %d: mean residual %.1e of the kernel's variance, largest %.1e; it changes the "+
			"error by %s", c.Engine, c.Rank, c.RankResidual, c.RankLargest, off)
	}
}

// quality prints the comparison of the error with the baseline.
func (d *document) quality(q *calibration.Quality, u units) {
	if q == nil {
		return
	}
	d.line("baseline", "%s   (predicting %s for all)", u.long(q.Baseline), q.Constant)
	if q.RSquared != nil {
		d.line("R^2", "%.4f", *q.RSquared)
	}
	if q.Balanced != nil {
		d.line("balanced error", "%s   (mean over the classes)", u.long(*q.Balanced))
	}
}

// judged prints the metrics of predictions and the calibration of probabilities, by the theory or by exact
// resamples.
func (d *document) judged(by string, m *calibration.Metrics, c *calibration.Reliability) {
	if m != nil {
		text := ""
		for _, v := range m.All() {
			if *v.Value != nil {
				text = join(text, v.Words+" "+number(**v.Value))
			}
		}
		d.line(strings.TrimSpace(by+" metrics"), "%s", text)
	}
	if c == nil {
		return
	}
	how := either(c.Method == "posterior", "the classifier's posterior",
		"the left-out fields on a curve, "+c.Method)
	leftOut := nonzero("; left out: %s", scores(c.LogLoss, c.Brier, ""))
	d.line(cmp.Or(by, "probabilities"), "by %s%s", how, leftOut)
}

// scores describes the scores of probabilities of labels, followed by of; "" if unknown.
func scores(logLoss, brier *null.Float, of string) string {
	if logLoss == nil {
		return ""
	}
	return "log loss " + number(*logLoss) + ", Brier score " + number(*brier) + of
}

// FullModel is the expected error of the model trained on all examples, by cross-validation.
type FullModel struct {
	Quote
	Folds   int `json:"folds"`
	Repeats int `json:"repeats"`
	// AsChosen is the error with the model chosen on all examples, if Error is of models chosen without each
	// fold.
	AsChosen *null.Float `json:"as_chosen,omitempty"`
}

// LearningCurve is the error, at rows outside a sample, of models trained on parts of it and on all of it.
type LearningCurve struct {
	Sizes   []int       `json:"sizes"`
	Errors  null.Floats `json:"errors"`
	HeldOut int         `json:"held_out"` // rows
	// Growth predicts the error with twice the rows of the sample; nil: unknown.
	Growth *calibration.Growth `json:"growth,omitempty"`
}

// learning prints the learning curve of a sample, and the cost of all rows.
func (d *document) learning(e *Estimate) {
	c, u, text := e.LearningCurve, units(e.TestLoss), ""
	if c == nil {
		return
	}
	for i, n := range c.Sizes {
		text += fmt.Sprintf("%s with %d rows, ", u.text(null.Float(c.Errors[i])), n)
	}
	if text += fmt.Sprintf("at %d others", c.HeldOut); c.Growth != nil {
		g := c.Growth
		text += fmt.Sprintf("; %s expected with %d, a fall of %s +- %s", u.text(g.Then), g.Rows,
			u.fall(g.Now, g.Then),
			u.se(g.Then, g.FallSE))
	}
	d.line("learning curve", "%s", text)
	d.line("all rows", "%s", lasting("--sample all takes at most about %s", e.Time.AllRows))
}

// lasting formats a time in whole seconds, "" for none.
func lasting(format string, seconds float64) string {
	d := time.Duration(seconds * 1e9).Round(time.Second).String()
	return either(seconds > 0, fmt.Sprintf(format, d), "")
}

// document is an estimate in a few lines: the error on new rows, the baseline, the worst rows, the stability
// of predictions, and the command to repeat it.
func (e *Estimate) document() *document {
	u, headline := units(e.TestLoss), e.headline()
	d := short("Error on new rows of", e.Subject, e.asked())
	d.Lead = either(u.share(), "", "The error of predictions of "+e.target()+" is ") + headline + "."
	if e.Error == e.Error {
		d.line("error", "%s", headline)
	} else {
		d.Lead = "Predictions without an error: no row was left out."
	}
	d.learning(e)
	if q := e.Quality; q != nil && q.RSquared != nil {
		d.line("explained", "%.1f%% of the variance", 100**q.RSquared)
	} else if q != nil && q.Balanced != nil {
		d.line("balanced error", "%s, the mean over the classes", share(*q.Balanced))
	}
	if f := e.FullModel; f != nil {
		how := fmt.Sprintf("%d times", f.Repeats)
		if f.AsChosen != nil {
			how = fmt.Sprintf("a model chosen without each; %s with this one, which has seen them",
				u.text(*f.AsChosen))
		}
		d.line("all rows", "%s expected of the model trained on all rows (%d folds, %s)",
			f.Quote.text(u), f.Folds, how)
	}
	if e.Points != nil {
		if e.Points.Error != nil {
			d.line("worst rows", "%s", e.worst(3))
		}
		d.line("stability", "%s", e.stability())
	}
	d.modelled(e.Subject)
	d.line("method", "%s", lasting("exact resamples alone; --method theory solves the theory, too, in about %s",
		e.Time.Theory))
	d.line("status", "%s", unfinished(e.Status))
	return d
}

// headline is the quoted error and that of a constant.
func (e *Estimate) headline() string {
	q, u := e.Quality, units(e.TestLoss)
	if q == nil {
		return e.Quote.text(u)
	}
	format := either(u.share(), "%s of new rows get the wrong label; %s if all are taken for %s",
		"%s on new rows; %s if all are predicted %s")
	return fmt.Sprintf(format, e.Quote.text(u), u.text(q.Baseline), q.Constant)
}

// worst names the rows with the largest left-out errors.
func (e *Estimate) worst(count int) string {
	p, names := e.Points, ""
	for _, i := range worst(p.Error, count) {
		target, predicted := digits(p.Target[i], 4), ""
		if e.Positive != "" {
			target = e.Labels.Name(p.Target[i])
			predicted = fmt.Sprintf(", predicted %s in %.0f%%", e.Labels.Name(-p.Target[i]), 100*p.Error[i])
		} else if p.OOBMean != nil {
			predicted = ", predicted " + digits(p.OOBMean[i], 4)
		}
		names = join(names, fmt.Sprintf("%s (%s%s)", rowName(p.Names, i), target, predicted))
	}
	return names
}

// stability is the median over the examples of the predictor's standard deviation over resamples, or for
// labels of the fraction of resamples that disagree with the majority.
func (e *Estimate) stability() string {
	if votes := e.Points.Vote; votes != nil {
		disagree := 0.0
		for _, v := range votes {
			disagree += math.Min(v, 1-v) / float64(len(votes))
		}
		return fmt.Sprintf("with other rows drawn, %s of the labels change", share(null.Float(disagree)))
	}
	variance := slices.Sorted(slices.Values(e.Points.Variance))
	n := len(variance)
	if n == 0 {
		return ""
	}
	sd := math.Sqrt((variance[(n-1)/2] + variance[n/2]) / 2)
	return fmt.Sprintf("with other rows drawn, a prediction changes by %s (standard deviation)", digits(sd, 3))
}
