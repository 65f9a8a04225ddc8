package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Kinds of intervals at new inputs.
const (
	Estimator   = "estimator"   // the prediction of another resample
	Observation = "observation" // a new target, its noise included
)

// Intervals is the kind of intervals at new inputs, at the level of the question. The default is Observation
// for numbers, whose bounds are infinite with too few examples for the level, and Estimator for labels.
// Residuals is "" for the default of the loss.
type Intervals struct {
	Of        string
	Residuals Residuals
}

// of is i with the defaults. It refuses observations of labels, of too few examples, and of one group.
func (i Intervals) of(m *model.Model, scheme resample.Scheme, level float64) (Intervals, error) {
	set := m.Set
	labels, err := !set.AreNumbers(), scoresOf(set).Check(level)
	if set.Groups != nil && slices.Max(set.Groups) > slices.Min(set.Groups) {
		err = nil // Student's intervals
	}
	if i.Residuals == "" {
		i.Residuals = PlainResiduals
		if (Intervals{Observation, ScaledResiduals}).closedForm(m, scheme) {
			i.Residuals = ScaledResiduals
		}
	}
	switch {
	case calibration.CheckLevel(level) != nil:
		return i, model.InputError(calibration.CheckLevel(level))
	case i.Of == "" && labels:
		i.Of = Estimator
	case i.Of == "":
		i.Of = Observation
	case i.Of == Observation && labels:
		return i, model.InputError(fmt.Errorf("intervals of an %s are for numbers; the targets of %s are "+
			"labels, for which predict gives a probability", Observation, set.Name))
	case i.Of == Observation && err != nil:
		return i, model.InputError(err)
	}
	return i, nil
}

// scoresOf are the scores of a set's left-out examples.
func scoresOf(set *dataset.Set) calibration.Scores {
	return calibration.NewScores(set.N(), set.Weights, set.Groups)
}

// Predict is the answer at new inputs: of several classes by a model that is trained once, else by the
// theory, refined by exact resamples.
func (s *Study) Predict(ctx context.Context, in *dataset.Inputs, q Question) (a *report.Answer, err error) {
	if q.Sets && s.Model.Set.AreNumbers() {
		return nil, model.InputError(errNoSets)
	}
	if n := int64(in.N()); q.Covariances {
		if err := linalg.CheckMemory(8*n*n*int64(1+len(s.Model.Functions)), s.Model.MaxBytes,
			fmt.Sprintf("the covariances of %d predictions", n)); err != nil {
			return nil, err
		}
	}
	if g, ok := q.Scheme.(resample.Generated); ok {
		a, err = s.generating(ctx, "predict", g, in, q, nil, nil)
	} else if s.classes() {
		a, err = s.predictClasses(ctx, in, &q)
	} else {
		a, err = s.predict(ctx, in, &q)
	}
	if err != nil {
		return nil, err
	}
	if err := addSupport(a, s.Model.SupportOf, in); err != nil {
		return nil, err
	}
	if q.Sets {
		err = s.addSets(ctx, a, in, &q)
	}
	if q.Covariances && a.Names != nil {
		a.Covariance = &report.Covariance{Functions: a.Names}
		for _, name := range a.Names {
			below(a.Covariance, a.Targets[name].Covariance)
			a.Targets[name].Covariance = nil
		}
	}
	a.Time = s.Times
	return a, err
}

func (s *Study) predictClasses(ctx context.Context, in *dataset.Inputs, q *Question) (*report.Answer, error) {
	p, err := s.Train(ctx, Training{Uncorrected: true})
	if err != nil {
		return nil, err
	}
	f, err := predictionsBy(p.All(), in)
	if err != nil {
		return nil, err
	}
	a, err := predictBy(p, in, f, s.Test, q)
	if err != nil {
		return nil, err
	}
	if a.Subject = s.Subject; !q.Covariances {
		return a, nil
	}
	if s.Model.Spec.Pairs {
		return nil, model.InputError(errors.New("covariances are the theory's, which has none of pairs of " +
			"classes: take one class against the others"))
	}
	a.Covariance = &report.Covariance{Functions: s.Model.Set.Levels()}
	for _, p := range s.parts() {
		if err := p.solve(ctx, q); err != nil {
			return nil, wrap(p, err)
		}
		one, err := covariances(p, in)
		if err != nil {
			return nil, err
		}
		below(a.Covariance, one)
	}
	return a, nil
}

// below adds the covariances of one function below others.
func below(all, one *report.Covariance) {
	c, m := &all.Matrix, one.Matrix
	c.Rows, c.Cols, c.Stride, c.Data = c.Rows+m.Rows, m.Cols, m.Cols, append(c.Data, m.Data...)
}

