package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"bootbench/internal/calibration"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/solver"
)

// about begins a document on a data set.
func about(title string, s Subject) *document {
	d := &document{title: title + " " + ShortName(s.Data)}
	d.line("data", "%s: %d examples, %d features, %s", s.Data, s.N, s.D, s.Task)
	d.source(s)
	from, bias := "", ""
	if s.Preset != "" {
		from = fmt.Sprintf(" (preset: %s)", s.Preset)
	}
	if s.Model != nil && s.Model.Bias {
		bias = ", bias"
	}
	d.line("model", "%s loss%s%s%s", s.Loss, s.parameters(), bias, from)
	d.line("kernel", "%s", KernelText(s.Kernel))
	if s.ChosenBy != "" {
		d.line("chosen", "by %s", s.ChosenBy)
		d.line("to repeat", "%s", s.CommandLine)
	}
	features := "as they are"
	if s.Standardized {
		features = "standardised to mean 0 and standard deviation 1"
	}
	d.line("features", "%s", features)
	d.line("sites", "%d distinct inputs, %d examples merged into the site of another", s.Sites, s.Merged)
	return d
}

// source names the target of a file and what was found in it; sets with a preset need
// no such lines.
func (d *document) source(s Subject) {
	if m := s.TargetMean; m != nil {
		d.line("target", "%s, centred at %s", cmp.Or(s.Target, "y"), number(*m))
	} else if s.Preset == "" && s.Target != "" {
		classes := ""
		if s.Labels != nil {
			classes = fmt.Sprintf(": %s is +1, %s is -1", s.Labels.Name(1), s.Labels.Name(-1))
		}
		d.line("target", "%s%s", s.Target, classes)
	}
	for _, note := range s.Notes {
		d.line("note", "%s", note)
	}
}

// KernelText describes a kernel in a few words; what its kind has no use for is left out.
func KernelText(k kernel.Spec) string {
	scale, polynomial := nonzero("gamma %.4g", k.Gamma), ""
	switch n := len(k.LengthScale); {
	case n == 1:
		scale = fmt.Sprintf("length scale %.4g", k.LengthScale[0])
	case n > 1:
		scale = fmt.Sprintf("%d length scales from %.4g to %.4g", n, slices.Min(k.LengthScale),
			slices.Max(k.LengthScale))
	}
	if k.Degree != 0 {
		polynomial = fmt.Sprintf("degree %d, coef0 %.4g", k.Degree, k.Coef0)
	}
	return join(k.Kind.String(), scale, polynomial, fmt.Sprintf("amplitude %.4g", k.Amplitude),
		nonzero("constant %.4g", k.Constant), nonzero("jitter %.4g", k.Jitter))
}

// nonzero formats a value, "" for 0.
func nonzero[T int | float64](format string, value T) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

func (d *document) resampling(r Resampling, n int) {
	d.line("resampling", "%s%s, ratio %.4g: S = %s of n = %d, %.1f distinct examples on average",
		r.Scheme, nonzero(", %d folds", r.Folds), r.Ratio, number(r.Ratio*float64(n)), n, r.Distinct)
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

func (d *document) cost(c Cost) {
	part := func(name string, value float64) string {
		if !(value > 0) {
			return ""
		}
		return name + " " + seconds(value)
	}
	parts := join(part("read", c.Time.Read), part("kernel matrix", c.Time.Gram), part("full fit", c.Time.Fit),
		part("solve", c.Time.Solve), part("predict", c.Time.Predict), part("retrain", c.Time.Retrain))
	if parts != "" {
		parts = " (" + parts + ")"
	}
	d.line("seconds", "%s%s", seconds(c.Time.Total), parts)
	d.line("memory", "%s at most; %s, %s, %d threads", mebibytes(c.Memory.PeakBytes), c.Backend.Name,
		c.Backend.Core, c.Backend.Threads)
}

// points summarises values per example by their quantiles.
func (d *document) points(points *Points) {
	if points == nil || len(points.Mean) == 0 {
		return
	}
	sd := make([]float64, len(points.Variance))
	for i, v := range points.Variance {
		sd[i] = math.Sqrt(v)
	}
	heads := []head{"<over examples", "min", "25%", "median", "75%", "max"}
	rows := [][]string{quartiles("mean", points.Mean), quartiles("sd", sd),
		quartiles("variance", points.Variance)}
	if len(points.Error) > 0 {
		rows = append(rows, quartiles("error", points.Error))
	}
	d.gap()
	d.table(heads, rows)
}

func quartiles(name string, values []float64) []string {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	cells := []string{name}
	for q := range 5 {
		cells = append(cells, number(quantile(sorted, float64(q)/4)))
	}
	return cells
}

// quantile interpolates between the order statistics, NaN for none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func (e *Estimate) document() *document {
	d := about("Bootstrap estimate of", e.Subject)
	d.resampling(e.Resampling, e.N)
	d.gap()
	d.line("left-out error", "%s   (%s loss)", e.Quote, e.TestLoss)
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
	d.points(e.Points)
	return d
}

