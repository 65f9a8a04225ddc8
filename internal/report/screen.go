package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"bootbench/loss"
)

// document is an answer in a few lines: the error on new rows, the baseline, the worst rows, the stability of
// predictions, and the command to repeat it.
func (a *Answer) document() *document {
	switch a.Command {
	case "retrain":
		return a.retrained()
	case "predict":
		d := a.predicted()
		d.inputs(a.pointTable(true, number[float64]), a.Points.uncertain())
		return d
	case "loo":
		if a.LeftOneOut != nil {
			return a.leftOneOut()
		}
	}
	return a.brief()
}

// details is the longer document.
func (a *Answer) details() *document {
	d := a.allNumbers()
	for _, name := range a.Names {
		d.gap()
		d.Blocks = append(d.Blocks, a.Targets[name].allNumbers().Blocks...)
	}
	return d
}

// allNumbers is details without the details of each of several targets.
func (a *Answer) allNumbers() *document {
	switch {
	case a.Command == "predict":
		return a.predictedInFull()
	case a.Errors != nil && a.RetrainedErrors == nil && a.Decisions == nil && a.Names == nil:
		return a.inFull()
	}
	return a.document()
}

// asked is the task and the targets.
func (a *Answer) asked() string {
	switch {
	case a.Names != nil:
		return fmt.Sprintf("%d targets", len(a.Names))
	case a.Decisions != nil:
		return fmt.Sprintf("%d classes of %s", len(a.Classes), a.target())
	}
	return a.Task + " of " + a.target()
}

// brief is the answer in a few lines, without the table of new inputs.
func (a *Answer) brief() *document {
	d, u := short("Error on new rows of", a.Subject, a.asked()), units(a.TestLoss)
	headline, learned := a.headline(), a.Error == a.Error
	d.Lead = either(u.share() || a.Names != nil, "", "The error of predictions of "+a.target()+" is ") +
		headline + "."
	if a.Names != nil {
		d.Lead = "Predictions of new rows explain " + headline + "."
	}
	if learned {
		d.line(either(a.Names != nil, "explained", "error"), "%s", headline)
	} else {
		d.Lead = "Predictions without an error: no row was left out."
	}
	d.learning(a)
	d.skill(a)
	d.measured(a)
	d.trained(a)
	if p := a.Points; p != nil && a.Command != "cv" {
		d.line("worst rows", "%s", a.worst(3))
	}
	d.line("stability", "%s", a.stability())
	if i, k := a.closest(); i >= 0 {
		d.line("related", "the errors of %s and %s have the correlation %.2f", a.Names[i], a.Names[k],
			a.Correlation[i][k])
	}
	d.modelled(a.Subject, nonzero(" (units of %s)", slices.Concat(a.Names, []string{""})[0]))
	d.line("method", "%s",
		lasting("exact resamples alone; Question.Theory solves the theory, too, in about %s", a.Time.Theory))
	d.line("status", "%s", unfinished(a.Status))
	if a.Validation != nil {
		d.validation(a)
	}
	d.parts(a)
	d.roc(a.ROC)
	return d
}

// trained prints how the error of the model of all rows was found, and the errors beside it.
func (d *document) trained(a *Answer) {
	t, u := a.Trained, units(a.TestLoss)
	if t == nil {
		return
	}
	corrected := ""
	if t.Uncorrected != nil {
		corrected = fmt.Sprintf(", the %s made again without each; %s without that", t.corrections(),
			either(a.Names != nil, share(1-*t.Uncorrected), u.text(*t.Uncorrected)))
	}
	if t.ErrorFolds > 0 && t.LeftOutError != a.Error {
		d.line("trained", "the error of the model of all rows, by %d folds, %d times%s", t.ErrorFolds,
			t.Partitions, corrected)
	}
	if t.LeftOutError != a.Error {
		left := fmt.Sprintf("%.1f%% +- %.1f%% explained", 100*(1-t.LeftOutError), 100*t.LeftOutErrorSE)
		if a.Names == nil {
			left = t.leftOut().text(u)
		}
		d.line("left out", "%s by models of %s", left, either(a.Command == "cv",
			"the other folds, with the hyperparameters that saw these rows",
			"resamples, which have fewer rows"))
	}
}

