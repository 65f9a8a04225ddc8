package answer

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

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

// joining is how the answers of several functions become one: by fits of a scheme, with errors that vary over
// groups, nil for examples, and with metrics.
type joining struct {
	scheme  resample.Sampler
	seed    uint64
	group   []int
	metrics []string
}

// joint begins the answer about all functions as the one about the first.
func (s *Study) joint(first *report.Answer) *report.Answer {
	return &report.Answer{Command: first.Command, Subject: s.Subject, Resampling: first.Resampling,
		Folds: first.Folds, Validation: first.Validation, Method: first.Method, Draws: first.Draws,
		TestLoss: first.TestLoss, NewRows: first.NewRows,
		Outcome: report.Outcome{Cost: report.Cost{Time: s.Times}}}
}

// jointRefined are the exact resamples of a function with an error of all functions, and the rows' errors.
func jointRefined(first *report.Refined, e, se report.Number, each []float64) *report.Refined {
	return &report.Refined{Resamples: first.Resamples, Method: first.Method, OneClass: first.OneClass,
		RefinedErrors: &report.RefinedErrors{TestError: e, SE: se, Err632: unknown, Err632Plus: unknown,
			BaggedError: unknown, BaggedSE: unknown, EquivalentResamples: unknown},
		VarianceRatio: unknown, Time: first.Time, Points: &report.Points{Error: each}}
}

// classMetrics are the wanted metrics of decisions between several classes; nil for none.
func classMetrics(wanted []string, a *report.Answer) *report.Metrics {
	if len(wanted) == 0 {
		return nil
	}
	m := &report.Metrics{Error: a.TestError, LogLoss: a.LogLoss, Brier: a.Brier}
	if a.Quote != nil {
		m.Error, m.Balanced = &a.Quote.Error, a.Quality.Balanced
	}
	m.Only(wanted)
	return m
}

// joinClasses is the answer about the decision between several classes, whose fields joint has collected.
func joinClasses(s *Study, each []*report.Answer, joint *fits.Joint, how joining) *report.Answer {
	plan := resample.Resamples{Scheme: how.scheme, Seed: how.seed, Y: s.Model.Functions[0].Y}
	set, d := s.Model.Set, joint.Average(plan, s.Model.Set.Weights)
	a, levels := s.joint(each[0]), set.Levels()
	a.Status, a.TestLoss = Complete, loss.ZeroOne{}.Name()
	a.Remark(s.Model.Warnings()...)
	a.Decisions = &report.Decisions{Classes: levels, Each: make([]report.ClassError, len(levels))}
	if s.Model.Spec.Pairs {
		a.Multiclass = OneAgainstOne
	}
	var se *report.Number // over resamples
	if a.Validation != nil {
		a.RepeatsSE = report.Number(d.Left.SE)
	} else if se = report.NumberOf(d.Left.SE); redraws(how.scheme.(resample.Scheme)) {
		a.Stability = meanKnown(d.Disagreement, set.Weights)
	}
	q := &report.Quality{}
	q.ExampleSE, q.Effective = calibration.StandardError(d.Left.Examples, set.Weights, how.group)
	raiseSE(q, &d.Left, how.group)
	quote := report.NewQuote(a.TestLoss, report.Number(d.Left.Error), q, se)
	a.Quality, a.Quote, a.Examples = q, &quote, report.Examples{Each: d.Left.Examples, Weights: set.Weights}
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
	probabilities := leftOutProbabilities(s, d)
	decide(a, levels, set.RowNames, best, joint.Of, probabilities, set.Weights)
	a.Points.Error, a.Points.OOBVote = d.Left.Examples, share
	byClass(a, set)
	for k, p := range probabilities {
		if numbers(p) != nil {
			a.Each[k].Calibration = calibration.NewReliability("normalised", p, set.Columns[0].Signs(k),
				set.Weights)
		}
	}
	a.Metrics = classMetrics(how.metrics, a)
	a.Remark(d.Warnings...)
	a.Add(neverLeftOut(d.Left.Examples)...)
	if all := a.RowsTotal; all > 0 {
		a.Add(report.SampleOnly.Check(float64(set.N()), "take a larger sample",
			"the error is of models of %d of the %d rows; models of all rows have a lower error", set.N(),
			all))
	}
	if set.Weights != nil || set.Groups != nil {
		a.Add(FewChecks(s.Model.Set)...)
	}
	return a
}

// joinExact sums up the exact fits of all functions, and has the errors of each class against the others.
func joinExact(s *Study, a *report.Answer, each []*report.Answer, d *fits.Decided) {
	if draws := a.Draws; draws != nil { // of the first
		draws.Resamples = d.Resamples
		for _, one := range each[1:] {
			draws.OneClass += one.Draws.OneClass
			draws.Empty = max(draws.Empty, one.Draws.Empty)
		}
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
		switch {
		case r == nil:
		case a.Refined == nil:
			a.Refined = jointRefined(r, a.Error, report.Number(d.Left.SE), d.Left.Examples)
			a.Refined.Resamples, a.Refined.EquivalentResamples = d.Resamples, report.Number(d.Resamples)
			a.Method = r.Method
		default:
			a.Refined.OneClass += r.OneClass
			t := &a.Refined.Time
			t.Fits, t.Total = t.Fits+r.Time.Fits, t.Total+r.Time.Total
			t.Iterations, t.Exact = t.Iterations+r.Time.Iterations, t.Exact+r.Time.Exact
		}
	}
}