// document is what was asked, then a row per new input.
func (r *Prediction) document() *document {
	d := about("Bootstrap law of predictions from", r.Subject)
	d.resampling(r.Resampling, r.N)
	d.line("new inputs", "%s: %d", r.Test, r.Count)
	if r.TestError != nil {
		d.line("test error", "%s over resamples, %s of the mean prediction   (%s loss)", number(*r.TestError),
			number(*r.BaggedError), r.TestLoss)
		d.quality(r.Quality)
	}
	d.interval(r.Interval)
	d.judged("", r.Metrics, r.Calibration)
	if r.Refined != nil {
		d.line("refined", "by %d exact resamples in %s s", r.Refined.Resamples, seconds(r.Refined.Time.Total))
		d.judged("refined", nil, r.Refined.Calibration)
	}
	d.convergence(r.Convergence)
	d.cost(r.Cost)
	d.perInput(r.Points)
	return d
}

// perInput is a table with a row per new input.
func (d *document) perInput(points *Points) {
	if points == nil {
		return
	}
	table := points.table(number[float64])
	heads := make([]head, len(table[0]))
	for i, name := range table[0] {
		heads[i] = head(name)
	}
	if points.Class != nil {
		heads[len(heads)-1] = "<class"
	}
	d.gap()
	d.table(heads, table[1:])
}

func (r *Retraining) document() *document {
	d := about("Bootstrap retraining on", r.Subject)
	d.resampling(r.Resampling, r.N)
	d.gap()
	d.line("left-out error", "%s   (%s loss)", Quote{r.TestError, &r.SE}, r.TestLoss)
	d.combined(r.Errors, r.Resampling)
	d.ensemble(r.Ensemble, &r.EnsembleSE)
	d.quality(r.Quality)
	d.line("status", "%s, %d resamples%s, seed %d, method %s", r.Status, r.Resamples,
		nonzero(", %d more skipped", r.Skipped), r.Seed, r.Method)
	d.line("trained by", "%s", r.Training)
	d.line("one fit", "%s s on one thread, %d at a time", seconds(r.FitS), r.Workers)
	d.cost(r.Cost)
	d.points(r.Points)
	return d
}

func (l *LeaveOneOut) document() *document {
	d := about("Leave-one-out error on", l.Subject)
	d.gap()
	switch {
	case l.Task != "classification":
		d.line("left out", "mean square residual %s (method %s)", number(l.Error), l.Method)
		d.quality(l.Quality)
	case len(l.Methods) > 0:
		d.methods(l.Methods)
	default:
		d.line("left out", "%s: %d of %d examples misclassified (method %s)", number(l.Error), l.Errors,
			l.Retrained+l.Skipped, l.Method)
		d.line("label +1", "recall %s, precision %s", number(l.Recall), number(l.Precision))
		d.line("retrained", "%d times, %d examples needed none", l.Retrained, l.Skipped)
	}
	if l.Task == "classification" {
		d.quality(l.Quality)
		d.line("training", "%d support vectors, %s, Kuhn-Tucker violation %.1e", l.SupportVectors, biased(l.Bias),
			l.Violation)
	}
	d.cost(l.Cost)
	return d
}