// corrections are what an error is corrected for.
func (t *Trained) corrections() string { return strings.Join(t.CorrectedFor, " and ") }

// leftOut is the error of models of resamples.
func (r *OfResamples) leftOut() *Quote {
	return &Quote{Error: r.LeftOutError, ErrorSE: r.LeftOutErrorSE}
}

// headline prints the error of the model of all rows, nil for none.
func (d *document) headline(h *Headline, u units) {
	if h == nil {
		return
	}
	d.line("error", "%s", h.long(u))
	for _, name := range slices.Sorted(maps.Keys(h.Targets)) {
		d.line("error of "+textCell(name), "%s", h.Targets[name].Quote.text(u))
	}
}

// long is the error of the model of all rows, and what it is corrected for.
func (h *Headline) long(u units) string {
	said, without := h.Quote.text(u), u.text
	if h.Targets != nil {
		without = func(e Number) string { return share(1 - e) }
		said = fmt.Sprintf("%s (%s to %s) of the variance of a target explained, on average",
			without(h.Error), without(*h.Upper), without(*h.Lower))
	}
	corrected := ""
	if h.Uncorrected != nil {
		corrected = fmt.Sprintf(", corrected for the %s (%s without that)", h.corrections(),
			without(*h.Uncorrected))
	}
	return said + " on new rows, by the model of all rows" + corrected
}

// roc prints the path of class weights.
func (d *document) roc(r *ROC) {
	if r == nil {
		return
	}
	var rows [][]string
	for k, w := range r.Weights {
		cell := func(s Shares) string {
			return fmt.Sprintf("%s (%s to %s)", share(Number(s.Value[k])), share(Number(s.Lower[k])),
				share(Number(s.Upper[k])))
		}
		rows = append(rows, []string{fmt.Sprintf("%.3g", w), cell(r.Sensitivity), cell(r.Specificity)})
	}
	d.gap()
	d.table([]head{"weight of +1 over -1", "sensitivity", "specificity"}, rows)
	d.line("area", "%.3f under the sensitivities over 1 - specificity", r.Area)
}

// measured prints the measure of --judge.
func (d *document) measured(a *Answer) {
	j := a.Measured
	if j == nil {
		return
	}
	text := j.text()
	if a.Threshold != nil {
		text += fmt.Sprintf("; labels are %s from a probability of %.3g on", a.Positive, *a.Threshold)
	}
	d.line("judged by", "%s", text)
}

// headline is the quoted error and the error of a constant.
func (a *Answer) headline() string {
	q, u := a.Quality, units(a.TestLoss)
	switch {
	case a.Names != nil:
		within := fmt.Sprintf(" +- %.1f%%", 100*a.ErrorSE)
		if a.Trained != nil {
			within = fmt.Sprintf(" (%.1f%% to %.1f%%)", 100*(1-*a.Upper), 100*(1-*a.Lower))
		}
		return fmt.Sprintf("%.1f%%%s of the variance of a target, on average", 100*(1-a.Error), within)
	case q == nil:
		return a.Quote.text(u)
	}
	if u.share() {
		wrong := either(a.Decisions != nil, "class", "label") + q.otherwise("taken for", u)
		return a.Quote.text(u) + " of new rows get the wrong " + wrong
	}
	return a.Quote.text(u) + " on new rows" + q.otherwise("predicted", u)
}

// otherwise is the error of a constant, "" if it is unknown.
func (q *Quality) otherwise(verb string, u units) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("; %s if all are %s %s", u.text(q.Baseline), verb, q.Constant)
}

// skill prints the explained variance, or the balanced error and the scores of the probabilities of classes.
func (d *document) skill(a *Answer) {
	if q := a.Quality; q != nil && a.Names == nil {
		if q.RSquared != nil {
			d.line("explained", "%.1f%% of the variance", 100**q.RSquared)
		} else if q.Balanced != nil && *q.Balanced == *q.Balanced {
			d.line("balanced error", "%s, the mean over the classes", share(*q.Balanced))
		}
	}
	if c := a.Decisions; c != nil {
		d.line("probabilities", "%s", scores(c.LogLoss, c.Brier, " of left-out rows"))
	}
}