// predict is the answer of the theory, and of exact resamples.
func (s *Study) predict(ctx context.Context, in *dataset.Inputs, q *Question) (*report.Answer, error) {
	err := cmp.Or(settle(ctx, s, q), checkRoom(s.Model, in.N()))
	if err != nil {
		return nil, err
	}
	if q.Intervals, err = q.Intervals.of(s.Model, q.Scheme, q.Level); err != nil {
		return nil, err
	}
	if err := s.fitFirst(ctx); err != nil { // refuses bad input before a long solve
		return nil, err
	}
	trained, choice := make([]*trained, len(s.Model.Functions)), report.Checks(nil)
	if q.Intervals.closedForm(s.Model, q.Scheme) { // before the theory takes the kernel matrix
		choice = s.choose(ctx, q.Seed)
		for k := range trained {
			if trained[k], err = s.part(k).jackknife(in, q); err != nil {
				return nil, err
			}
		}
	}
	a, err := s.each(ctx, joining{}, func(p *part, _ OnFit) (*report.Answer, error) {
		began := time.Now()
		p.trained = trained[p.number]
		if err := p.solve(ctx, q); err != nil {
			return nil, err
		}
		s.Times.Solve = time.Since(began).Seconds()
		return p.predict(ctx, in, q)
	})
	if err != nil {
		return nil, err
	}
	a.Add(choice...)
	return a, nil
}

// outside is the support below which a new row is outside the data: by rbf 2.1 length scales from each row.
const outside = 0.1

// addSupport adds the support of new inputs to an answer, if the kernel has one, and counts those outside.
func addSupport(a *report.Answer, of func(*dataset.Inputs) ([]float64, error), in *dataset.Inputs) error {
	support, err := of(in)
	if err != nil || support == nil {
		return err
	}
	count, rows := floats.Count(func(v float64) bool { return v < outside }, support), *a.NewRows
	rows.Outside = &count
	if a.NewRows = &rows; count > 0 {
		a.Add(report.OutsideData.Check(float64(count),
			"add rows like them, or do not rely on these predictions",
			"%d of %d new rows are far from all rows of the data", count, len(support)))
	}
	for _, one := range append(slices.Collect(maps.Values(a.Targets)), a) {
		if one.Points != nil {
			one.Points.Support = support
		}
	}
	return nil
}

// beginAt is begin for predictions at new inputs, or without any at the rows.
func (p *part) beginAt(command string, scheme resample.Scheme, in *dataset.Inputs) *report.Answer {
	a := p.begin(command, scheme)
	a.TestLoss, a.Status, a.Convergence, a.Points = "", Complete, report.NoTheory(), &report.Points{}
	if in != nil {
		a.NewRows, a.Points.Names = &report.NewRows{Test: in.Name, Count: in.N()}, in.RowNames
		a.Add(otherColumns(in)...)
	}
	return a
}

// predict is the answer of a part, whose theory is solved.
func (p *part) predict(ctx context.Context, in *dataset.Inputs, q *Question) (*report.Answer, error) {
	alone := q.Theory == No
	a := p.beginAt("predict", q.Scheme, in)
	a.Level = q.Level
	addSolution(&a.Findings, p.solution)
	var at *fits.Averages
	if !alone {
		var err error
		if at, err = theoryAt(ctx, p, in, q, a); err != nil {
			return nil, err
		}
	}
	if err := exactAt(ctx, p, in, q, a); err != nil {
		return nil, err
	}
	switch {
	case alone && a.Refined == nil:
		return nil, cmp.Or(ctx.Err(), errOnlyExact)
	case alone:
		exactAlone(p, a, in, q)
	case len(q.Quantiles) > 0:
		addQuantiles(p, a, q.Quantiles, func(i int) int { return p.model.Sites() + i },
			func(i int) loss.Distribution { return loss.Normal(at.Mean[i], at.Variance[i]) })
	}
	if t := p.trained; t != nil {
		points := a.Points
		points.BootstrapMean, points.Mean, points.Prediction = points.Mean, t.mean, t.mean
		points.Lower, points.Upper = t.lower, t.upper
	}
	judgeAt(p, a, in, q)
	a.Time = p.study.Times
	return a, p.addCovariance(a, in, q)
}

// Deviations are the roots of variances, of which unbiased estimates may be below 0.
func Deviations(variance []float64) (sd []float64) {
	for _, v := range variance {
		sd = append(sd, math.Sqrt(math.Max(0, v)))
	}
	return sd
}

