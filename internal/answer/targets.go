package answer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Targets are models of several targets on one kernel matrix.
type Targets struct{ first *Job }

// First implements Machine.
func (j *Targets) First() *Job { return j.first }

// About implements Machine.
func (j *Targets) About() report.Subject {
	s := j.first.Subject
	s.Target, s.TargetMean, s.Model = j.first.Set.TargetNames(), nil, nil
	return s
}

// target is one of several targets, scaled to the variance of the first.
type target struct {
	*Job
	y     []float64 // in units of the file
	scale float64
}

// Estimate implements Machine. With the square loss the targets share the G of one solve
// (solver.Solution.Retarget).
func (j *Targets) Estimate(ctx context.Context, s Settings) (report.Answer, error) {
	s.Method = TheoryMethod
	all, err := j.fitted(ctx)
	if err != nil {
		return nil, err
	}
	began, built, shared := time.Now(), j.first.Model, (*solver.Solution)(nil)
	if loss.TraitsOf(built.Loss).Quadratic {
		shared, err = j.first.Solve(ctx, s)
	}
	if err == nil && j.first.Model != built { // on a factor of another rank, whose fits leave G as it is
		all, err = j.fitted(ctx)
	}
	if err != nil {
		return nil, err
	}
	return j.answers("estimate", all, func(t *target) (report.Answer, error) {
		s, solution := s, shared
		s.Label = "solve " + t.Name
		switch {
		case shared == nil:
			solution, err = t.Solve(ctx, s)
		case !slices.Equal(shared.Problem.Y, t.Y):
			solution, err = shared.Retarget(t.Y, s.Solve.Tolerance)
		}
		if err != nil {
			return nil, err
		}
		a, err := t.estimateAt(ctx, s, solution, began)
		if err != nil {
			return nil, err
		}
		e := a.e
		if began = time.Now(); e.Points == nil { // the targets are compared by left-out errors
			e.Points = &report.Points{Names: t.Set.RowNames, Error: e.Examples.Each, OOBMean: solution.OutOfBag().Mean}
			e.Points.Shift(t.shift())
		}
		return e, nil
	})
}