// worst names the rows with the largest left-out errors.
func (a *Answer) worst(count int) string {
	p, names := a.Points, ""
	for _, i := range worst(p.Error, count) {
		about := ""
		switch {
		case p.Target.Classes != nil:
			about = fmt.Sprintf("%s, taken for %s", p.Target.Classes[i], cmp.Or(p.Class[i], "none"))
		case a.Positive != "":
			y := p.Target.Numbers[i]
			about = fmt.Sprintf("%s, predicted %s in %.0f%%", a.Labels.Name(y), a.Labels.Name(-y),
				100*p.Error[i])
		default:
			about = digits(p.Target.Numbers[i], 4)
			if p.OOBMean != nil {
				about += ", predicted " + digits(p.OOBMean[i], 4)
			}
		}
		names = join(names, fmt.Sprintf("%s (%s)", rowName(p.Names, i), about))
	}
	return names
}

// stability says how much predictions of new rows change with the data; "" if unknown.
func (a *Answer) stability() string {
	switch s := a.Stability; {
	case s == nil:
		return ""
	case units(a.TestLoss).share():
		return fmt.Sprintf("with other rows drawn, %s of new rows get another label", share(*s))
	default:
		return fmt.Sprintf("with other rows drawn, a prediction of a new row changes by %s "+
			"(standard deviation)", digits(float64(*s), 3))
	}
}

// closest are the two targets with the largest correlation of errors.
func (a *Answer) closest() (first, second int) {
	first, second = -1, -1
	largest := 0.0
	for i, row := range a.Correlation {
		for k, c := range row[:i] {
			if math.Abs(c) > largest {
				first, second, largest = k, i, math.Abs(c)
			}
		}
	}
	return first, second
}

// validation prints the folds, the p-value and the fits of a cross-validation.
func (d *document) validation(a *Answer) {
	over := fmt.Sprintf("; over %d partitions the error has standard error %s", a.Repeats,
		units(a.TestLoss).se(a.Error, a.RepeatsSE))
	d.line("folds", "%d, by %s%s", a.Folds, a.FoldsOf, either(a.Repeats > 1 && a.Names == nil, over, ""))
	if a.PValue != nil {
		d.line("p-value", "%.3g if %s", *a.PValue, a.NullHypothesis)
	}
	d.judged("", a.Metrics, a.Calibration)
	d.line("fits", "%d, %s, in %s s, seed %d", a.Resamples, a.Method, seconds(a.Time.Retrain), a.Seed)
}

// parts prints the table of several classes or targets.
func (d *document) parts(a *Answer) {
	var heads []head
	var rows [][]string
	if c := a.Decisions; c != nil {
		d.line("by", "exact fits of %s%s", either(c.Multiclass == "", "each class against the others",
			"each pair of classes, which vote"), nonzero("; in %d a class was missing", a.oneClass()))
		heads = []head{"<class, taken for"}
		for k, name := range c.Classes {
			heads, rows = append(heads, head(name)), append(rows, []string{name})
			for _, count := range c.Confusion[k] {
				rows[k] = append(rows[k], fmt.Sprint(count))
			}
		}
	}
	for _, name := range a.Names {
		heads = []head{"<target", "error (RMS)", "+-", "of a constant", "explained", "worst row"}
		e, row := a.Targets[name], "-"
		if e.Quality == nil {
			continue // no row is left out
		}
		for _, i := range worst(cmp.Or(e.Points, &Points{}).Error, 1) {
			row = rowName(e.Points.Names, i)
		}
		u, q := units(e.TestLoss), e.Quality
		rows = append(rows, []string{textCell(name), u.text(e.Error), e.plusMinus(u),
			u.text(q.Baseline), fmt.Sprintf("%.1f%%", 100**q.RSquared), row})
	}
	if rows != nil {
		d.gap()
		d.table(heads, rows)
	}
}

