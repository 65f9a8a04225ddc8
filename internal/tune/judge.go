package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
	"bootbench/train/gp"
)

// judge evaluates the objective for models of one data set, each solve of a function starting from its last.
type judge struct {
	problem   *Problem
	tolerance float64
	last      []*solver.Solution // of the functions
}

// judged is a model's objective, and a function for its gradient.
type judged struct {
	value    float64
	gradient func(ctx context.Context, over []model.Hyperparameter) ([]float64, error)
}

// value is the mean over functions of a model, each with a kernel matrix of its own for its solutions. These
// are the starts of the next model unless a function fails.
func (j *judge) value(ctx context.Context, spec model.Spec) (mean judged, err error) {
	first, err := model.Build(ctx, spec)
	if err != nil {
		return mean, err
	}
	if j.problem.By == Folds && len(first.Set.Levels()) > 2 && !j.problem.scaled() {
		return j.byDecision(ctx, first)
	}
	count := len(first.Functions)
	if j.last == nil {
		j.last = make([]*solver.Solution, count)
	}
	all, next := make([]judged, count), slices.Clone(j.last)
	err = eachPart(count, func(k int) error {
		m, err := partOf(ctx, first, k)
		if err == nil {
			all[k], err = j.one(ctx, m, &next[k])
		}
		return err
	})
	if err != nil {
		return mean, err
	}
	j.last = next
	for _, one := range all {
		mean.value += one.value / float64(count)
	}
	if all[0].gradient == nil {
		return mean, nil
	}
	mean.gradient = func(ctx context.Context, over []model.Hyperparameter) ([]float64, error) {
		each, sum := make([][]float64, count), make([]float64, len(over))
		err := eachPart(count, func(k int) (err error) {
			each[k], err = all[k].gradient(ctx, over)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, g := range each {
			floats.AddScaled(sum, 1/float64(count), g)
		}
		return sum, nil
	}
	return mean, nil
}

// one evaluates the objective for one function.
func (j *judge) one(ctx context.Context, m *model.Model, last **solver.Solution) (judged, error) {
	by := j.problem.By
	switch t := loss.TraitsOf(m.Loss); {
	case t.Quadratic && (by == LeaveOneOut || by == Evidence):
		return exactly(by, m, t.Noise)
	case groupsOf(m.Set) != nil && by == Folds || !j.problem.measure().IsError():
		return j.byFits(ctx, m)
	}
	return j.byTheory(ctx, m, last)
}

// measure is by what models are judged: the specification's measure, and without one the wrong labels times
// the class weights that are given. By the error alone a model that makes no use of them is the best.
func (p *Problem) measure() calibration.Measure {
	of, _ := loss.ParametersOf(p.Spec.Loss)
	w, m, rows := of.ClassWeights, p.Spec.Measure, floats.Sum(p.Spec.Set.Columns[0].Y)
	if min(rows, float64(p.Spec.Set.N())-rows) < 2 { // of a class
		return m
	}
	chosen := slices.ContainsFunc(p.Over, func(a Axis) bool { return a.Name == "class-weight" })
	if m.IsError() && p.By == Folds && w.Negative != w.Positive && !chosen && loss.TraitsOf(p.Test).Steps {
		return calibration.Measure{Name: calibration.ByWeights, Negative: w.Negative, Positive: w.Positive}
	}
	return m
}

// measuredPartitions is the number of partitions into folds over which left-out fields are averaged for a
// measure.
const measuredPartitions = 2

// groupsOf are the groups of a set: nil for a single one, of which rows are left out.
func groupsOf(set *dataset.Set) []int {
	if set.Groups == nil || slices.Max(set.Groups) == 0 {
		return nil
	}
	return set.Groups
}

// leaveOut makes exact fits of some partitions into folds without each fold: of whole groups if there are
// any, else within the classes of labels.
func (j *judge) leaveOut(ctx context.Context, m *model.Model, partitions int) (*model.Retraining, error) {
	design, folds := resample.Design{N: m.Set.N(), Group: groupsOf(m.Set)}, j.problem.Folds
	if design.Group != nil {
		folds = min(folds, 1+slices.Max(design.Group))
	} else if !m.Set.AreNumbers() {
		for _, y := range m.Set.Columns[0].Y {
			design.Stratum = append(design.Stratum, int(math.Max(0, y)))
		}
	}
	scheme, err := design.Of(resample.KFold{}.Name(), resample.Options{Folds: folds})
	if err != nil {
		return nil, fmt.Errorf("%w: folds: %w", model.ErrInput, err)
	}
	settings := model.RetrainSettings{}
	settings.Resamples = partitions * folds
	return singly(ctx, m, scheme, j.problem.Test, settings)
}

// byDecision is the error of the decision between several classes, by exact fits without folds, on the grid
// alone: it has no gradient. The mean error of each class against the others, which the theory has, is a poor
// guide to it: of ten classes all models that separate none have a tenth.
func (j *judge) byDecision(ctx context.Context, m *model.Model) (judged, error) {
	fields := make([][]float64, len(m.Functions))
	for k := range fields {
		r, err := j.leaveOut(ctx, m.Of(k), measuredPartitions)
		if err != nil {
			return judged{}, err
		}
		fields[k] = r.OutOfBag
	}
	wrong, f := make([]float64, m.Set.N()), make([]float64, len(fields))
	for i, class := range m.Set.Columns[0].Y {
		for k := range fields {
			f[k] = fields[k][i]
		}
		if floats.MaxIdx(f) != int(class) {
			wrong[i] = 1
		}
	}
	return judged{value: stat.Mean(wrong, m.Set.Weights)}, nil
}

// byFits uses exact fits without folds: for groups and measures there is no theory, and no gradient.
func (j *judge) byFits(ctx context.Context, m *model.Model) (judged, error) {
	measure, partitions := j.problem.measure(), measuredPartitions
	if measure.IsError() {
		partitions = 1
	}
	r, err := j.leaveOut(ctx, m, partitions)
	if err != nil {
		return judged{}, err
	}
	if measure.IsError() {
		return judged{value: r.Tests[0].Error}, nil
	}
	losses, _ := measure.Losses(r.OutOfBag, m.Y, m.Set.Weights)
	if losses == nil {
		return judged{}, fmt.Errorf("%w: a measure needs two rows of each class", model.ErrInput)
	}
	return judged{value: stat.Mean(losses, m.Set.Weights)}, nil
}

// singly makes exact fits one by one.
func singly(ctx context.Context, m *model.Model, scheme resample.Scheme, test loss.Test,
	settings model.RetrainSettings) (*model.Retraining, error) {
	settings.Tests = []loss.Test{test}
	r, err := model.Retrain(ctx, m, model.Single, scheme, settings)
	return r, cmp.Or(err, ctx.Err())
}

// partOf is the model of function k, numbers scaled to the variance of the first, on a matrix of its own.
func partOf(ctx context.Context, first *model.Model, k int) (m *model.Model, err error) {
	if m = first; k > 0 {
		if m, err = model.Build(ctx, first.Spec); err != nil {
			return nil, err
		}
	}
	m = m.Of(k)
	if slices.Min(m.Y) == slices.Max(m.Y) {
		return nil, fmt.Errorf("%w: all examples are of one class, or none is of %s", model.ErrInput, m.Name)
	}
	if k > 0 && !m.Labels() && !m.NormalizeTarget {
		scale := math.Sqrt(stat.PopVariance(first.Y, m.Set.Weights) / stat.PopVariance(m.Y, m.Set.Weights))
		m.Y = floats.ScaleTo(make([]float64, len(m.Y)), scale, m.Y)
	}
	return m, nil
}

// eachPart calls f for all parts, several at the same time; the error is the first part's that fails.
func eachPart(parts int, f func(k int) error) error {
	if parts == 1 {
		return f(0)
	}
	errs := make([]error, parts)
	blas.SingleThreaded(func() { linalg.Parallel(parts, func(k int) { errs[k] = f(k) }) })
	return cmp.Or(errs...)
}

// exactly uses one fit to all data.
func exactly(by By, m *model.Model, noise float64) (judged, error) {
	criterion := gp.LeaveOneOut
	if by == Evidence {
		criterion = gp.Evidence
	}
	c, err := criterion(m.Gram(), noise, m.Site, m.Y)
	if err != nil {
		return judged{}, err
	}
	return judged{c.Value, func(_ context.Context, over []model.Hyperparameter) ([]float64, error) {
		return m.Gradient(over, c.Kernel, -c.Noise, nil), nil
	}}, nil
}

// far is the largest residual, in tolerances, of a solve that is accepted in a search, and mostSweeps bounds
// its sweeps: 3 of 450 solves that converged took more (magic, california, iris, 40 classes).
const far, mostSweeps = 100, 40

// byTheory uses a solve from the last solution, or, if that fails, from the start value.
func (j *judge) byTheory(ctx context.Context, m *model.Model, last **solver.Solution) (judged, error) {
	objective := adjoint.Objective{Criterion: adjoint.LeftOutError, Test: j.problem.Test}
	n := m.Set.N()
	scheme, err := j.problem.Scheme(n)
	switch j.problem.By {
	case Folds:
		scheme, err = resample.KFold{Folds: min(j.problem.Folds, n), N: n}, nil
	case LeaveOneOut:
		scheme, err = resample.KFold{Folds: n, N: n}, nil
	case Plain632:
		objective.Criterion = adjoint.Err632
	case Plus632:
		objective.Criterion = adjoint.Err632Plus
	}
	if err != nil {
		return judged{}, err
	}
	settings := solver.Settings{Tolerance: j.tolerance, From: *last, MaxSweeps: mostSweeps}
	s, err := m.Solve(ctx, scheme, settings)
	if *last != nil && ctx.Err() == nil && (err != nil || s.Status != solver.Converged) {
		settings.From = nil
		s, err = m.Solve(ctx, scheme, settings)
	}
	switch {
	case err != nil:
		return judged{}, err
	case ctx.Err() != nil:
		return judged{}, ctx.Err()
	case s.Status != solver.Converged && !(s.Residual < far*j.tolerance):
		return judged{}, fmt.Errorf("the theory did not converge: %v, residual %.1g", s.Status, s.Residual)
	}
	value, err := objective.Value(s)
	if err != nil {
		return judged{}, err
	}
	*last = s
	return judged{value, func(ctx context.Context, over []model.Hyperparameter) ([]float64, error) {
		return gradient(ctx, m, s, objective, over)
	}}, nil
}

// gradient has the derivatives of an objective at a solution of this model with respect to the logarithms of
// hyperparameters: see adjoint.Differentiate and kernel.Inputs.Gradient. The kernel matrix must be exact.
func gradient(ctx context.Context, m *model.Model, s *solver.Solution, o adjoint.Objective,
	over []model.Hyperparameter) ([]float64, error) {
	var paths []adjoint.Path
	for _, h := range over {
		if m.Kernel.Named(h.Name, h.Feature) == nil && h.Factor() == 0 {
			paths = append(paths, func(distance float64) (loss.Loss, error) {
				moved := m.Spec
				err := h.Set(&moved, h.Value(&m.Spec)*math.Exp(distance))
				return moved.Loss, err
			})
		}
	}
	g, err := adjoint.Differentiate(ctx, s, o, paths)
	if err != nil {
		return nil, err
	}
	return m.Gradient(over, g.Kernel, g.Factor, g.Loss), nil
}