// answers computes the answer for each target, in its units, and the summary.
func (j *Targets) answers(command string, all []target, ask func(*target) (report.Answer, error)) (
	report.Answer, error) {
	r := &report.Targets{Command: command, Subject: j.About(), Targets: map[string]report.Judgement{},
		Outcome: report.Outcome{Warnings: []string{}}}
	err := each(all, func(_ int, t target) error {
		answered, err := ask(&t)
		if err != nil {
			return err
		}
		a := answered.(report.Judgement)
		before := a.Judged()
		verdict := before.Quality.Warning(before.Error)
		if t.rescale(a); command == "estimate" {
			caution(a.(*report.Estimate), t.Set)
		}
		r.Names, r.Targets[t.Name] = append(r.Names, t.Name), a
		judged := a.Judged()
		for k, w := range judged.Warnings { // in the units of the fit, if it was made before
			if w == verdict {
				judged.Warnings[k] = judged.Quality.Warning(judged.Error)
			}
		}
		if r.Status == "" || report.Done(r.Status) {
			r.Status = judged.Status
		}
		for _, w := range judged.Warnings {
			warn(&r.Warnings, t.Name+": "+w)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Time = j.first.Times
	j.summarise(r, all)
	return r, nil
}

// CrossValidate implements Machine, with the same folds for all targets.
func (j *Targets) CrossValidate(ctx context.Context, v Validation) (report.Answer, error) {
	return j.validate(ctx, "cv", v)
}

// LeaveOneOut implements Machine.
func (j *Targets) LeaveOneOut(ctx context.Context, _ leaveout.Method, _ bool) (report.Answer, error) {
	return j.validate(ctx, "loo", Validation{Design: resample.Design{N: j.first.Set.N()}})
}

func (j *Targets) validate(ctx context.Context, command string, v Validation) (report.Answer, error) {
	return j.answers(command, j.separate(), func(t *target) (report.Answer, error) {
		return t.CrossValidate(ctx, v)
	})
}

// Retrain implements Machine, on the same resamples for all targets.
func (j *Targets) Retrain(ctx context.Context, how Retraining) (report.Answer, error) {
	how.NoPoints = false
	return j.answers("retrain", j.separate(), func(t *target) (report.Answer, error) {
		return t.Retrain(ctx, how)
	})
}

// Train implements Machine.
func (j *Targets) Train(ctx context.Context) (*model.Predictor, error) {
	var all []*model.Predictor
	for _, t := range j.separate() {
		p, err := t.Train(ctx)
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", t.Name, err)
		}
		p.Rescale(1 / t.scale)
		all = append(all, p)
	}
	all[0].Others, all[0].Encoding = all[1:], j.first.Set.Encoding()
	return all[0], nil
}

// Predict implements Machine.
func (j *Targets) Predict(ctx context.Context, in *dataset.Inputs, s Settings) (report.Answer, error) {
	return trainedAt(ctx, j, in, s)
}

// PredictTargets is PredictByModel for each of the targets of a model.
func PredictTargets(p *model.Predictor, in *dataset.Inputs, s Settings) (*report.TargetPredictions, error) {
	if len(p.Encoding.Targets[0].Levels) > 2 {
		return nil, model.InputError(errors.New("the model is of several classes: PredictClasses answers"))
	}
	r := &report.TargetPredictions{AtInputs: atInputs(in),
		Targets: map[string]*report.ModelPrediction{}, Outcome: report.Outcome{Warnings: slices.Clone(in.Notes)}}
	in.Notes = nil
	for k, one := range p.All() {
		own := *in
		own.Columns = in.Columns[min(k, len(in.Columns)):]
		a, err := predictTarget(one, &own, loss.SquareTest{}, s)
		if err != nil {
			return nil, err
		}
		for _, w := range a.Warnings {
			warn(&r.Warnings, a.Target+": "+w)
		}
		r.Names, r.Targets[a.Target] = append(r.Names, a.Target), a
	}
	return r, nil
}

// separate are the targets, each with its job.
func (j *Targets) separate() []target {
	var all []target
	for k, f := range j.first.Functions {
		t := target{Of(j.first.Model.Of(k), j.first.Test), j.first.Set.Columns[k].Y, 1 / f.Unit}
		t.Progress, t.Keep = j.first.Progress, j.first.Keep
		all = append(all, t)
	}
	return all
}

// fitted are the targets with their fits to all data, unless these are made around the solution; the others
// come first, since they use G's memory.
func (j *Targets) fitted(ctx context.Context) (all []target, err error) {
	all = j.separate()
	if fitsAround(j.first.Model) {
		return all, nil
	}
	var models []*model.Model
	for _, t := range all {
		models = append(models, t.Model)
	}
	began := time.Now()
	fits, err := model.FullFits(ctx, models)
	for k := range fits {
		all[k].full = fits[k]
	}
	j.first.Times.Fit += time.Since(began).Seconds()
	return all, err
}

// rescaleLoss converts parameters of the loss to the units of the target: eps and absolute are of first
// degree in residuals, square and huber of second.
func (t *target) rescaleLoss(p *loss.Parameters) {
	switch loss.TraitsOf(t.Loss).Degree {
	case 1:
		p.C *= t.scale
	case 2:
		p.C *= t.scale * t.scale
	}
	p.Epsilon, p.Delta, p.Noise = p.Epsilon/t.scale, p.Delta/t.scale, p.Noise/(t.scale*t.scale)
}

// rescale converts an answer from the units of the fit to those of the target: test errors are quadratic.
func (t *target) rescale(a report.Judgement) {
	var squares []*null.Float
	errors := func(e *report.Errors) {
		squares = append(squares, &e.TestError, &e.Apparent, &e.NoInformation, &e.Err632, &e.Err632Plus)
	}
	var points []*report.Points
	var subject *report.Subject
	var quality *calibration.Quality
	switch a := a.(type) {
	case *report.Estimate:
		errors(&a.Errors)
		squares = append(squares, &a.BaggedError)
		a.Scale(1 / (t.scale * t.scale))
		points, subject, quality = append(points, a.Points), &a.Subject, a.Quality
		a.Examples.Each = times(a.Examples.Each, 1/(t.scale*t.scale))
		if r := a.Refined; r != nil {
			squares = append(squares, &r.TestError, &r.SE, &r.Err632, &r.Err632Plus, &r.BaggedError, &r.BaggedSE)
			points = append(points, r.Points)
		}
	case *report.CrossValidation:
		squares = append(squares, &a.RepeatsSE)
		a.Scale(1 / (t.scale * t.scale))
		points, subject, quality = append(points, a.Points), &a.Subject, a.Quality
	case *report.Retraining:
		errors(&a.Errors)
		a.Scale(1 / (t.scale * t.scale))
		squares = append(squares, &a.SE, &a.Ensemble.BaggedError, &a.EnsembleSE.BaggedError)
		points, subject, quality = append(points, a.Points), &a.Subject, a.Quality
	}
	for _, v := range squares {
		*v /= null.Float(t.scale * t.scale)
	}
	for _, p := range points {
		t.rescalePoints(p)
	}
	t.rescaleSubject(subject, quality)
}

// rescaleSubject is rescale of the model and the baseline.
func (t *target) rescaleSubject(s *report.Subject, q *calibration.Quality) {
	length, square := 1/t.scale, 1/(t.scale*t.scale)
	t.rescaleLoss(&s.Parameters)
	for _, v := range []*float64{&s.Kernel.Amplitude, &s.Kernel.Constant, &s.Kernel.Jitter} {
		*v *= square
	}
	s.Model.Parameters, s.Model.Kernel = s.Parameters, report.Kernel(s.Kernel)
	if s.TargetMean != nil {
		mean := *s.TargetMean * length
		s.TargetMean = &mean
	}
	if q != nil {
		q.Baseline, q.ExampleSE = q.Baseline*null.Float(square), q.ExampleSE*null.Float(square)
		q.Constant = fmt.Sprintf("%.5g", stat.Mean(t.y, t.Set.Weights))
		*q.RMSE *= null.Float(length)
	}
}

// rescalePoints is rescale of the values per example.
func (t *target) rescalePoints(p *report.Points) {
	if p == nil {
		return
	}
	for _, list := range []*null.Floats{&p.Mean, &p.Lower, &p.Upper, &p.OOBMean, &p.MeanSE} {
		*list = times(*list, 1/t.scale)
	}
	for _, list := range []*null.Floats{&p.Variance, &p.Error, &p.VarianceSE} {
		*list = times(*list, 1/(t.scale*t.scale))
	}
	if p.Target != nil {
		p.Target = t.y
	}
}

// times is a copy of list times a factor.
func times(list []float64, by float64) []float64 {
	return floats.ScaleTo(make([]float64, len(list)), by, list)
}

// summarise adds the unexplained fraction of the variance, averaged over the targets, and the correlations of
// their left-out residuals.
func (j *Targets) summarise(r *report.Targets, all []target) {
	set := j.first.Set
	each, residuals, count := make([]float64, set.N()), [][]float64(nil), float64(len(all))
	monteCarlo, known := null.Float(0), false
	for _, t := range all {
		e := r.Targets[t.Name].Judged()
		share := 1 / (float64(e.Quality.Baseline) * count)
		r.Error += e.Error * null.Float(share)
		if e.MonteCarloSE != nil {
			monteCarlo, known = monteCarlo+*e.MonteCarloSE*null.Float(share), true
		}
		floats.AddScaled(each, share, e.Examples.Each)
		residual := slices.Clone(t.y)
		floats.Sub(residual, e.Points.OOBMean)
		residuals = append(residuals, residual)
	}
	r.Each = each
	r.ExampleSE = null.Float(calibration.StandardError(each, set.Weights, set.Groups))
	if r.ErrorSE = r.ExampleSE; known {
		r.MonteCarloSE = &monteCarlo
		r.ErrorSE = null.Float(math.Hypot(float64(r.ExampleSE), float64(monteCarlo)))
	}
	for _, a := range residuals {
		var row null.Floats
		for _, b := range residuals {
			row = append(row, stat.Correlation(a, b, set.Weights))
		}
		r.Correlation = append(r.Correlation, row)
	}
}