// oneClass is the number of fits that lack a class.
func (a *Answer) oneClass() int {
	if a.Refined != nil {
		return a.Refined.OneClass
	}
	return cmp.Or(a.Draws, &Draws{}).OneClass
}

// inFull has all numbers of an estimate.
func (a *Answer) inFull() *document {
	d, u := about("Bootstrap estimate of", a.Subject), units(a.TestLoss)
	d.resampling(a)
	d.gap()
	d.line("left-out error", "%s", a.Quote.long(u))
	d.learning(a)
	d.quality(a.Quality, u)
	errors, bagged, r := *a.Errors, a.BaggedError, cmp.Or(a.Refined, &Refined{})
	if a.Refined != nil {
		errors.Err632, errors.Err632Plus, bagged = r.Err632, r.Err632Plus, &r.BaggedError
	}
	d.errors(a, errors, bagged)
	d.refined(a)
	d.judged("", a.Metrics, a.Calibration)
	d.judged("refined", r.Metrics, r.Calibration)
	d.convergence(a)
	d.cost(a.Cost)
	return d
}

// refined prints the cost of exact resamples, and the theory's errors.
func (d *document) refined(a *Answer) {
	r, u := a.Refined, units(a.TestLoss)
	if r == nil {
		return
	}
	worth := either(r.EquivalentResamples > 0, // else unknown
		fmt.Sprintf(", worth %.0f plain retrainings", r.EquivalentResamples), "")
	d.line("refined by", "%d exact resamples in %s s%s; Monte Carlo error %s", r.Resamples,
		seconds(r.Time.Total), worth, u.se(r.TestError, r.SE))
	if *a.TestError != *a.TestError {
		d.line("theory", "%s", lasting("not solved; Question.Theory solves it in about %s", a.Time.Theory))
		return
	}
	theory := u.long(*a.TestError)
	if refined := u.shown(r.TestError); refined > 0 {
		theory += fmt.Sprintf(", off by %+.1f%% (Monte Carlo error %.1f%%)",
			100*(u.shown(*a.TestError)/refined-1), 100*u.shownSE(r.TestError, r.SE)/refined)
	}
	combined := fmt.Sprintf("; .632 %s, .632+ %s", u.long(a.Err632), u.long(a.Err632Plus))
	d.line("theory", "%s%s; bagged error %s", theory, either(a.Is632Applicable, combined, ""),
		u.long(*a.BaggedError))
	d.contradicted(r)
}

// contradicted prints how exact resamples contradict the theory.
func (d *document) contradicted(r *Refined) {
	d.line("contradicted", "%s", strings.Join(r.Contradicts, ", and "))
}

// errors prints the estimates from the left-out error and one fit to all data, and the errors of the
// ensemble of left-out predictions, with standard errors of retraining.
func (d *document) errors(a *Answer, e Errors, bagged *Number) {
	u, share := units(a.TestLoss), units(loss.ZeroOne{}.Name())
	d.line("apparent error", "%s", u.long(e.Apparent))
	if a.Is632Applicable {
		d.line(".632", "%s", u.long(e.Err632))
		d.line(".632+", "%s", u.long(e.Err632Plus))
	} else {
		d.line(".632, .632+", "none: they are for resamples that leave out 37%% of the examples")
	}
	monteCarlo, se := ", Monte Carlo error ", cmp.Or(a.RetrainedErrors, &RetrainedErrors{})
	d.line("bagged error", "%s%s   (of the mean prediction)", u.long(*bagged),
		either(a.RetrainedErrors != nil, monteCarlo+u.se(*bagged, se.BaggedSE), ""))
	if e, seOf := a.VoteError, cmp.Or(se.VoteSE, &unknown); e != nil {
		d.line("majority error", "%s%s   (of the majority of resamples)", share.long(*e),
			either(se.VoteSE != nil, monteCarlo+share.se(*e, *seOf), ""))
	}
}

