package answer

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// OneAgainstOne is the name of voting by pairs of classes.
const OneAgainstOne = "ovo"

// errNoneLeftOut refuses schemes that leave no row out, as those with real weights, for several classes.
var errNoneLeftOut = model.InputError(errors.New("no row is left out to judge several classes by: take " +
	"another scheme or ratio, or one class against the others"))

// neverAbsent reports whether no resample of a scheme leaves one of n examples out.
func neverAbsent(scheme resample.Scheme, n int) bool {
	for i := range n {
		if resample.ProbAbsent(scheme, i) > 0 {
			return false
		}
	}
	return true
}

// joining is how the answers of several functions become one.
type joining struct {
	command string
	plan    resample.Plan // of the fits
	drawn   bool          // at random: errors have a standard error over resamples
	redrawn bool          // with replacement: fits differ as those of other data do
	group   []int         // over which errors vary; nil: over examples
	metrics []string      // that are wanted
}

// drawn joins the answers about resamples of a scheme.
func (s *Study) drawn(command string, scheme resample.Scheme, seed uint64, metrics []string) joining {
	plan := resample.Resamples{Scheme: scheme, Seed: seed, Y: s.Model.Functions[0].Y}
	return joining{command, plan, true, redraws(scheme), s.Model.Set.Groups, metrics}
}

// classMetrics are the wanted metrics of decisions between several classes; nil for none.
func classMetrics(wanted []string, a *report.Answer) *report.Metrics {
	if len(wanted) == 0 {
		return nil
	}
	m := &report.Metrics{LogLoss: a.LogLoss, Brier: a.Brier}
	if a.Quote != nil {
		m.Error, m.Balanced = &a.Quote.Error, a.Quality.Balanced
	} else {
		m.Error = a.TestError
	}
	m.Only(wanted)
	return m
}

// joinClasses is the answer about the decision between several classes, whose fields joint has collected.
func joinClasses(s *Study, each []*report.Answer, joint *fits.Joint, how joining) (*report.Answer, error) {
	set, d := s.Model.Set, joint.Average(how.plan, s.Model.Set.Weights)
	levels, first := set.Levels(), each[0]
	a := &report.Answer{Command: how.command, Subject: s.Subject, Resampling: first.Resampling,
		Folds:      first.Folds,
		Validation: first.Validation, Method: first.Method, Status: Complete, Draws: first.Draws,
		TestLoss: loss.ZeroOne{}.Name()}
	a.Remark(s.Model.Warnings()...)
	a.Decisions = &report.Decisions{Classes: levels, Each: make([]report.ClassError, len(levels))}
	if s.Model.Spec.Pairs {
		a.Multiclass = OneAgainstOne
	}
	if v := a.Validation; v != nil {
		own := *v
		own.RepeatsSE = report.Number(d.Left.SE)
		a.Validation = &own
	}
	q := &report.Quality{}
	q.ExampleSE, q.Effective = calibration.StandardError(d.Left.Examples, set.Weights, how.group)
	raiseSE(q, &d.Left, how.group)
	var se *report.Number
	if how.drawn {
		se = report.NumberOf(d.Left.SE)
	}
	quote := report.NewQuote(a.TestLoss, report.Number(d.Left.Error), q, se)
	a.Quote, a.Quality = &quote, q
	a.Examples.Each, a.Examples.Weights = d.Left.Examples, set.Weights
	if how.redrawn {
		a.Stability = meanKnown(d.Disagreement, set.Weights)
	}
	joinExact(s, a, each, d)
	best, share := make([]int, set.N()), make([]float64, set.N())
	for i := range best {
		best[i] = -1
		for k := range levels {
			if v := d.Share[k][i]; v > share[i] {
				best[i], share[i] = k, v
			}
		}
	}
	decide(a, levels, set.RowNames, best, joint.Of, leftOutProbabilities(s, d), set.Weights)
	a.Points.Error, a.Points.OOBVote = d.Left.Examples, share
	byClass(s, a, joint.Of, set.Weights)
	a.Metrics = classMetrics(how.metrics, a)
	a.Remark(d.Warnings...)
	a.Add(neverLeftOut(d.Left.Examples)...)
	if all := a.RowsTotal; all > 0 {
		a.Add(report.SampleOnly.Check(float64(set.N()), "take a larger sample",
			"the error is that of models of %d of the %d rows: those of all rows err less", set.N(), all))
	}
	if set.Weights != nil || set.Groups != nil {
		a.Add(FewChecks(s.Model.Set)...)
	}
	a.Time = s.Times
	return a, nil
}