func biased(b bool) string {
	if b {
		return "bias"
	}
	return "no bias"
}

// methods prints a comparison of methods.
func (d *document) methods(all []LeaveOneOutMethod) {
	heads := []head{"<method", "rho", "errors", "error", "recall", "precision", "ties", "retrained",
		"seconds"}
	var rows [][]string
	for _, m := range all {
		rho := "-"
		if m.Rho > 0 {
			rho = fmt.Sprint(m.Rho)
		}
		retrained := fmt.Sprintf("%.2f%%", 100*float64(m.Retrained)/float64(max(1, m.Retrained+m.Skipped)))
		rows = append(rows, []string{m.Method, rho, fmt.Sprint(m.Errors), number(m.Error), number(m.Recall),
			number(m.Precision), fmt.Sprint(len(m.Ties)), retrained, seconds(m.Seconds)})
	}
	d.table(heads, rows)
}

func (l *Datasets) document() *document {
	d := &document{title: "Data sets"}
	var rows [][]string
	for _, s := range l.Sets {
		preset := "-"
		if s.Preset != "" {
			preset = s.Preset
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(s.N), fmt.Sprint(s.D), s.Task, fmt.Sprint(s.Duplicates),
			preset, s.Source})
	}
	d.table([]head{"<embedded", "n", "d", "<task", "duplicates", "<preset", "<source"}, rows)
	rows = nil
	for _, g := range l.Synthetic {
		rows = append(rows, []string{"synthetic:" + g.Name, fmt.Sprint(g.D), g.Task, fmt.Sprint(g.Noise), g.About})
	}
	d.gap()
	d.table([]head{"<synthetic", "d", "<task", "noise", "<about"}, rows)
	d.gap()
	d.paragraph("A synthetic set takes n (default 1000), seed (1), d and noise: " +
		"synthetic:friedman1,n=2000,seed=3,d=8,noise=0.5")
	return d
}

func (m *Machine) document() *document {
	d := &document{title: "Machine and libraries"}
	d.line("bootbench", "%s, %s, %s/%s", m.Version, m.Go, m.OS, m.Arch)
	d.line("backend", "%s, %s kernels, %d threads (this binary has: %s)", m.Backend, m.Core, m.Threads,
		join(m.Backends...))
	if m.Config != "" {
		d.line("configuration", "%s", m.Config)
	}
	d.line("processor", "%s, %d cores, %s", m.CPU, m.Cores, m.SIMD)
	d.line("goroutines", "on %d processors", m.GoProcs)
	if m.AvailableBytes != nil {
		d.line("memory", "%s available", mebibytes(*m.AvailableBytes))
	}
	for _, mod := range m.Modules {
		d.line("library", "%s %s", mod.Path, mod.Version)
	}
	for _, text := range m.Warnings {
		d.line("warning", "%s", text)
	}
	return d
}

// parameters lists those of the training loss.
func (s *Subject) parameters() string {
	weights := ""
	if w := s.ClassWeights; w != (loss.ClassWeights{}) {
		weights = fmt.Sprintf(" times %.4g for class -1 and %.4g for +1", w.Negative, w.Positive)
	}
	return nonzero(", noise variance %v", s.Noise) + nonzero(", C = %v", s.C) + weights +
		nonzero(", epsilon = %v", s.Epsilon) +
		nonzero(", delta = %v", s.Delta)
}

// interval prints what the intervals at new inputs hold.
func (d *document) interval(i Interval) {
	if i.Interval != "observation" {
		d.line("interval", "of the estimator: %.3g%% of the resamples predict within it", 100*i.Level)
		return
	}
	d.line("interval", "of a new observation, level %.3g, %s residuals; between data sets of this size "+
		"coverage varies by %.1f points", i.Level, i.Residuals, 100*i.CoverageSD)
	if i.Coverage != nil {
		d.line("coverage", "%.1f%% of the new targets, mean width %s", 100**i.Coverage, number(*i.Width))
	}
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
