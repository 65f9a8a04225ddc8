package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Targets is a job of several targets, which share the kernel matrix.
type Targets struct{ *Job }

// target is one of several, as it is fitted: scaled to the variance of the first.
type target struct {
	*Job
	dataset.Target
	scale float64
}

// Estimate is Joint.Estimate. With the square loss the targets share the G of one solve
// (solver.Solution.Retarget).
func (j Targets) Estimate(ctx context.Context, s Settings) (report.Joint, error) {
	s.Method = TheoryMethod
	all, err := j.targetJobs()
	if err != nil {
		return nil, err
	}
	began, built, solution := time.Now(), j.Model, (*solver.Solution)(nil)
	_, square := j.Loss.(loss.Square)
	if square {
		solution, err = j.Solve(ctx, s, "solve")
	}
	if err == nil && j.Model != built { // on a factor of another rank, whose fits leave G as it is
		all, err = j.targetJobs()
	}
	if err != nil {
		return nil, err
	}
	return j.eachTarget("estimate", all, func(t *target) (report.TargetAnswer, error) {
		e, err := t.estimate(ctx, s, solution, began)
		began = time.Now()
		return e, err
	})
}

// eachTarget answers for each target, and for all together.
func (j Targets) eachTarget(command string, all []target, answer func(*target) (report.TargetAnswer, error)) (
	report.Joint, error) {
	r := &report.Targets{Command: command, Subject: j.Subject(), Targets: map[string]report.TargetAnswer{},
		Warnings: []string{}}
	var elsewhere error
	for i := range all {
		t := &all[i]
		a, err := answer(t)
		switch {
		case errors.Is(err, ErrElsewhere):
			elsewhere = err
			continue
		case err != nil:
			return nil, err
		}
		r.Names, r.Targets[t.Name] = append(r.Names, t.Name), a
		judged := a.Judged()
		if r.Status == "" || Done(r.Status) {
			r.Status = judged.Status
		}
		for _, w := range judged.Warnings {
			warn(&r.Warnings, t.Name+": "+w)
		}
	}
	if elsewhere != nil {
		return nil, elsewhere
	}
	r.Time = j.Times
	j.summarise(r, all)
	return r, nil
}

// CrossValidate is Joint.CrossValidate, by the same folds.
func (j Targets) CrossValidate(ctx context.Context, v Validation) (report.Joint, error) {
	return j.validate(ctx, "cv", v)
}

// LeaveOneOut is Joint.LeaveOneOut.
func (j Targets) LeaveOneOut(ctx context.Context, workers int) (report.Joint, error) {
	return j.validate(ctx, "loo", Validation{Design: resample.Design{N: j.Set.N()}, Workers: workers})
}

func (j Targets) validate(ctx context.Context, command string, v Validation) (report.Joint, error) {
	return j.eachTarget(command, j.separate(), func(t *target) (report.TargetAnswer, error) {
		r, err := t.CrossValidate(ctx, v)
		if err == nil {
			t.rescaleValidation(r)
		}
		return r, err
	})
}

// Retrain is Joint.Retrain, on the same resamples.
func (j Targets) Retrain(ctx context.Context, how Retraining) (report.Joint, error) {
	how.NoPoints = false
	return j.eachTarget("retrain", j.separate(), func(t *target) (report.TargetAnswer, error) {
		r, err := t.Retrain(ctx, how)
		if err == nil {
			t.rescaleRetraining(r)
		}
		return r, err
	})
}

// Train is Joint.Train.
func (j Targets) Train(ctx context.Context) (*model.Predictor, error) {
	var first *model.Predictor
	for _, t := range j.separate() {
		p, err := t.Train(ctx)
		if err != nil {
			return nil, fmt.Errorf("target %s: %w", t.Name, err)
		}
		if p.Rescale(1 / t.scale); first == nil {
			first = p
		} else {
			first.Others = append(first.Others, p)
		}
	}
	first.Encoding = j.Set.Encoding()
	return first, nil
}