// convergence prints the status of the theory's solve.
func (d *document) convergence(a *Answer) {
	c := a.Convergence
	if c == nil || c.Engine == "" { // no theory
		d.line("status", "%s", a.Status)
		return
	}
	r, verdict := c.Refreshes, either(a.Status == Contradicted, "; the exact resamples refute the theory", "")
	d.line("status", "%s, residual %.2g, %d sweeps (%s), method %s%s", a.Status, c.Residual, c.Sweeps,
		join(fmt.Sprintf("%d exact", r.Exact), nonzero("%d single precision", r.Single),
			nonzero("%d few sites", r.Woodbury), nonzero("%d diagonal", r.Diagonal)), a.Method, verdict)
	if c.Rank > 0 {
		off := either(c.RankError <= 1, fmt.Sprintf("up to about %.1g%%", 100*c.RankError), "more than 100%")
		d.line("engine",
			"%s, rank %d: mean residual %.1e of the kernel's variance, largest %.1e; it changes the "+
				"error by %s", c.Engine, c.Rank, c.RankResidual, c.RankLargest, off)
	}
}

// quality prints the comparison of the error with the baseline.
func (d *document) quality(q *Quality, u units) {
	if q == nil {
		return
	}
	d.line("baseline", "%s   (predicting %s for all)", u.long(q.Baseline), q.Constant)
	if q.RSquared != nil {
		d.line("R^2", "%.4f", *q.RSquared)
	}
	if q.Balanced != nil && *q.Balanced == *q.Balanced {
		d.line("balanced error", "%s   (mean over the classes)", u.long(*q.Balanced))
	}
}

// judged prints the metrics of predictions and the calibration of probabilities, by the theory or by exact
// resamples.
func (d *document) judged(by string, m *Metrics, c *Reliability) {
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
		"the left-out predictions on a curve, "+c.Method)
	leftOut := nonzero("; left out: %s", scores(c.LogLoss, c.Brier, ""))
	d.line(cmp.Or(by, "probabilities"), "by %s%s", how, leftOut)
}

// scores describes the scores of probabilities of labels, followed by of; "" if unknown.
func scores(logLoss, brier *Number, of string) string {
	if logLoss == nil {
		return ""
	}
	return "log loss " + number(*logLoss) + ", Brier score " + number(*brier) + of
}

// learning prints the learning curve of a sample, and the cost of all rows.
func (d *document) learning(a *Answer) {
	c, u, text := a.LearningCurve, units(a.TestLoss), ""
	if c == nil {
		return
	}
	for i, n := range c.Sizes {
		text += fmt.Sprintf("%s with %d rows, ", u.text(Number(c.Errors[i])), n)
	}
	if text += fmt.Sprintf("at %d others", c.HeldOut); c.Growth != nil {
		g := c.Growth
		text += fmt.Sprintf("; %s expected with %d, a fall of %s +- %s", u.text(g.Then), g.Rows,
			u.fall(g.Now, g.Then), u.se(g.Then, g.FallSE))
	}
	d.line("learning curve", "%s", text)
	d.line("all rows", "%s", lasting("Study.Others nil takes at most about %s", a.Time.AllRows))
}

// lasting formats a time in whole seconds, "" for none.
func lasting(format string, seconds float64) string {
	d := time.Duration(seconds * 1e9).Round(time.Second).String()
	return either(seconds > 0, fmt.Sprintf(format, d), "")
}

// retrained is the answer of retrain.
func (a *Answer) retrained() *document {
	if a.Names != nil || a.Decisions != nil {
		return a.brief()
	}
	d, u := about("Bootstrap retraining on", a.Subject), units(a.TestLoss)
	d.resampling(a)
	d.gap()
	d.Lead = fmt.Sprintf("Models of %d resamples err by %s on the rows that they lack.", a.Resamples,
		a.Quote.text(u))
	d.line("left-out error", "%s", a.Quote.long(u))
	d.errors(a, *a.Errors, a.BaggedError)
	d.quality(a.Quality, u)
	d.line("stability", "%s", a.stability())
	d.line("status", "%s, %d resamples%s, seed %d, method %s; Monte Carlo error %s", a.Status, a.Resamples,
		nonzero(", %d more skipped", *a.Skipped), a.Seed, a.Method, u.se(*a.TestError, a.SE))
	d.line("trained by", "%s", a.Training)
	d.line("one fit", "%s s on one thread, %d at a time", seconds(a.FitS), a.Workers)
	d.cost(a.Cost)
	return d
}

