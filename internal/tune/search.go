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
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/linalg"
)

const (
	// tolerance is the relative decrease of the objective, over two steps, below which a descent
	// ends. Solves are ten times as exact.
	tolerance = 1e-3
	// startExamples are those that the starts descend on, if there are many more.
	startExamples = 200
	// startReach is the logarithm of the factor within which the starts lie around the first.
	startReach = 3
)

// search is a Run in progress.
type search struct {
	problem  Problem
	settings Settings
	spec     model.Spec
	spans    []span // of the hyperparameters
	result   Result
}

func newSearch(p Problem, settings Settings) (*search, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	if len(p.Over) == 0 {
		return nil, fmt.Errorf("%w: there is nothing to choose", model.ErrInput)
	}
	if _, err := model.Build(p.Spec); err != nil { // to be told at once what is wrong with it
		if errors.Is(err, linalg.ErrMemory) {
			return nil, fmt.Errorf("%w; tune takes neither, as its gradient needs the whole kernel matrix on one "+
				"machine: tune on fewer examples, and give the values to estimate --engine lowrank", err)
		}
		return nil, err
	}
	s := &search{problem: p, settings: settings, spec: p.Spec}
	defaults := ranges(&p.Spec)
	for _, axis := range p.Over {
		over, err := s.spec.Hyperparameters(axis.Name)
		if err != nil {
			return nil, err
		}
		at := defaults[axis.Name]
		at.from, at.to = cmp.Or(axis.From, at.from), cmp.Or(axis.To, at.to)
		if !(at.from > 0 && at.from < at.to) || math.IsInf(at.to, 1) {
			return nil, fmt.Errorf(
				"%w: %s cannot lie between %g and %g: the bounds must be above 0, the lower one first", model.ErrInput,
				axis.Name, at.from, at.to)
		}
		for _, h := range over {
			if slices.Contains(s.result.Over, h) {
				return nil, fmt.Errorf("%w: %v is named twice", model.ErrInput, h)
			}
			s.result.Over, s.spans = append(s.result.Over, h), append(s.spans, at)
			if v := h.Value(&s.spec); !(v > 0) { // constant, jitter, epsilon
				if err := h.Set(&s.spec, at.start); err != nil {
					return nil, err
				}
			}
			v := h.Value(&s.spec)
			if err := h.Set(&s.spec, math.Max(at.from, math.Min(at.to, v))); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// values are those of the hyperparameters.
func (s *search) values(spec *model.Spec) []float64 {
	var all []float64
	for _, h := range s.result.Over {
		all = append(all, h.Value(spec))
	}
	return all
}

// run descends from all starts, on a part of the data if it is large, and from the best end on all of
// it, and returns the best of the models that were judged on as many examples as any.
func (s *search) run(ctx context.Context) (Evaluation, error) {
	tied := slices.ContainsFunc(s.result.Over, func(h model.Hyperparameter) bool { return h.Feature > 0 })
	part := s.subset()
	s.result.StartExamples = part.Set.N()
	for k, from := range s.starts(tied) {
		d := s.descent(ctx, part, from, tied)
		d.start = k + 1
		if end := least(s.part(ctx, fmt.Sprintf("start %d", d.start), d.run)); end.Values != nil {
			s.result.Ends = append(s.result.Ends, end.Value)
		}
	}
	end := least(s.result.Path)
	if end.Values == nil {
		return end, s.failure(ctx)
	}
	if tied || part.Set.N() < s.spec.Set.N() {
		s.descent(ctx, s.spec, end.Values, false).run()
	}
	return least(s.result.Path), nil
}

// starts are the values of the problem, and points of a low-discrepancy sequence around them.
func (s *search) starts(tied bool) [][]float64 {
	d := s.descent(context.Background(), s.spec, s.values(&s.spec), tied)
	starts := [][]float64{d.from}
	if s.settings.Starts == 1 {
		return starts
	}
	points := mat.NewDense(s.settings.Starts-1, len(d.coordinates), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(d.coordinates), nil),
		Src: rand.NewPCG(s.settings.Seed, 1)}.Sample(points)
	points.Apply(func(_, _ int, v float64) float64 { return startReach * (2*v - 1) }, points)
	for k := range s.settings.Starts - 1 {
		_, values, _ := d.model(d.outside(points.RawRowView(k)))
		starts = append(starts, values)
	}
	return starts
}

// least is the best of the models that were judged on as many examples as any; one without values
// if there is none.
func least(path []Evaluation) (best Evaluation) {
	for _, e := range path {
		if e.Failure == "" && (e.Examples > best.Examples || e.Examples == best.Examples && e.Value < best.Value) {
			best = e
		}
	}
	return best
}

// failure is why there is no end at all: the first failure of a model, or the end of ctx.
func (s *search) failure(ctx context.Context) error {
	for _, e := range s.result.Path {
		if e.Failure != "" {
			return fmt.Errorf("%w: the first one failed: %s", ErrNone, e.Failure)
		}
	}
	return cmp.Or(ctx.Err(), ErrNone)
}

// subset is the model of startExamples of the examples, if there are many more.
func (s *search) subset() model.Spec {
	part := s.spec
	if s.spec.Kernel.Kind != kernel.Precomputed && 4*s.spec.Set.N() > 5*startExamples {
		part.Set = s.spec.Set.Subset(representative(s.spec.Set, startExamples))
	}
	return part
}

// descent is one run of L-BFGS on one data set.
type descent struct {
	*search
	judge       *judge
	spec        model.Spec
	start       int
	coordinates []coordinate

	from  []float64 // values where all coordinates are 0
	at    []float64 // the last point that was judged, and its model
	last  judged
	least float64 // value so far
	ctx   context.Context
}

func (s *search) descent(ctx context.Context, spec model.Spec, from []float64, tied bool) *descent {
	return &descent{search: s, judge: &judge{problem: &s.problem, tolerance: tolerance / 10}, spec: spec,
		coordinates: s.coordinates(from, tied), from: from, least: math.Inf(1), ctx: ctx}
}

// outside is the point of coordinates x.
func (d *descent) outside(x []float64) []float64 {
	z := make([]float64, len(x))
	for k, c := range d.coordinates {
		z[k] = c.outside(x[k])
	}
	return z
}

// run descends from where all coordinates are 0. Whatever ends it, a line search without progress,
// say, the models that were judged are kept.
func (d *descent) run() {
	converged := &optimize.FunctionConverge{Relative: tolerance, Iterations: 2}
	if d.problem.By == Evidence { // which may be near 0
		converged.Relative, converged.Absolute = 0, tolerance
	}
	_, _ = optimize.Minimize(optimize.Problem{Func: d.value, Grad: d.gradient,
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, d.ctx.Err() }},
		d.outside(make([]float64, len(d.coordinates))),
		&optimize.Settings{Converger: converged, GradientThreshold: tolerance / 100, MajorIterations: 100},
		&optimize.LBFGS{})
}

// model is the specification at a point, and the values of the hyperparameters.
func (d *descent) model(z []float64) (model.Spec, []float64, error) {
	spec, values := d.spec, slices.Clone(d.from)
	for k, c := range d.coordinates {
		x, _ := c.inside(z[k])
		for _, member := range c.members {
			values[member] *= math.Exp(x)
			if err := d.result.Over[member].Set(&spec, values[member]); err != nil {
				return spec, values, err
			}
		}
	}
	return spec, values, nil
}

// value judges a point; +Inf, which shortens the step, if that fails.
func (d *descent) value(z []float64) float64 {
	spec, values, err := d.model(z)
	e := Evaluation{Start: d.start, Examples: d.spec.Set.N(), Values: values}
	if err == nil {
		d.last, err = d.judge.value(d.ctx, spec)
	}
	if d.ctx.Err() != nil {
		return math.Inf(1)
	}
	d.at = append(d.at[:0], z...)
	if err != nil {
		e.Failure, d.last = err.Error(), judged{value: math.Inf(1)}
		d.result.Failures++
	} else {
		e.Value = d.last.value
	}
	d.result.Path = append(d.result.Path, e)
	d.least = math.Min(d.least, d.last.value)
	if d.settings.Progress != nil {
		d.settings.Progress(e, d.least)
	}
	return d.last.value
}

// part does a part of the search, or takes over what Settings.Do knows that it judges.
func (s *search) part(ctx context.Context, name string, do func()) []Evaluation {
	first, failures, done := len(s.result.Path), s.result.Failures, false
	compute := func() (Part, error) {
		do()
		done = true
		return Part{s.result.Path[first:], s.result.Failures - failures}, ctx.Err()
	}
	if s.settings.Do == nil {
		compute()
	} else if known, err := s.settings.Do(name, compute); err == nil && !done {
		s.result.Path = append(s.result.Path, known.Path...)
		s.result.Failures += known.Failures
	}
	return s.result.Path[first:]
}

// gradient is that of the last point that was judged; 0, which ends the run, if there is none.
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
	for k, c := range d.coordinates {
		_, slope := c.inside(z[k])
		for _, member := range c.members {
			gradient[k] += slope * over[member]
		}
	}
}
