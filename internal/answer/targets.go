package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

// target is one of several, as it is fitted: scaled to the variance of the first.
type target struct {
	*Job
	dataset.Target
	scale float64
}

// EstimateTargets is Estimate for each of several targets. All share the kernel matrix, and with the square
// loss the G of one solve (solver.Solution.Retarget).
func (j *Job) EstimateTargets(ctx context.Context, s Settings) (*report.Targets, error) {
	noPoints := s.NoPoints
	s.NoPoints, s.Method = false, TheoryMethod
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
	r := &report.Targets{Command: "estimate", Subject: j.Subject, Targets: map[string]*report.Estimate{},
		Status: solver.Converged.String(), Warnings: []string{}}
	r.Subject.TargetMean, r.Subject.Model = nil, nil
	for _, t := range all {
		e, err := t.estimate(ctx, s, solution, began)
		if err != nil {
			return nil, err
		}
		began = time.Now()
		r.Names, r.Targets[t.Name] = append(r.Names, t.Name), e
		if e.Status != r.Status && Done(r.Status) {
			r.Status = e.Status
		}
		for _, w := range e.Warnings {
			warn(&r.Warnings, t.Name+": "+w)
		}
	}
	r.Subject.Target = strings.Join(r.Names, ", ")
	r.Time = j.Times
	j.summarise(r, all)
	for _, e := range r.Targets {
		if noPoints {
			e.Points = nil
			if e.Refined != nil {
				e.Refined.Points = nil
			}
		}
	}
	return r, nil
}

// targetJobs are the targets with their fits to all data, which come before the solve: these use G's memory.
func (j *Job) targetJobs() (all []target, err error) {
	first := slices.Clone(j.Set.Y)
	floats.AddConst(j.TargetMean, first)
	all = []target{{j, dataset.Target{Name: j.Set.Target, Y: first}, 1}}
	for _, further := range j.Set.Further {
		m, scale := j.Retarget(further)
		other := Of(m, j.Test)
		other.Progress = j.Progress
		all = append(all, target{other, further, scale})
	}
	for _, t := range all {
		if err := t.Fit(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// estimate is the answer for one target, in its units; first is the solution of the square loss for the
// first.
func (t *target) estimate(ctx context.Context, s Settings, first *solver.Solution, began time.Time) (
	*report.Estimate, error) {
	solution := first
	if first == nil {
		e, _, err := t.Estimate(ctx, s, "solve "+t.Name)
		if err == nil {
			t.rescale(e)
			t.Caution(e)
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
	if err != nil {
		return nil, err
	}
	t.rescale(e)
	t.Caution(e)
	return e, nil
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
	length, square := 1/t.scale, 1/(t.scale*t.scale)
	for _, v := range []*null.Float{&e.Error, e.ErrorSE, &e.TestError, &e.Apparent, &e.NoInformation, &e.Err632,
		&e.Err632Plus, &e.BaggedError} {
		if v != nil && (e.Refined == nil || v != &e.Refined.SE) { // which follows below
			*v *= null.Float(square)
		}
	}
	t.rescaleLoss(&e.Parameters)
	t.rescaleLoss(&e.Subject.Model.Parameters)
	for _, v := range []*float64{&e.Kernel.Amplitude, &e.Kernel.Constant, &e.Kernel.Jitter,
		&e.Subject.Model.Amplitude, &e.Subject.Model.Constant, &e.Subject.Model.Jitter} {
		*v *= square
	}
	if e.TargetMean != nil {
		mean := *e.TargetMean * length
		e.TargetMean = &mean
	}
	if q := e.Quality; q != nil {
		q.Baseline, q.ExampleSE = q.Baseline*null.Float(square), q.ExampleSE*null.Float(square)
		q.Constant = fmt.Sprintf("%.5g", stat.Mean(t.Y, t.Set.Weights))
		*q.RMSE *= null.Float(length)
	}
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
func (j *Job) summarise(r *report.Targets, all []target) {
	each, residuals, count := make([]float64, j.Set.N()), [][]float64(nil), float64(len(all))
	se := null.Float(0)
	for _, t := range all {
		e := r.Targets[t.Name]
		share := 1 / (float64(e.Quality.Baseline) * count)
		r.Error += e.Error * null.Float(share)
		if e.ErrorSE != nil {
			se += *e.ErrorSE * null.Float(share)
			r.ErrorSE = &se
		}
		floats.AddScaled(each, share, e.Examples.Each)
		residual := slices.Clone(t.Y)
		floats.Sub(residual, e.Points.OOBMean)
		residuals = append(residuals, residual)
	}
	r.ExampleSE = null.Float(calibration.StandardError(each, j.Set.Weights, j.Set.Groups))
	for _, a := range residuals {
		var row null.Floats
		for _, b := range residuals {
			row = append(row, stat.Correlation(a, b, j.Set.Weights))
		}
		r.Correlation = append(r.Correlation, row)
	}
}