// leftOneOut is the answer of loo by a method for one target.
func (a *Answer) leftOneOut() *document {
	d, classes := about("Leave-one-out error on", a.Subject), a.Positive != ""
	u, l := units(a.TestLoss), a.LeftOneOut
	judged, quote, corrected := l.Retrained+l.Skipped, a.Quote, ""
	if t := a.Trained; t != nil && len(t.CorrectedFor) > 0 {
		quote = t.leftOut()
		corrected = fmt.Sprintf("; corrected for the %s of the model, which has seen them all, %s",
			t.corrections(), u.text(a.Error))
	}
	wrong := either(classes, share(quote.Error)+" get the wrong label", "root mean square error "+
		u.long(quote.Error)) + corrected
	d.Lead = fmt.Sprintf("%s predicted by a model without it: %s.", either(judged < a.N,
		fmt.Sprintf("%d of the %d rows, each", judged, a.N), "Each row"), wrong)
	d.gap()
	if quote != a.Quote {
		d.line("error", "%s, corrected for the %s", a.Quote.long(u), a.corrections())
	}
	switch {
	case !classes:
		d.line("left out", "%s (method %s)", quote.long(u), a.Method)
	case len(l.Methods) > 0:
		d.table([]head{"<method", "rho", "errors", "error", "recall", "precision", "ties", "retrained",
			"seconds"}, each(l.Methods, LeaveMethod.cells))
	default:
		d.line("left out", "%s: %d of %d examples misclassified (method %s)", quote.long(u), l.Errors,
			judged, a.Method)
		d.line("label +1", "recall %s, precision %s", number(l.Recall), number(l.Precision))
		d.line("retrained", "%d times, %d examples needed none", l.Retrained, l.Skipped)
	}
	d.line("status", "%s%s", unfinished(a.Status), either(judged < a.N,
		fmt.Sprintf(": %d of the %d examples are judged", judged, a.N), ""))
	d.quality(a.Quality, u)
	if classes {
		d.line("training", "%d support vectors, %s, optimal within %.1e", *a.SupportVectors, biased(l.Bias),
			l.Violation)
	}
	d.cost(a.Cost)
	return d
}

func biased(b bool) string { return either(b, "bias", "no bias") }

// cells are the cells of a method in the table of methods.
func (m LeaveMethod) cells() []string {
	retrained := fmt.Sprintf("%.2f%%", 100*float64(m.Retrained)/float64(max(1, m.Retrained+m.Skipped)))
	return []string{m.Method, either(m.Rho > 0, fmt.Sprint(m.Rho), "-"), fmt.Sprint(m.LeftOutRows.Errors),
		either(m.Retrained+m.Skipped > 0, units(loss.ZeroOne{}.Name()).long(m.Error), "-"),
		number(m.Recall), number(m.Precision), fmt.Sprint(len(m.Ties)), retrained, seconds(m.Seconds)}
}

// predictedInFull has all numbers at new inputs.
func (a *Answer) predictedInFull() *document {
	d, u := a.predicted(), units(a.TestLoss)
	if a.Resampling != nil {
		d.resampling(a)
	}
	if a.TestError != nil && a.Quality != nil {
		error := NewQuote(a.TestLoss, *a.TestError, a.Quality, nil)
		bagged := ""
		if a.BaggedError != nil {
			bagged = fmt.Sprintf(", %s of the mean prediction over resamples", u.long(*a.BaggedError))
		}
		label := either(a.Points != nil && a.Points.BootstrapMean != nil, "trained model", "over resamples")
		d.line(label, "error %s%s", error.long(u), bagged)
		d.quality(a.Quality, u)
	}
	d.judged("", a.Metrics, a.Calibration)
	if a.Refined != nil {
		d.line("refined", "by %d exact resamples in %s s", a.Refined.Resamples, seconds(a.Refined.Time.Total))
		d.contradicted(a.Refined)
		d.judged("refined", nil, a.Refined.Calibration)
	}
	d.convergence(a)
	d.cost(a.Cost)
	d.inputs(a.pointTable(false, number[float64]), a.Points.uncertain())
	return d
}

