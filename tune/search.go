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

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/model"
)

// Sizes and limits of the search.
const (
	subsetLabels     = 200  // examples on which the starts are tried, if there are so many more
	subsetRegression = 300  //
	worthSubset      = 1.5  // by how many times more
	randomReach      = 2.3  // random starts lie within a factor e^2.3 of the first
	looseTolerance   = 1e-3 // of solves from the starts
	closeTolerance   = 1e-4 // of solves on all data
	nearValue        = 0.03 // relative difference from the best end up to which another is judged on all data too
	samePlace        = 0.5  // difference of logarithms below which it is in the same place
	progressRelative = 3e-3 // decrease of the value over progressSteps steps below which a run ends
	progressAbsolute = 3e-4 // the same of the evidence, which may be near 0
	progressSteps    = 2
	firstStep        = 1    // length of the first step of a start, in logarithms
	closeFirstStep   = 0.3  // the same from the best of the starts
	settledStep      = 1e-3 // step that does not move a model
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
	if _, err := model.Build(p.Spec); err != nil { // to be told at once what is wrong with it
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
			return nil, fmt.Errorf("%w: %s cannot lie between %g and %g: the bounds must be above 0, the lower one first", model.ErrInput, axis.Name, at.from, at.to)
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

// run tries the starts on a part of the data, goes on from the best of them on all, and
// returns the best model there, or if there was no time for any, of the part.
func (s *search) run(ctx context.Context) (Evaluation, error) {
	tied := slices.ContainsFunc(s.result.Over, func(h model.Hyperparameter) bool { return h.Feature > 0 })
	part := s.part()
	loose := &judge{problem: &s.problem, tolerance: looseTolerance}
	s.result.StartExamples = part.Set.N()
	rng := rand.New(rand.NewPCG(s.settings.Seed, 1))
	first := s.values(&s.spec)
	var ends []Evaluation
	for start := range s.settings.Starts {
		r := &descent{search: s, judge: loose, spec: part, start: start + 1, unit: firstStep, coordinates: s.coordinates(first, tied)}
		at := make([]float64, len(r.coordinates))
		for k := range at {
			if start > 0 {
				at[k] = randomReach * (2*rng.Float64() - 1)
			}
		}
		if end, ok := r.run(ctx, first, at); ok {
			ends = append(ends, end)
			s.result.Ends = append(s.result.Ends, end.Value)
		}
	}
	if len(ends) == 0 {
		return Evaluation{}, s.failure(ctx)
	}
	ends = distinct(ends)
	best := ends[0]
	if part.Set.N() == s.spec.Set.N() {
		if !tied {
			return best, nil
		}
	} else if len(ends) > 1 {
		best = s.best(ctx, ends)
	}
	r := &descent{search: s, judge: &judge{problem: &s.problem, tolerance: closeTolerance}, spec: s.spec, unit: closeFirstStep}
	r.coordinates = s.coordinates(best.Values, false)
	if last, ok := r.run(ctx, best.Values, make([]float64, len(r.coordinates))); ok {
		best = last
	}
	return best, nil
}

// distinct are the ends, the best first, that are nearly as good as the best and elsewhere.
func distinct(ends []Evaluation) (kept []Evaluation) {
	slices.SortStableFunc(ends, func(a, b Evaluation) int { return cmp.Compare(a.Value, b.Value) })
	for _, e := range ends {
		elsewhere := func(k Evaluation) bool {
			return !slices.EqualFunc(k.Values, e.Values, func(a, b float64) bool { return math.Abs(math.Log(a/b)) < samePlace })
		}
		near := len(kept) == 0 || e.Value-kept[0].Value <= nearValue*math.Abs(kept[0].Value)
		if near && !slices.ContainsFunc(kept, func(k Evaluation) bool { return !elsewhere(k) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// best is the best of some ends on all data, or where none could be judged the first.
func (s *search) best(ctx context.Context, ends []Evaluation) Evaluation {
	best := Evaluation{Value: math.Inf(1)}
	for _, e := range ends {
		r := &descent{search: s, judge: &judge{problem: &s.problem, tolerance: closeTolerance}, spec: s.spec, unit: 1,
			coordinates: s.coordinates(e.Values, false), from: e.Values, best: best, ctx: ctx}
		r.value(make([]float64, len(e.Values)))
		best = r.best
	}
	if math.IsInf(best.Value, 1) {
		return ends[0]
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

// part is the model of the examples on which starts are tried.
func (s *search) part() model.Spec {
	size := subsetRegression
	if s.spec.Set.Task == dataset.Classification {
		size = subsetLabels
	}
	part := s.spec
	if n := s.spec.Set.N(); s.spec.Kernel.Kind != kernel.Precomputed && float64(n) > worthSubset*float64(size) {
		part.Set = s.spec.Set.Subset(model.Representative(s.spec.Set, size))
	}
	return part
}

// descent is one run of L-BFGS on one data set.
type descent struct {
	*search
	judge       *judge
	spec        model.Spec
	start       int
	unit        float64 // length of the first step
	coordinates []coordinate

	from    []float64 // values where all coordinates are 0
	at      []float64 // the last point that was judged, and its model
	last    judged
	best    Evaluation
	settled bool // the last step was too short to be worth one
	ctx     context.Context
}

var errStop = errors.New("stopped")

// run descends from a point, and returns the best model that it met.
func (r *descent) run(ctx context.Context, from, at []float64) (Evaluation, bool) {
	r.ctx, r.from, r.best = ctx, from, Evaluation{Value: math.Inf(1)}
	if r.stopped() {
		return r.best, false
	}
	z := make([]float64, len(at))
	for k := range z {
		z[k] = r.coordinates[k].outside(at[k]) / r.unit
	}
	// Whatever ends it, a line search without progress, say, the best model is kept.
	converged := &optimize.FunctionConverge{Relative: progressRelative, Iterations: progressSteps}
	if r.problem.By == Evidence {
		converged.Relative, converged.Absolute = 0, progressAbsolute
	}
	_, _ = optimize.Minimize(optimize.Problem{Func: r.value, Grad: r.gradient}, z, &optimize.Settings{
		Converger: converged, GradientThreshold: 1e-6, Recorder: r,
	}, &optimize.LBFGS{})
	return r.best, !math.IsInf(r.best.Value, 1)
}

func (r *descent) stopped() bool {
	return r.ctx.Err() != nil || len(r.result.Path) >= r.settings.MaxEvaluations
}

// Init and Record are an optimize.Recorder that ends the run where it is to stop.
func (r *descent) Init() error { return nil }

// Record is see Init.
func (r *descent) Record(*optimize.Location, optimize.Operation, *optimize.Stats) error {
	if r.stopped() || r.settled {
		return errStop
	}
	return nil
}

// model is the specification at a point, and the values of the hyperparameters.
func (r *descent) model(z []float64) (model.Spec, []float64, error) {
	spec, values := r.spec, slices.Clone(r.from)
	for k, c := range r.coordinates {
		x, _ := c.inside(z[k] * r.unit)
		for _, member := range c.members {
			values[member] *= math.Exp(x)
			if err := r.result.Over[member].Set(&spec, values[member]); err != nil {
				return spec, values, err
			}
		}
	}
	return spec, values, nil
}

// value judges a point; +Inf, which shortens the step, where that fails.
func (r *descent) value(z []float64) float64 {
	if r.stopped() {
		return math.Inf(1)
	}
	spec, values, err := r.model(z)
	if err == nil {
		r.last, err = r.judge.value(r.ctx, spec)
	}
	if fatal(err) {
		return math.Inf(1)
	}
	e := Evaluation{Start: r.start, Examples: r.spec.Set.N(), Values: values, Value: r.last.value}
	if err != nil {
		e.Value, e.Failure = math.NaN(), err.Error()
		r.result.Failures++
	}
	r.result.Path = append(r.result.Path, e)
	r.settled = len(r.at) > 0 && r.unit*floats.Distance(z, r.at, math.Inf(1)) < settledStep
	r.at = append(r.at[:0], z...)
	if e.Value < r.best.Value {
		r.best = e
	}
	if r.settings.Progress != nil {
		r.settings.Progress(e, r.best.Value)
	}
	if err != nil {
		return math.Inf(1)
	}
	return e.Value
}

// gradient is that of the last point that was judged; 0, which ends the run, where there is
// none.
func (r *descent) gradient(gradient, z []float64) {
	clear(gradient)
	if !slices.Equal(z, r.at) && math.IsInf(r.value(z), 1) || r.last.gradient == nil {
		return
	}
	over, err := r.last.gradient(r.ctx, r.result.Over)
	if err != nil || floats.HasNaN(over) {
		r.result.Failures++
		return
	}
	for k, c := range r.coordinates {
		_, slope := c.inside(z[k] * r.unit)
		for _, member := range c.members {
			gradient[k] += r.unit * slope * over[member]
		}
	}
}
