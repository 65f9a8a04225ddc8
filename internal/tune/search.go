package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/combin"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

const (
	// tolerance is the relative decrease of the objective, over two steps, below which a descent ends. Its
	// solves have a tenth of it as tolerance; solves of the grid have more, with errors in the fifth digit.
	tolerance = 1e-3
	// sooner multiplies the tolerance for the zero-one loss, whose standard error over 500 examples is a
	// tenth of it.
	sooner = 10
	// The grid takes at most gridFraction of the examples that the descent takes, Problem.Rows.
	gridFraction = 0.6
)

// search is a Run in progress.
type search struct {
	problem  Problem
	settings Settings
	given    model.Spec // the caller's
	spans    []span     // of the hyperparameters
	lengths  []int      // of the grids of the axes
	least    float64    // value so far
	result   Result
}

// newSearch checks the problem, and sets the hyperparameters and their spans.
func newSearch(p Problem, settings Settings) (*search, error) {
	s := &search{given: p.Spec, settings: settings, least: math.Inf(1),
		result: Result{By: p.By, RunnerUp: math.NaN()}}
	if err := p.complete(); err != nil {
		return nil, err
	}
	s.given.Loss, s.problem, s.result.Folds, s.result.measure = p.Spec.Loss, p, p.Folds, p.measure()
	if p.Over == nil {
		for _, name := range Default(&p.Spec) {
			p.Over = append(p.Over, Axis{Name: name})
		}
	}
	defaults := ranges(&p.Spec)
	for _, axis := range p.Over {
		if err := s.add(axis, defaults[axis.Name]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds an axis. Its grid is the values of its span within its bounds.
func (s *search) add(axis Axis, at span) error {
	at.from, at.to = cmp.Or(axis.From, at.from), cmp.Or(axis.To, at.to)
	if !(at.from > 0 && at.from < at.to) || math.IsInf(at.to, 1) {
		return fmt.Errorf("%w: %s cannot lie between %g and %g: the bounds must be above 0, the lower one "+
			"first", model.ErrInput, axis.Name, at.from, at.to)
	}
	over, err := s.problem.Spec.Hyperparameters(axis.Name)
	if err != nil {
		return err
	}
	middle := at.grid[len(at.grid)/2]
	at.grid = slices.DeleteFunc(at.grid, func(v float64) bool { return v < at.from || v > at.to })
	v := over[0].Value(&s.problem.Spec)
	if given := axis.Given && v > 0; given || len(at.grid) == 0 {
		if !given {
			v = middle
		}
		at.grid = []float64{math.Max(at.from, math.Min(at.to, v))}
	}
	at.axis, s.lengths = len(s.lengths), append(s.lengths, len(at.grid))
	for _, h := range over {
		if slices.Contains(s.result.Over, h) {
			return fmt.Errorf("%w: %s is named twice", model.ErrInput, axis.Name)
		}
		s.result.Over, s.spans = append(s.result.Over, h), append(s.spans, at)
	}
	return nil
}

// run evaluates the grid, and descends from its best model.
func (s *search) run(ctx context.Context) error {
	grid := ranked(s.part(ctx, "grid", func() { s.judgeGrid(ctx) }))
	if len(grid) == 0 {
		return s.failure(ctx)
	}
	if best := grid[0].Value; len(grid) > 1 {
		s.result.RunnerUp = (grid[1].Value - best) / math.Abs(best)
	}
	s.part(ctx, "descent", func() { s.descend(ctx, grid[0]) })
	return nil
}

// ranked are the evaluations that did not fail: those on more examples, and then the better ones, first.
func ranked(path []Evaluation) []Evaluation {
	known := slices.DeleteFunc(slices.Clone(path), func(e Evaluation) bool { return e.Failure != "" })
	slices.SortStableFunc(known, func(a, b Evaluation) int {
		return cmp.Or(cmp.Compare(b.Examples, a.Examples), cmp.Compare(a.Value, b.Value))
	})
	return known
}

// Cells are the models of the grid with which a search begins, the last axis fastest.
func Cells(p Problem) (cells []model.Spec, err error) {
	s, err := newSearch(p, Settings{})
	if err != nil {
		return nil, err
	}
	for _, values := range s.cells() {
		spec := s.given
		if err := s.set(&spec, values); err != nil {
			return nil, err
		}
		cells = append(cells, spec)
	}
	return cells, nil
}

// cells are the values of the hyperparameters in the cells of the grid, the last axis fastest.
func (s *search) cells() (all [][]float64) {
	for _, place := range combin.Cartesian(s.lengths) {
		values := make([]float64, len(s.spans))
		for k, at := range s.spans {
			values[k] = at.grid[place[at.axis]]
		}
		all = append(all, values)
	}
	return all
}

// set sets the hyperparameters of a specification.
func (s *search) set(spec *model.Spec, values []float64) (err error) {
	for k, h := range s.result.Over {
		err = cmp.Or(err, h.Set(spec, values[k]))
	}
	return err
}

// judgeGrid evaluates all cells. Of equals the first counts, the smoother model. Along the last axis each
// solve starts from the last; the other axes are parallel.
func (s *search) judgeGrid(ctx context.Context) {
	chains := slices.Collect(slices.Chunk(s.cells(), s.lengths[len(s.lengths)-1]))
	spec, judged := s.subset(int(gridFraction*float64(s.problem.Rows))), make([][]Evaluation, len(chains))
	blas.SingleThreaded(func() {
		linalg.Parallel(len(chains), func(chain int) {
			j := &judge{problem: &s.problem, tolerance: tolerance}
			for _, values := range chains[chain] {
				e, _ := s.evaluate(ctx, j, spec, values)
				if ctx.Err() != nil {
					return
				}
				judged[chain] = append(judged[chain], e)
			}
		})
	})
	for _, chain := range judged {
		for _, e := range chain {
			s.record(e)
		}
	}
}

// evaluate evaluates the objective at these values of the hyperparameters.
func (s *search) evaluate(ctx context.Context, j *judge, spec model.Spec, values []float64) (e Evaluation,
	value judged) {
	e = Evaluation{Examples: spec.Set.N(), Values: values}
	err := s.set(&spec, values)
	if err == nil {
		value, err = j.value(ctx, spec)
	}
	if e.Value = value.value; err != nil {
		e.Value, e.Failure, e.err, value = 0, err.Error(), err, judged{value: math.Inf(1)}
	}
	return e, value
}

// record records an evaluation.
func (s *search) record(e Evaluation) {
	s.result.Path = append(s.result.Path, e)
	if e.Failure != "" {
		s.result.Failures++
	} else {
		s.least = math.Min(s.least, e.Value)
	}
	if s.settings.Progress != nil {
		s.settings.Progress(e, s.least)
	}
}

// failure is the reason for no result: the first failure of a model, or the end of ctx.
func (s *search) failure(ctx context.Context) error {
	for _, e := range s.result.Path {
		if e.Failure != "" {
			return fmt.Errorf("%w: the first one failed: %w", ErrNone, cmp.Or(e.err, errors.New(e.Failure)))
		}
	}
	return cmp.Or(ctx.Err(), ErrNone)
}

// subset is the model of at most size examples, a fixed random subset, stratified by class with at least two
// of each. A precomputed kernel has all.
func (s *search) subset(size int) model.Spec {
	part := s.problem.Spec
	if n := part.Set.N(); n > size && part.Kernel.Kind != kernel.Precomputed {
		part.Set = part.Set.Subset(representative(part.Set, size))
	}
	return part
}

func representative(set *dataset.Set, size int) []int {
	order := rand.New(rand.NewPCG(1, 1)).Perm(set.N())
	if set.AreNumbers() {
		return order[:size]
	}
	var rows []int
	of := set.Columns[0].Y
	for _, level := range slices.Compact(slices.Sorted(slices.Values(of))) {
		class := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return of[i] != level })
		share := int(math.Round(float64(size) * float64(len(class)) / float64(set.N())))
		rows = append(rows, class[:min(len(class), max(2, share))]...)
	}
	slices.Sort(rows)
	return rows
}

// part does a part of the search, or takes its evaluations from Settings.Do.
func (s *search) part(ctx context.Context, name string, do func()) []Evaluation {
	first, failures, done := len(s.result.Path), s.result.Failures, s.settings.Do == nil
	if done {
		do()
		return s.result.Path[first:]
	}
	known, err := s.settings.Do(s.settings.before+name, func() (Part, error) {
		do()
		done = true
		return Part{s.result.Path[first:], s.result.Failures - failures}, ctx.Err()
	})
	if err == nil && !done {
		s.result.Path = append(s.result.Path, known.Path...)
		s.result.Failures += known.Failures
	}
	return s.result.Path[first:]
}

// descent is one run of L-BFGS on one data set, of the objective over unit.
type descent struct {
	*search
	ctx   context.Context
	judge *judge
	spec  model.Spec
	unit  float64
	at    []float64 // the last evaluated point, and its model
	last  judged
}

// descend runs L-BFGS from an evaluation, on the objective relative to its value there: limits on the
// objective and its gradient do not depend on the units of the targets. Evaluations are kept however it ends.
func (s *search) descend(ctx context.Context, from Evaluation) {
	d := &descent{search: s, ctx: ctx, spec: s.subset(s.problem.Rows), unit: cmp.Or(from.Value, 1),
		judge: &judge{problem: &s.problem, tolerance: tolerance / 10}}
	z := make([]float64, len(s.spans))
	for k, at := range s.spans {
		z[k] = at.outside(from.Values[k])
	}
	converged := &optimize.FunctionConverge{Relative: tolerance, Iterations: 2}
	if loss.TraitsOf(s.problem.Test).Steps {
		converged.Relative = sooner * tolerance
	}
	if s.problem.By == Evidence { // which may be near 0; other units only add a constant
		converged.Relative, converged.Absolute, d.unit = 0, tolerance, 1
	}
	_, _ = optimize.Minimize(optimize.Problem{Func: d.value, Grad: d.gradient,
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() }}, z,
		&optimize.Settings{Converger: converged, GradientThreshold: tolerance / 100, MajorIterations: 100},
		&optimize.LBFGS{})
}

// value is the objective at a point; +Inf, which shortens the step, if that fails.
func (d *descent) value(z []float64) float64 {
	values := make([]float64, len(z))
	for k, span := range d.spans {
		values[k], _ = span.inside(z[k])
	}
	d.at = append(d.at[:0], z...)
	e, value := d.evaluate(d.ctx, d.judge, d.spec, values)
	if d.ctx.Err() != nil {
		return math.Inf(1)
	}
	d.last = value
	d.record(e)
	return value.value / d.unit
}

// gradient is the gradient at the last evaluated point; 0, which ends the run, if there is none.
func (d *descent) gradient(gradient, z []float64) {
	clear(gradient)
	if !slices.Equal(z, d.at) && math.IsInf(d.value(z), 1) || d.last.gradient == nil {
		return
	}
	over, err := d.last.gradient(d.ctx, d.result.Over)
	if err != nil || floats.HasNaN(over) {
		if d.ctx.Err() == nil {
			d.result.Failures++
		}
		return
	}
	for k, span := range d.spans {
		_, slope := span.inside(z[k])
		gradient[k] = slope * over[k] / d.unit
	}
}