// predicted is an answer at new inputs without the table.
func (a *Answer) predicted() *document {
	of := either(a.ModelFile != "", "Predictions by", "Predictions from")
	d := short(of, a.Subject, a.asked())
	d.Title = either(a.ModelFile != "", of+" "+ShortName(a.ModelFile), d.Title)
	d.modelled(a.Subject, "")
	if a.SupportVectors != nil {
		d.line("trained", "%s%d distinct inputs have a weight", nonzero("in %s: ", a.ModelFile),
			*a.SupportVectors)
	}
	out := ""
	if a.Outside != nil {
		out = nonzero(", %d of them outside the data", *a.Outside)
	}
	d.line("new rows", "%s: %d%s", a.Test, a.Count, out)
	if a.Threshold != nil {
		d.line("decision", "%s from a probability of %.3g on", a.Positive, *a.Threshold)
	}
	error := a.TestError
	if a.Points == nil || a.Points.BootstrapMean == nil {
		error = cmp.Or(a.BaggedError, error)
	}
	d.tested("test error", a, error)
	for _, name := range a.Names {
		d.tested("error of "+textCell(name), a.Targets[name], a.Targets[name].TestError)
	}
	d.Lead = d.meant(a)
	return d
}

// tested prints an error at new inputs, nil for none, and the baseline.
func (d *document) tested(label string, a *Answer, error *Number) {
	if u := units(a.TestLoss); error != nil {
		d.line(label, "%s (%s)%s", u.text(*error), u, a.Quality.otherwise("predicted", u))
	}
}

// meant prints the meaning of intervals and probabilities, and returns it as a sentence.
func (d *document) meant(a *Answer) string {
	i, target := cmp.Or(a.Interval, &Interval{}), a.target()
	if s := a.Sets; s != nil {
		covered := ""
		if s.Coverage != nil {
			covered = fmt.Sprintf("; %.1f%% of the new targets are", 100**s.Coverage)
		}
		d.line("sets", "the %s of a new row is in its set with probability %.3g%% (%s), %.3g classes on "+
			"average%s", target, 100*s.Level, s.Method, s.Size, covered)
	}
	switch {
	case a.Names != nil:
		return fmt.Sprintf("%d targets of each of %d rows of %s.", len(a.Names), a.Count, a.Test)
	case a.Decisions != nil:
		return fmt.Sprintf("The class of each of %d rows of %s, and the probability of every class.", a.Count,
			a.Test)
	case i.Interval == "observation" && i.CoverageSD == 0: // no finite interval
		return fmt.Sprintf("A prediction of the %s of every new row; the rows are too few for an "+
			"interval of %.3g%%.", target, 100*a.Level)
	case i.Interval == "observation":
		d.line("interval", "the %s of a new row is between lower and upper with probability %.3g%% (%s)",
			target, 100*a.Level, i.Method)
		if i.Coverage != nil {
			d.line("coverage", "%.1f%% of the new targets, mean width %s", 100**i.Coverage, number(*i.Width))
		}
		return fmt.Sprintf("The %s of a new row is in its interval with probability %.3g%%.", target,
			100*a.Level)
	case a.Calibration != nil:
		leftOut := scores(a.Calibration.LogLoss, a.Calibration.Brier, " of rows left out")
		d.line("probabilities", "%s", cmp.Or(leftOut, "as often as they say"))
		return fmt.Sprintf("The %s of every new row, and its probability.", target)
	case i.Interval != "":
		d.line("interval", "of the estimator: %.3g%% of the resamples predict within it", 100*a.Level)
	}
	return fmt.Sprintf("A prediction of the %s of every new row.", target)
}
