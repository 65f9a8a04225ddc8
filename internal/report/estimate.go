package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
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
	Warnings      []string             `json:"warnings"`
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

// DropTheory leaves what exact resamples say, where the theory does not hold.
func (e *Estimate) DropTheory() {
	unknown := null.Float(math.NaN())
	e.TestError, e.Err632, e.Err632Plus, e.BaggedError, e.VoteError = unknown, unknown, unknown, unknown, nil
	e.Calibration, e.Metrics, e.Level, e.Convergence = nil, nil, 0, Convergence{Status: "complete"}
	e.Examples.Influence = nil
	if exact := e.Refined.Points; e.Points != nil && exact != nil {
		points := *exact
		points.Names, points.Target = e.Points.Names, e.Points.Target
		e.Points = &points
	}
}

// DropErrors leaves what predictions are, where no example is ever left out, and says so.
func (e *Estimate) DropErrors() {
	unknown := null.Float(math.NaN())
	e.Quote, e.Errors = Quote{Error: unknown}, Errors{TestLoss: e.TestLoss, TestError: unknown,
		Apparent:      e.Apparent,
		NoInformation: e.NoInformation, Err632: unknown, Err632Plus: unknown}
	e.Ensemble, e.Quality, e.Metrics, e.Calibration = Ensemble{BaggedError: unknown}, nil, nil, nil
	if p := e.Points; p != nil {
		p.Error, p.OOBMean, p.OOBVote = nil, nil, nil
	}
	e.Notes = append(slices.Clone(e.Notes),
		"every resample has all rows, with random weights: none is left out, so there "+
			"is no error on new rows; cv has it")
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

// String is the error with its standard error; either may be unknown, NaN.
func (q Quote) String() string {
	switch se := q.ErrorSE; {
	case q.Error != q.Error || se == nil:
		return number(q.Error)
	case *se != *se:
		return number(q.Error) + ", standard error unknown"
	default:
		return fmt.Sprintf("%s, standard error %.2g", number(q.Error), *se)
	}
}

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

// Contradicted is the status of a theory that has converged, but that its exact resamples refute.
const Contradicted = "contradicted"

// Refined are unbiased estimates from exact resamples, which stand beside the theory's.
type Refined struct {
	Resamples   int        `json:"resamples"`
	Method      string     `json:"method"`              // by which they were trained
	OneClass    int        `json:"one_class,omitempty"` // those of one class, which predict its label
	TestError   null.Float `json:"test_error"`
	SE          null.Float `json:"standard_error"` // of TestError
	Err632      null.Float `json:"err632"`
	Err632Plus  null.Float `json:"err632plus"`
	BaggedError null.Float `json:"bagged_error"`
	BaggedSE    null.Float `json:"bagged_error_se"`
	// EquivalentResamples is the number of plain retrainings with the same standard error.
	EquivalentResamples null.Float `json:"equivalent_resamples"`
	// VarianceRatio is the median over inputs of the theory's variance over the refined one.
	VarianceRatio null.Float `json:"variance_ratio"`
	// Contradicts says where these values contradict the theory.
	Contradicts []string                 `json:"contradicts,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Metrics     *calibration.Metrics     `json:"metrics,omitempty"`
	Points      *Points                  `json:"points,omitempty"`
	Time        RefinedTime              `json:"time"`
}

// RefinedTime is what this process has spent: wall times in seconds, and how many iterations.
type RefinedTime struct {
	Fits  float64 `json:"fits"`
	Total float64 `json:"total"` // with the set-up
	// of all fits that were trained, and how many of them were left to the loss's own trainer
	Iterations int `json:"iterations"`
	Exact      int `json:"exact,omitempty"`
}

// Warning says in a sentence where exact resamples contradict the theory; "" where they do
// not.
func (r *Refined) Warning() string {
	if r == nil || len(r.Contradicts) == 0 {
		return ""
	}
	return "the exact resamples contradict the theory: " + strings.Join(r.Contradicts, ", and ") +
		"; trust the refined values"
}

func (e *Estimate) document() *document {
	d := about("Bootstrap estimate of", e.Subject)
	d.resampling(e.Resampling, e.N)
	d.gap()
	d.line("left-out error", "%s   (%s loss)", e.Quote, e.TestLoss)
	d.sample(e)
	d.quality(e.Quality)
	errors, ensemble := e.Errors, e.Ensemble
	if r := e.Refined; r != nil {
		errors.Err632, errors.Err632Plus, ensemble.BaggedError = r.Err632, r.Err632Plus, r.BaggedError
	}
	d.combined(errors, e.Resampling)
	d.ensemble(ensemble, nil)
	d.refined(e)
	d.judged("", e.Metrics, e.Calibration)
	if r := e.Refined; r != nil {
		d.judged("refined", r.Metrics, r.Calibration)
	}
	d.convergence(e.Convergence)
	d.cost(e.Cost)
	return d
}

// refined prints what exact resamples took, and the theory's errors beside theirs.
func (d *document) refined(e *Estimate) {
	r := e.Refined
	if r == nil {
		return
	}
	worth := ""
	if r.EquivalentResamples > 0 { // else their errors tell nothing
		worth = fmt.Sprintf(", worth %.0f plain retrainings", r.EquivalentResamples)
	}
	d.line("refined by", "%d exact resamples in %s s%s", r.Resamples, seconds(r.Time.Total), worth)
	if e.TestError != e.TestError {
		if e.Time.Theory > 0 {
			d.line("theory", "not solved; --method theory solves it in about %s", duration(e.Time.Theory))
		}
		return
	}
	theory := number(e.TestError)
	if r.TestError > 0 {
		theory += fmt.Sprintf(", off by %+.1f%% (standard error %.1f%%)", 100*(e.TestError/r.TestError-1),
			100*r.SE/r.TestError)
	}
	if e.Is632Applicable {
		theory += fmt.Sprintf("; .632 %s, .632+ %s", number(e.Err632), number(e.Err632Plus))
	}
	d.line("theory", "%s; bagged error %s", theory, number(e.BaggedError))
}

// combined prints what follows from the left-out error and one fit to all data.
func (d *document) combined(e Errors, r Resampling) {
	d.line("apparent error", "%s", number(e.Apparent))
	if !r.Is632Applicable {
		d.line(".632, .632+", "none: they are for resamples that leave out 37%% of the examples")
		return
	}
	d.line(".632", "%s", number(e.Err632))
	d.line(".632+", "%s", number(e.Err632Plus))
}

// ensemble prints the errors of the out-of-bag ensemble, with standard errors of retraining; nil for the
// theory.
func (d *document) ensemble(e Ensemble, se *EnsembleSE) {
	bagged, vote := Quote{Error: e.BaggedError}, Quote{}
	if se != nil {
		bagged.ErrorSE, vote.ErrorSE = &se.BaggedError, se.VoteError
	}
	d.line("bagged error", "%s   (of the mean prediction)", bagged)
	if e.VoteError != nil {
		vote.Error = *e.VoteError
		d.line("vote error", "%s   (of the majority)", vote)
	}
}

// convergence prints how the theory's solve ended.
func (d *document) convergence(c Convergence) {
	verdict := ""
	if c.Method == "" { // there is no theory
		d.line("status", "%s", c.Status)
		return
	}
	if c.Status == Contradicted {
		verdict = "; the exact resamples refute the theory"
	}
	d.line("status", "%s, residual %.2g, %d sweeps (%s), method %s%s", c.Status, c.Residual, c.Sweeps,
		refreshes(c.Refreshes), c.Method, verdict)
	if c.Rank > 0 {
		off := "more than 100%"
		if c.RankError <= 1 {
			off = fmt.Sprintf("up to about %.1g%%", 100*c.RankError)
		}
		d.line("engine", "%s, rank %d: mean residual %.1e of the kernel's variance, largest %.1e; it changes the "+
			"error by %s", c.Engine, c.Rank, c.RankResidual, c.RankLargest, off)
	}
}

// refreshes lists the ways in which G was updated.
func refreshes(r solver.Refreshes) string {
	return join(fmt.Sprintf("%d exact", r.Exact), nonzero("%d single precision", r.Single),
		nonzero("%d few sites", r.Woodbury), nonzero("%d diagonal", r.Diagonal))
}

// quality prints them.
func (d *document) quality(q *calibration.Quality) {
	if q == nil {
		return
	}
	d.line("sampling", "standard error %s over data sets of this size", number(q.ExampleSE))
	d.line("baseline", "%s   (predicting %s for all)", number(q.Baseline), q.Constant)
	if q.RSquared != nil {
		d.line("R^2", "%.4f, root mean square error %s", *q.RSquared, number(*q.RMSE))
	}
	if q.Balanced != nil {
		d.line("balanced error", "%s   (mean over the classes)", number(*q.Balanced))
	}
}

// judged prints the metrics of predictions and how probabilities are made, of the theory or of exact
// resamples.
func (d *document) judged(by string, m *calibration.Metrics, c *calibration.Reliability) {
	if m != nil {
		text := ""
		for _, v := range m.All() {
			if *v.Value != nil {
				text = join(text, fmt.Sprintf("%s %s", v.Words, number(**v.Value)))
			}
		}
		d.line(strings.TrimSpace(by+" metrics"), "%s", text)
	}
	if c == nil {
		return
	}
	how := "the left-out fields on a curve, " + c.Method
	if c.Method == "posterior" {
		how = "the classifier's posterior"
	}
	if c.LogLoss != nil {
		how += "; left out: log loss " + number(*c.LogLoss) + ", Brier score " + number(*c.Brier)
	}
	d.line(cmp.Or(by, "probabilities"), "by %s", how)
}

// ReliabilityFigure shows the observed shares of the label +1 against the probabilities;
// none where these are not known.
func ReliabilityFigure(c *calibration.Reliability) []*Figure {
	if c == nil || c.LogLoss == nil {
		return nil
	}
	shares := Series{Label: "left-out examples", Mark: Joined}
	for i, p := range c.Predicted {
		o, n := c.Observed[i], float64(c.Count[i])
		shares.AddErr(p, o, math.Sqrt(p*(1-p)/n)) // of a binomial share, were p right
	}
	return []*Figure{NewFigure("reliability", "reliability of the probabilities",
		"Share of the label +1 among left-out examples of about that probability, with its standard "+
			"error; on the diagonal they are right.",
		Axis{Label: "probability of +1", Max: 1}, Axis{Label: "share of +1", Max: 1}, shares,
		equality("as stated", 0, 1))}
}

// ROCFigure shows the shares of both labels that mean predictions above a threshold hold; none
// for one class.
func ROCFigure(mean, label, weights []float64) []*Figure {
	x, y, area := calibration.ROC(mean, label, weights)
	if x == nil {
		return nil
	}
	return []*Figure{NewFigure("roc", fmt.Sprintf("receiver operating characteristic: area %.3f", area),
		"Of the examples of either label, the share whose left-out mean prediction is above a threshold.",
		Axis{Label: "share of -1 above", Max: 1}, Axis{Label: "share of +1 above", Max: 1},
		Series{Mark: Line, X: x, Y: y}, equality("", 0, 1))}
}