// theoryAt adds the solution's averages at new inputs. It returns them in units of the fit.
func theoryAt(ctx context.Context, p *part, in *dataset.Inputs, q *Question, a *report.Answer) (
	*fits.Averages, error) {
	began := time.Now()
	at, err := At(p.model, p.solution, in, func(done int) error {
		p.study.Progress("predict", done, in.N())
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	r, points := at.In(p.model.Function), a.Points
	points.Mean, points.Variance, points.SD = r.Mean, r.Variance, Deviations(r.Variance)
	var intervals []solver.Interval
	if q.Intervals.Of == Observation && p.trained == nil {
		intervals, err = ObservationIntervals(p.model, p.solution, in, q.Level, q.Intervals.Residuals)
	} else if err = solver.CheckLevel(q.Level); err == nil && p.trained == nil {
		for i, mean := range at.Mean {
			intervals = append(intervals, solver.NormalInterval(mean, at.Variance[i], q.Level))
		}
	}
	if err != nil {
		return nil, err
	}
	p.setIntervals(points, intervals)
	p.study.Times.Predict = time.Since(began).Seconds()
	p.addConvergence(a)
	if p.labels() {
		for n, mean := range points.Mean { // fractions of the resamples that predict +1 and -1 (M04-20)
			points.Vote = append(points.Vote, loss.Vote{}.Gaussian(mean, points.Variance[n], 1))
			points.Negative = append(points.Negative, loss.ZeroOne{}.Gaussian(mean, points.Variance[n], 1))
		}
		points.Class = p.labelsOf(points.Mean)
		all, err := ProbabilitiesOf(p.model, p.solution)
		if err != nil {
			return nil, err
		}
		if points.Probability.Positive, err = all.AtInputs(p.model, p.solution, in, at); err != nil {
			return nil, err
		}
		a.Calibration = calibration.NewReliability(all.Method, all.LeftOut, p.model.Y, p.model.Set.Weights)
		a.Add(FewChecks(p.model.Set)...)
	}
	requireNumbers(a)
	return at, nil
}

// setIntervals sets the ends of intervals, given in units of the fit.
func (p *part) setIntervals(points *report.Points, all []solver.Interval) {
	low, high := make([]float64, len(all)), make([]float64, len(all))
	for i, interval := range all {
		low[i], high[i] = interval.Low, interval.High
	}
	points.Lower, points.Upper = p.inUnit(low), p.inUnit(high)
}

// mostCross bounds the memory of the new inputs' kernel matrix in optional refinement.
const mostCross = 256 << 20

func exactAt(ctx context.Context, p *part, in *dataset.Inputs, q *Question, a *report.Answer) error {
	own, m := *q, p.model.Sites()
	own.Metrics = nil // which are of new inputs
	if own.Exact == No || own.Exact == IfPossible && 8*int64(in.N())*int64(m) > mostCross {
		return nil
	}
	cross, err := p.model.CrossAll(in)
	if err != nil {
		return err
	}
	var onFit OnFit
	left := q.Intervals.Of == Observation && p.trained == nil
	if len(q.Quantiles) > 0 || left || q.Theory == No {
		onFit = p.exact.Add
	}
	result, err := p.refine(ctx, &own, cross, onFit, &a.Findings)
	if err != nil || result == nil {
		return err
	}
	exact := result.Averages.In(p.model.Function)
	refined, probabilities := refined(p, result, exact, &own)
	points := &report.Points{Mean: exact.Mean[m:], Variance: exact.Variance[m:], MeanSE: exact.MeanSE[m:],
		VarianceSE: exact.VarianceSE[m:]}
	if probabilities != nil {
		points.Probability.Positive = probabilities.ByCurve(result.Mean[m:], result.Variance[m:])
	}
	a.Refined, refined.Points = refined, points
	if !left {
		return nil
	}
	all, err := ReplicateIntervals(p.model, &p.exact, q.Level, q.Intervals.Residuals)
	if err != nil {
		a.Add(notComputed("no refined intervals: %v", err))
	} else {
		p.setIntervals(points, all)
	}
	return nil
}

// exactAlone makes the exact resamples the answer, where the theory does not hold.
func exactAlone(p *part, a *report.Answer, in *dataset.Inputs, q *Question) {
	points := *a.Refined.Points
	points.Names, points.SD = in.RowNames, Deviations(points.Variance)
	if p.labels() {
		points.Class = p.labelsOf(points.Mean)
	}
	if q.Intervals.Of != Observation {
		points.Lower, points.Upper = p.between(in.N(), q.Level,
			p.replicated(func(point int) int { return p.model.Sites() + point }))
	}
	a.Points = &points
}

// judgeAt computes the errors of the points and the coverage of their intervals, if there are targets.
func judgeAt(p *part, a *report.Answer, in *dataset.Inputs, q *Question) {
	points := a.Points
	byCost := p.labels() && p.decide(points.Class, points.Probability.Positive)
	if byCost {
		a.Threshold = report.NumberOf(p.study.Measure.Threshold())
	} else if p.labels() {
		a.Add(otherSide(points.Mean, points.Probability.Positive, a.Positive)...)
	}
	if targets := p.targetsOf(in); targets != nil {
		bagged := valuesAt(targets, points.Mean)
		each := func(test loss.Test) []float64 {
			all := make([]float64, len(targets))
			for i, y := range targets {
				all[i] = test.Gaussian(points.Mean[i], points.Variance[i], y)
			}
			return all
		}
		if byCost {
			bagged = valuesAt(targets, decided(points.Probability.Positive, p.study.Measure.Threshold()))
			each = bagged
		}
		if p.trained != nil {
			bagged, each = valuesAt(targets, points.BootstrapMean), bagged
		}
		a.BaggedError = report.NumberOf(stat.Mean(bagged(p.study.Test), nil))
		onTargets(p, a, targets, q, each)
	}
	method := AfterBootstrap
	if p.trained != nil {
		method = p.trained.method
	} else if q.Intervals.Of == Observation && p.model.Set.Groups != nil &&
		scoresOf(p.model.Set).Check(q.Level) != nil {
		method = StudentsGroups
	}
	a.Interval = interval(points, scoresOf(p.model.Set), method, q, &a.Findings)
}

// valuesAt are the losses of predictions f.
func valuesAt(targets, f []float64) func(loss.Test) []float64 {
	return func(test loss.Test) []float64 {
		all := make([]float64, len(targets))
		for i, y := range targets {
			all[i] = test.Value(f[i], y)
		}
		return all
	}
}

// targetsOf are the targets of new inputs for the part, -1 and +1 for labels; nil without.
func (p *part) targetsOf(in *dataset.Inputs) []float64 {
	switch {
	case len(in.Columns) == 0:
		return nil
	case p.labels():
		return in.Columns[0].Signs(p.level())
	}
	return in.Columns[min(p.number, len(in.Columns)-1)].Y
}

// onTargets adds the errors of predictions at new inputs with targets: each are the losses under a test.
func onTargets(p *part, a *report.Answer, targets []float64, q *Question, each func(loss.Test) []float64) {
	points := a.Points
	points.Target.Numbers, points.Error = targets, each(p.study.Test)
	mean := stat.Mean(points.Error, nil)
	a.TestLoss, a.TestError = p.study.Test.Name(), report.NumberOf(mean)
	a.Quality = calibration.NewQuality(p.study.Test, report.Number(mean), targets, points.Error, nil, nil,
		p.labelled())
	if a.Quality != nil && p.labels() {
		calibration.Rank(a.Quality, points.Mean, targets, nil)
	}
	a.Metrics = p.metrics(q.Metrics, targets, nil, points.Mean, points.Probability.Positive, each)
	a.Add(a.Quality.Check(*a.TestError)...)
}

// interval describes the intervals of a method from left-out examples, and their coverage of the new targets.
func interval(p *report.Points, of calibration.Scores, method string, q *Question,
	f *report.Findings) *report.Interval {
	r, level := &report.Interval{Interval: q.Intervals.Of}, q.Level
	if r.Interval != Observation {
		return r
	}
	r.Residuals, r.Method = string(q.Intervals.Residuals), method
	err := of.Check(level)
	switch {
	case method == StudentsGroups:
		f.Add(report.FewForLevel.Check(of.Effective, "take a lower level, or rows of more groups",
			"%v: the intervals are Student's t of the mean errors of the groups", err))
	case err != nil:
		f.Add(report.FewForLevel.Check(of.Effective, "take a lower level, or more rows",
			"no finite intervals: %v", err))
		return r
	}
	r.CoverageSD = math.Sqrt(level * (1 - level) / of.Effective)
	if count := float64(len(p.Target.Numbers)); count > 0 {
		held, width := 0.0, 0.0
		for at, y := range p.Target.Numbers {
			if p.Lower[at] <= y && y <= p.Upper[at] {
				held += 1 / count
			}
			width += (p.Upper[at] - p.Lower[at]) / count
		}
		r.Coverage, r.Width = &held, &width
	}
	if of.Effective < fewExamples && method != StudentsGroups {
		f.Add(report.FewForLevel.Check(of.Effective, "take more rows", "intervals from %.4g %s are rough: "+
			"they hold %.2g of the new targets, give or take %.1g", of.Effective, of.Units,
			level, r.CoverageSD))
	}
	return r
}

// otherSide says in how many rows the probability of the positive class contradicts the decision, the sign of
// the prediction, whose errors are measured.
func otherSide(prediction, probability []float64, positive string) report.Checks {
	count := 0
	for i, p := range probability {
		if (p-0.5)*prediction[i] < 0 {
			count++
		}
	}
	if count == 0 {
		return nil
	}
	return report.Checks{report.OtherSide.Check(float64(count), "use the one that your question is about",
		"in %d of %d rows the class and the probability of %s are on different sides of 1/2: "+
			"the class is the decision of the model, whose errors are counted; the probability is how often "+
			"such rows are %[3]s", count, len(probability), positive)}
}