// PredictTargets is PredictByModel for each of the targets of a model.
func PredictTargets(p *model.Predictor, in *dataset.Inputs, s Settings) (*report.TargetPredictions, error) {
	r := &report.TargetPredictions{Command: "predict", Test: in.Name, Count: in.N(),
		Targets: map[string]*report.ModelPrediction{}, Warnings: slices.Clone(in.Notes)}
	in.Notes = nil
	for k, one := range append([]*model.Predictor{p}, p.Others...) {
		own := *in
		if k > 0 && in.Further != nil {
			own.Y = in.Further[k-1].Y
		}
		a, err := PredictByModel(one, &own, loss.SquareTest{}, s)
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
func (j Targets) separate() []target {
	first, alone, set := dataset.Target{Name: j.Set.Target, Y: slices.Clone(j.Set.Y)}, *j.Model, *j.Set
	floats.AddConst(j.TargetMean, first.Y)
	set.Further = nil
	alone.Spec.Set = &set
	all := []target{{Of(&alone, j.Test), first, 1}}
	for _, further := range j.Set.Further {
		m, scale := j.Retarget(further)
		all = append(all, target{Of(m, j.Test), further, scale})
	}
	for _, t := range all {
		t.Progress, t.Keep = j.Progress, j.Keep
	}
	return all
}

// targetJobs are the targets with their fits to all data, which come before the solve: these use G's memory.
func (j Targets) targetJobs() (all []target, err error) {
	all = j.separate()
	if j.fitsAround() {
		return all, nil
	}
	var models []*model.Model
	for _, t := range all {
		models = append(models, t.Model)
	}
	began := time.Now()
	fits, err := model.FullFits(models)
	for k := range fits {
		all[k].full = fits[k]
	}
	j.Times.Fit += time.Since(began).Seconds()
	return all, err
}

// estimate is the answer for one target, in its units; first is the solution of the square loss for the
// first.
func (t *target) estimate(ctx context.Context, s Settings, first *solver.Solution, began time.Time) (
	*report.Estimate, error) {
	solution := first
	if first == nil {
		e, solution, err := t.Estimate(ctx, s, "solve "+t.Name)
		if err == nil {
			t.finish(e, solution)
		}
		return e, err
	}
	if !slices.Equal(first.Problem.Y, t.Set.Y) {
		var err error
		if solution, err = first.Retarget(t.Set.Y, s.Solve.Tolerance); err != nil {
			return nil, err
		}
	}
	e, err := t.estimateAt(ctx, s, solution, began)
	if err == nil {
		t.finish(e, solution)
	}
	return e, err
}

// finish takes an estimate to the units of the target, with the left-out errors that the targets are compared
// by.
func (t *target) finish(e *report.Estimate, solution *solver.Solution) {
	if e.Points == nil {
		e.Points = &report.Points{Names: t.Set.RowNames, Error: e.Examples.Each, OOBMean: solution.OutOfBag().Mean}
		e.Points.Shift(t.TargetMean)
	}
	t.rescale(e)
	t.Caution(e)
}

// rescaleLoss takes parameters of the loss to the units of the target: eps and absolute are of the first
// degree in residuals, square and huber of the second.
func (t *target) rescaleLoss(p *loss.Parameters) {
	switch t.Loss.(type) {
	case loss.EpsInsensitive, loss.LeastAbsolute:
		p.C *= t.scale
	case loss.Huber:
		p.C *= t.scale * t.scale
	}
	p.Epsilon, p.Delta, p.Noise = p.Epsilon/t.scale, p.Delta/t.scale, p.Noise/(t.scale*t.scale)
}

// rescale takes an estimate of square errors from the units of the fit to those of the target.
func (t *target) rescale(e *report.Estimate) {
	square := 1 / (t.scale * t.scale)
	for _, v := range append(errorsOf(&e.Errors), &e.Error, e.ErrorSE, &e.BaggedError) {
		if v != nil && (e.Refined == nil || v != &e.Refined.SE) { // which follows below
			*v *= null.Float(square)
		}
	}
	t.rescaleSubject(&e.Subject, e.Quality)
	e.Examples.Each = times(e.Examples.Each, square)
	t.rescalePoints(e.Points)
	if r := e.Refined; r != nil {
		for _, v := range []*null.Float{&r.TestError, &r.SE, &r.Err632, &r.Err632Plus, &r.BaggedError,
			&r.BaggedSE} {
			*v *= null.Float(square)
		}
		t.rescalePoints(r.Points)
	}
}

func errorsOf(e *report.Errors) []*null.Float {
	return []*null.Float{&e.TestError, &e.Apparent, &e.NoInformation, &e.Err632, &e.Err632Plus}
}

// rescaleRetraining is rescale of a retraining.
func (t *target) rescaleRetraining(r *report.Retraining) {
	for _, v := range append(errorsOf(&r.Errors), &r.SE, &r.Ensemble.BaggedError, &r.EnsembleSE.BaggedError) {
		*v *= null.Float(1 / (t.scale * t.scale))
	}
	t.rescaleSubject(&r.Subject, r.Quality)
	t.rescalePoints(r.Points)
}

// rescaleValidation is rescale of a cross-validation.
func (t *target) rescaleValidation(r *report.CrossValidation) {
	for _, v := range []*null.Float{&r.Error, r.ErrorSE, &r.RepeatsSE} {
		*v *= null.Float(1 / (t.scale * t.scale))
	}
	t.rescaleSubject(&r.Subject, r.Quality)
	t.rescalePoints(r.Points)
}

// rescaleSubject is rescale of the model and of what the error is compared with.
func (t *target) rescaleSubject(s *report.Subject, q *calibration.Quality) {
	length, square := 1/t.scale, 1/(t.scale*t.scale)
	t.rescaleLoss(&s.Parameters)
	t.rescaleLoss(&s.Model.Parameters)
	for _, v := range []*float64{&s.Kernel.Amplitude, &s.Kernel.Constant, &s.Kernel.Jitter, &s.Model.Amplitude,
		&s.Model.Constant, &s.Model.Jitter} {
		*v *= square
	}
	if s.TargetMean != nil {
		mean := *s.TargetMean * length
		s.TargetMean = &mean
	}
	if q != nil {
		q.Baseline, q.ExampleSE = q.Baseline*null.Float(square), q.ExampleSE*null.Float(square)
		q.Constant = fmt.Sprintf("%.5g", stat.Mean(t.Y, t.Set.Weights))
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
		p.Target = t.Y
	}
}

// times are new numbers, a factor times others.
func times(list []float64, by float64) []float64 {
	return floats.ScaleTo(make([]float64, len(list)), by, list)
}

// summarise adds what all targets say together: the mean over them of the share of the variance that is not
// explained, and the correlations of their left-out residuals.
func (j Targets) summarise(r *report.Targets, all []target) {
	each, residuals, count := make([]float64, j.Set.N()), [][]float64(nil), float64(len(all))
	se := null.Float(0)
	for _, t := range all {
		e := r.Targets[t.Name].Judged()
		share := 1 / (float64(e.Quality.Baseline) * count)
		r.Error += e.Error * null.Float(share)
		if e.ErrorSE != nil {
			se += *e.ErrorSE * null.Float(share)
			r.ErrorSE = &se
		}
		floats.AddScaled(each, share, e.Each)
		residual := slices.Clone(t.Y)
		floats.Sub(residual, e.LeftOut)
		residuals = append(residuals, residual)
	}
	r.Each = each
	r.ExampleSE = null.Float(calibration.StandardError(each, j.Set.Weights, j.Set.Groups))
	for _, a := range residuals {
		var row null.Floats
		for _, b := range residuals {
			row = append(row, stat.Correlation(a, b, j.Set.Weights))
		}
		r.Correlation = append(r.Correlation, row)
	}
}