// joinExact sums up the exact fits of all functions, and has the errors of each class against the others.
func joinExact(s *Study, a *report.Answer, each []*report.Answer, d *fits.Decided) {
	if a.Draws != nil {
		draws := *a.Draws
		draws.Resamples, draws.OneClass, draws.Empty = d.Resamples, 0, 0
		for _, one := range each {
			draws.OneClass += one.Draws.OneClass
			draws.Empty = max(draws.Empty, one.Draws.Empty)
		}
		a.Draws = &draws
	}
	for k, one := range each {
		r := one.Refined
		if !s.Model.Spec.Pairs {
			if c := one.Convergence; c != nil && c.Engine != "" {
				a.Each[k].Theory = one.TestError
			}
			if r != nil {
				a.Each[k].Refined = &r.TestError
				a.AddOf(a.Classes[k], &one.Findings)
			}
		}
		switch unknown := report.Number(math.NaN()); {
		case r == nil:
		case a.Refined == nil:
			a.Refined = &report.Refined{Resamples: d.Resamples, Method: r.Method, OneClass: r.OneClass,
				TestError: report.Number(d.Left.Error), SE: report.Number(d.Left.SE), Err632: unknown,
				Err632Plus:  unknown,
				BaggedError: unknown, BaggedSE: unknown, EquivalentResamples: report.Number(d.Resamples),
				VarianceRatio: unknown, Time: r.Time, Points: &report.Points{Error: d.Left.Examples}}
		default:
			a.Refined.OneClass += r.OneClass
			t := &a.Refined.Time
			t.Fits, t.Total = t.Fits+r.Time.Fits, t.Total+r.Time.Total
			t.Iterations, t.Exact = t.Iterations+r.Time.Iterations, t.Exact+r.Time.Exact
		}
	}
	if a.Refined != nil {
		a.Method = a.Refined.Method
	}
}

// decide adds decisions between the classes, by number, of rows with these names, -1 for none, with their
// probabilities by class or nil; of, if set, are the true classes.
func decide(a *report.Answer, levels, names []string, best, of []int, p [][]float64,
	weights []float64) {
	points := &report.Points{Names: names, Class: make([]string, len(best))}
	a.Points = points
	if p != nil {
		points.Probability.Of = map[string]report.Numbers{}
	}
	for k := range p {
		points.Probability.Of[levels[k]] = p[k]
	}
	for i, k := range best {
		if k >= 0 {
			points.Class[i] = levels[k]
		}
	}
	if of == nil {
		return
	}
	for range levels {
		a.Confusion = append(a.Confusion, make([]int, len(levels)))
	}
	for i, own := range of {
		if points.Target.Classes = append(points.Target.Classes, levels[own]); best[i] >= 0 {
			a.Confusion[own][best[i]]++
		}
	}
	a.LogLoss, a.Brier = scoresOfClasses(p, of, weights)
}

// byClass computes the errors by class, and the baseline.
func byClass(s *Study, a *report.Answer, of []int, weights []float64) {
	// weight of errors, and of all
	errors, judged := make([]float64, len(a.Each)), make([]float64, len(a.Each))
	sizes, total := make([]float64, len(a.Each)), 0.0
	for i, own := range of {
		w := calibration.WeightOf(weights, i)
		a.Each[own].Examples++
		sizes[own] += w
		total += w
		if e := a.Points.Error[i]; !math.IsNaN(e) {
			errors[own], judged[own] = errors[own]+w*e, judged[own]+w
		}
	}
	balanced, largest := 0.0, floats.MaxIdx(sizes)
	for k, name := range a.Classes {
		mean := errors[k] / judged[k]
		a.Each[k].Class, a.Each[k].Error = name, report.Number(mean)
		balanced += mean / float64(len(a.Each))
		if a.Each[k].Examples < 2 {
			a.Add(report.RareClass.Check(float64(a.Each[k].Examples), "take more rows of this class",
				"there is one example of class %s: it cannot be judged", name))
		}
	}
	q := a.Quality
	q.Balanced, q.Constant, q.Baseline = report.NumberOf(balanced), a.Classes[largest],
		report.Number(1-sizes[largest]/total)
}

// leftOutProbabilities are those of the classes for every left-out example: for each class by a curve fitted
// to its left-out scores without the example, divided by their sum; nil if a class has too few examples.
func leftOutProbabilities(s *Study, d *fits.Decided) (all [][]float64) {
	for k := range d.Mean {
		p, err := LeftOutProbabilities(s.Model.Set.Columns[0].Signs(k), s.Model.Set.Weights, d.Mean[k],
			d.Square[k])
		if err != nil || p.LeftOut == nil {
			return nil
		}
		all = append(all, p.LeftOut)
	}
	return normalised(all)
}