// decide adds decisions between the classes, by number, of rows with these names, -1 for none, with their
// probabilities by class or nil; of, if set, are the true classes.
func decide(a *report.Answer, levels, names []string, best, of []int, p [][]float64, weights []float64) {
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

func byClass(a *report.Answer, set *dataset.Set) {
	errors, rows := ofClasses(a.Quality, set, a.Points.Error), classSizes(set)
	for k, name := range a.Classes {
		a.Each[k].Class, a.Each[k].Examples, a.Each[k].Error = name, rows[k], report.Number(errors[k])
		if rows[k] < 2 {
			a.Add(report.RareClass.Check(float64(rows[k]), "take more rows of this class",
				"class %s has one row: it cannot be judged", name))
		}
	}
}

// ofClasses adds the baseline and the balanced error of wrong decisions, NaN if unknown, between the classes
// of a set, and returns the error of each class.
func ofClasses(q *report.Quality, set *dataset.Set, wrong []float64) (errors []float64) {
	levels := set.Levels()
	errors = make([]float64, len(levels))
	judged, sizes := make([]float64, len(levels)), make([]float64, len(levels)) // weights
	for i, own := range ClassesOf(set.Columns[0].Y) {
		w := calibration.WeightOf(set.Weights, i)
		sizes[own] += w
		if e := wrong[i]; !math.IsNaN(e) {
			errors[own], judged[own] = errors[own]+w*e, judged[own]+w
		}
	}
	floats.Div(errors, judged)
	largest := floats.MaxIdx(sizes)
	q.Balanced, q.Constant, q.Baseline = report.NumberOf(stat.Mean(errors, nil)), levels[largest],
		report.Number(1-sizes[largest]/floats.Sum(sizes))
	return errors
}

// leftOutProbabilities are the probabilities of the classes for every left-out example: for each class by a
// curve fitted to its left-out scores without the example, divided by their sum; nil if a class has too few
// examples.
func leftOutProbabilities(s *Study, d *fits.Decided) (all [][]float64) {
	for k := range d.Mean {
		p := LeftOutProbabilities(s.Model.Set.Columns[0].Signs(k), s.Model.Set.Weights, d.Mean[k],
			d.Square[k])
		if p == nil || p.LeftOut == nil {
			return nil
		}
		all = append(all, p.LeftOut)
	}
	return normalised(all)
}

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

func addTargets(a *report.Answer, columns []dataset.Column, each []*report.Answer) {
	a.Targets = map[string]*report.Answer{}
	for k, one := range each {
		name := columns[k].Name
		a.Names, a.Targets[name] = append(a.Names, name), one
		a.AddOf(name, &one.Findings)
	}
}

// joinTargets is the answer about several targets: the unexplained fraction of the variance, averaged over
// the targets, and the correlations of their left-out residuals.
func joinTargets(s *Study, each []*report.Answer) *report.Answer {
	set, a, first := s.Model.Set, s.joint(each[0]), each[0]
	a.Subject.Model = nil
	addTargets(a, set.Columns, each)
	for _, one := range each {
		if a.Status == "" || report.Done(a.Status) {
			a.Status = one.Status
		}
	}
	switch {
	case first.NewRows != nil:
		return a
	case first.Quality == nil: // of weights that leave no row out
		a.Quote, a.Subject.Notes = first.Quote, first.Notes
		return a
	}
	share, residuals, mean, monteCarlo := make([]float64, set.N()), [][]float64(nil), 0.0, 0.0
	for k, one := range each {
		part := 1 / (float64(one.Quality.Baseline) * float64(len(each)))
		mean += part * float64(one.Error)
		if one.MonteCarloSE != nil {
			monteCarlo += part * float64(*one.MonteCarloSE)
		}
		floats.AddScaled(share, part, one.Examples.Each)
		residuals = append(residuals, floats.SubTo(make([]float64, set.N()), set.Columns[k].Y, one.OutOfBag))
	}
	q := &report.Quality{Baseline: 1, Constant: "its mean", RSquared: report.NumberOf(1 - mean),
		RMSE: report.NumberOf(math.Sqrt(mean))}
	q.ExampleSE, q.Effective = calibration.StandardError(share, set.Weights, set.Groups)
	a.Quality, a.Examples = q, report.Examples{Each: share, Weights: set.Weights}
	a.Quote = &report.Quote{Error: report.Number(mean), ErrorSE: q.ExampleSE}
	if first.MonteCarloSE != nil {
		a.MonteCarloSE = report.NumberOf(monteCarlo)
		a.ErrorSE = report.Number(math.Hypot(float64(q.ExampleSE), monteCarlo))
		if first.Refined != nil {
			a.Refined = jointRefined(first.Refined, a.Error, *a.MonteCarloSE, share)
		}
	}
	for _, x := range residuals {
		var row report.Numbers
		for _, y := range residuals {
			row = append(row, stat.Correlation(x, y, set.Weights))
		}
		a.Correlation = append(a.Correlation, row)
	}
	return a
}