// normalised divides probabilities of classes by their sum.
func normalised(all [][]float64) [][]float64 {
	total := make([]float64, len(all[0]))
	for _, p := range all {
		floats.Add(total, p)
	}
	for _, p := range all {
		floats.Div(p, total)
	}
	return all
}

// scoresOfClasses are the mean of -log of the true class's probability, and the mean over examples of the sum
// over classes of squared differences (Brier 1950), over examples with probabilities, with their weights; nil
// without.
func scoresOfClasses(p [][]float64, of []int, weights []float64) (logLoss, brier *report.Number) {
	if p == nil {
		return nil, nil
	}
	l, b, count := 0.0, 0.0, 0.0
	for i, own := range of {
		if math.IsNaN(p[own][i]) {
			continue
		}
		w := calibration.WeightOf(weights, i)
		l -= w * math.Log(p[own][i])
		for k := range p {
			off := p[k][i]
			if k == own {
				off--
			}
			b += w * off * off
		}
		count += w
	}
	return report.NumberOf(l / count), report.NumberOf(b / count)
}

// joinTargets is the answer about several targets: the unexplained fraction of the variance, averaged over
// the targets, and the correlations of their left-out residuals.
func joinTargets(s *Study, each []*report.Answer) (*report.Answer, error) {
	set, first := s.Model.Set, each[0]
	a := &report.Answer{Command: first.Command, Subject: s.Subject, Resampling: first.Resampling,
		Folds: first.Folds, Validation: first.Validation, Method: first.Method, Draws: first.Draws,
		TestLoss: first.TestLoss, Quote: &report.Quote{}, Targets: map[string]*report.Answer{},
		NewRows: first.NewRows}
	a.Subject.Model = nil
	share, residuals := make([]float64, set.N()), [][]float64(nil)
	monteCarlo, known, count := report.Number(0), false, float64(len(each))
	for k, one := range each {
		name := set.Columns[k].Name
		a.Names, a.Targets[name] = append(a.Names, name), one
		if a.Status == "" || report.Done(a.Status) {
			a.Status = one.Status
		}
		a.AddOf(name, &one.Findings)
		if one.NewRows != nil || one.Quality == nil {
			continue
		}
		part := 1 / (float64(one.Quality.Baseline) * count)
		a.Error += one.Error * report.Number(part)
		if one.MonteCarloSE != nil {
			monteCarlo, known = monteCarlo+*one.MonteCarloSE*report.Number(part), true
		}
		floats.AddScaled(share, part, one.Examples.Each)
		residual := slices.Clone(set.Columns[k].Y)
		floats.Sub(residual, one.OutOfBag)
		residuals = append(residuals, residual)
		if one.Refined != nil && a.Refined == nil {
			r := *one.Refined
			a.Refined = &r
		}
	}
	switch a.Time = s.Times; {
	case first.NewRows != nil:
		a.Quote = nil
		return a, nil
	case first.Quality == nil: // of weights that leave no row out
		a.Quote, a.Subject.Notes = first.Quote, first.Notes
		return a, nil
	}
	q := &report.Quality{Baseline: 1, Constant: "its mean", RSquared: report.NumberOf(1 - float64(a.Error)),
		RMSE: report.NumberOf(math.Sqrt(float64(a.Error)))}
	q.ExampleSE, q.Effective = calibration.StandardError(share, set.Weights, set.Groups)
	a.Quality, a.Examples.Each, a.Examples.Weights = q, share, set.Weights
	if a.ErrorSE = q.ExampleSE; known {
		a.MonteCarloSE = &monteCarlo
		a.ErrorSE = report.Number(math.Hypot(float64(q.ExampleSE), float64(monteCarlo)))
	}
	joinRefined(s, a, share)
	for _, x := range residuals {
		var row report.Numbers
		for _, y := range residuals {
			row = append(row, stat.Correlation(x, y, set.Weights))
		}
		a.Correlation = append(a.Correlation, row)
	}
	return a, nil
}

// joinRefined makes the refined error of the first target that of all.
func joinRefined(s *Study, a *report.Answer, share []float64) {
	r, unknown := a.Refined, report.Number(math.NaN())
	if r == nil || a.MonteCarloSE == nil {
		a.Refined = nil
		return
	}
	*r = report.Refined{Resamples: r.Resamples, Method: r.Method, TestError: a.Error, SE: *a.MonteCarloSE,
		Err632: unknown, Err632Plus: unknown, BaggedError: unknown, BaggedSE: unknown,
		EquivalentResamples: unknown, VarianceRatio: unknown, Time: r.Time,
		Points: &report.Points{Error: share}}
}
