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

	"bootbench/kernel"
	"bootbench/model"
	"bootbench/solver"
)

// Sizes and limits of the search.
const (
	screenExamples  = 100  // examples on which models all over the ranges are judged, if there are so many more
	startExamples   = 200  // the same of the starts
	worthSubset     = 1.25 // by how many times more
	screenPoints    = 6    // per coordinate
	screenReach     = 4    // they lie within a factor e^4 of the first
	screenApart     = 1    // difference of logarithms from which on two starts are not one
	screenTolerance = 1e-2 // of solves of these models
	looseTolerance  = 1e-3 // of solves from the starts
	closeTolerance  = 1e-4 // of solves on all data
	// relative difference from the best end up to which another is judged on all data too
	nearValue        = 0.03
	samePlace        = 0.5  // difference of logarithms below which it is in the same place
	nearEnd          = 0.3  // the same where a start follows an earlier one to its end, and need not
	asGood           = 5e-3 // relative difference from the end of an earlier start at which a start ends, too
	progressRelative = 3e-3 // decrease of the value over progressSteps steps below which a run on all data ends
	progressAbsolute = 3e-4 // the same of the evidence, which may be near 0
	progressLoose    = 3    // by what more a run on a part must decrease
	progressSteps    = 2
	gentleSlope      = 2e-3 // of the value by a logarithm, relative to it, on which a run on all data may end
	firstStep        = 1    // length of the first step of a start, in logarithms
	closeFirstStep   = 0.3  // the same from the best of the starts
	probeStep        = 1.4  // from the best model to either side, in logarithms
	probeGain        = 1e-3 // relative
	settledStep      = 1e-3 // step that does not move a model
)

// search is a Run in progress.
type search struct {
	problem  Problem
	settings Settings
	spec     model.Spec
	spans    []span // of the hyperparameters
	result   Result
	close    *solver.Solution // of the last model on all data
}

func newSearch(p Problem, settings Settings) (*search, error) {
	if err := p.complete(); err != nil {
		return nil, err
	}
	if len(p.Over) == 0 {
		return nil, fmt.Errorf("%w: there is nothing to choose", model.ErrInput)
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

// run looks at models all over the ranges on a small part of the data, descends from the best of
// them on a larger part, goes on from the best end on all, and returns the best model that was
// judged on as many examples as any.
func (s *search) run(ctx context.Context) (Evaluation, error) {
	tied := slices.ContainsFunc(s.result.Over, func(h model.Hyperparameter) bool { return h.Feature > 0 })
	part := s.subset(startExamples)
	s.result.StartExamples = part.Set.N()
	var ends []Evaluation
	starts := s.screen(ctx, tied)
	for k, from := range starts {
		r := s.descent(ctx, part, looseTolerance, from, tied)
		r.start, r.unit = k+1, firstStep
		r.ends = ends
		// what follows starts from its last solution
		if all := part.Set.N() == s.spec.Set.N(); all && k == len(starts)-1 {
			r.run()
			s.close = r.judge.last
		} else {
			for _, e := range s.part(ctx, fmt.Sprintf("start %d", k+1), r.run) {
				r.notice(e)
			}
		}
		if !math.IsInf(r.best.Value, 1) {
			ends = append(ends, r.best)
			s.result.Ends = append(s.result.Ends, r.best.Value)
		}
	}
	if s.settings.Direct {
		ends = []Evaluation{{Values: s.values(&s.spec)}}
	}
	whole := part.Set.N() == s.spec.Set.N() && !s.settings.Direct
	if ends = apart(ends, samePlace, len(ends)); len(ends) > 0 && (tied || !whole) {
		r := s.best(ctx, ends, whole)
		r.run()
		s.close = r.judge.last
	}
	best := s.least()
	if math.IsInf(best.Value, 1) {
		return best, s.failure(ctx)
	}
	if best.Examples == s.spec.Set.N() && !s.settings.Direct {
		s.probe(ctx, best)
	}
	return s.least(), nil
}

// least is the best of the models that were judged on as many examples as any.
func (s *search) least() Evaluation {
	best := Evaluation{Value: math.Inf(1)}
	for _, e := range s.result.Path {
		if e.Failure == "" && (e.Examples > best.Examples || e.Examples == best.Examples && e.Value < best.Value) {
			best = e
		}
	}
	return best
}

// probe looks on either side of the best model, beyond what may be a ridge between two valleys, and
// goes on from the first model there that is better by more than what solves leave.
func (s *search) probe(ctx context.Context, best Evaluation) {
	r := s.descent(ctx, s.spec, closeTolerance, best.Values, true)
	r.judge.last = s.close
	for k, c := range r.coordinates {
		for _, step := range []float64{-probeStep, probeStep} {
			x := make([]float64, len(r.coordinates))
			if x[k] = step; step <= c.lo || step >= c.hi ||
				!(r.value(r.outside(x)) < best.Value-probeGain*math.Abs(best.Value)) {
				continue
			}
			on := s.descent(ctx, s.spec, closeTolerance, r.best.Values, false)
			on.unit, on.judge.last = closeFirstStep, r.judge.last
			on.run()
			s.close = on.judge.last
			return
		}
	}
}

// screen judges the first values and points all over the ranges on a small part, and returns the
// values of the best that are apart from each other, one for each start.
func (s *search) screen(ctx context.Context, tied bool) (starts [][]float64) {
	if s.settings.Direct {
		return nil
	}
	r := s.descent(ctx, s.subset(screenExamples), screenTolerance, s.values(&s.spec), tied)
	r.start = 1
	points := mat.NewDense(screenPoints*len(r.coordinates), len(r.coordinates), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(r.coordinates), nil),
		Src: rand.NewPCG(s.settings.Seed, 1)}.Sample(points)
	points.Apply(func(_, _ int, v float64) float64 { return screenReach * (2*v - 1) }, points)
	judged := s.part(ctx, "screen", func() {
		r.value(r.origin())
		for i := range points.RawMatrix().Rows {
			r.judge.last = nil // which is far off
			r.value(r.outside(points.RawRowView(i)))
		}
	})
	for _, e := range apart(judged, screenApart, s.settings.Starts) {
		starts = append(starts, e.Values)
	}
	return starts
}

// apart are the best of some evaluations, the best first, count at most, whose
// logarithms differ by a distance from those of all better ones.
func apart(all []Evaluation, distance float64, count int) (kept []Evaluation) {
	all = slices.DeleteFunc(slices.Clone(all), func(e Evaluation) bool { return e.Failure != "" })
	slices.SortStableFunc(all, func(a, b Evaluation) int { return cmp.Compare(a.Value, b.Value) })
	for _, e := range all {
		if len(kept) < count && !slices.ContainsFunc(kept, func(k Evaluation) bool { return k.near(e, distance) }) {
			kept = append(kept, e)
		}
	}
	return kept
}

// best is a descent on all data from the best there of the ends that are nearly as good as the first,
// or where none can be judged from the first; so too with first.
func (s *search) best(ctx context.Context, ends []Evaluation, first bool) (best *descent) {
	for _, e := range ends {
		r := s.descent(ctx, s.spec, closeTolerance, e.Values, false)
		r.unit = closeFirstStep
		if best == nil {
			best = r
		}
		if first || len(ends) == 1 || e.Value-ends[0].Value > nearValue*math.Abs(ends[0].Value) {
			break
		}
		r.judge.last = best.judge.last
		r.ready = !math.IsInf(r.value(r.origin()), 1)
		if r.best.Value < best.best.Value {
			best = r
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

// subset is the model of so many of the examples, where there are many more.
func (s *search) subset(size int) model.Spec {
	part := s.spec
	if n := s.spec.Set.N(); s.spec.Kernel.Kind != kernel.Precomputed && float64(n) > worthSubset*float64(size) {
		part.Set = s.spec.Set.Subset(model.Representative(s.spec.Set, size))
		part.Storage, part.RankTol, part.MaxRank = model.Exact, 0, 0
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
	ready   bool // for a run from there
	best    Evaluation
	ends    []Evaluation // of earlier starts
	settled bool         // the last step was too short to be worth one
	ctx     context.Context
}

func (s *search) descent(ctx context.Context, spec model.Spec, tolerance float64, from []float64,
	tied bool) *descent {
	return &descent{search: s, judge: &judge{problem: &s.problem, tolerance: tolerance}, spec: spec, unit: 1,
		coordinates: s.coordinates(from, tied), from: from, best: Evaluation{Value: math.Inf(1)}, ctx: ctx}
}

// outside is the point of coordinates x.
func (r *descent) outside(x []float64) []float64 {
	z := make([]float64, len(x))
	for k, c := range r.coordinates {
		z[k] = c.outside(x[k]) / r.unit
	}
	return z
}

// origin is where all coordinates are 0.
func (r *descent) origin() []float64 { return r.outside(make([]float64, len(r.coordinates))) }

var errStop = errors.New("stopped")

// run descends from where all coordinates are 0, and notes the best model that it meets.
func (r *descent) run() {
	if r.stopped() {
		return
	}
	z := r.origin()
	// Whatever ends it, a line search without progress, say, the best model is kept.
	converged := &noProgress{FunctionConverge: optimize.FunctionConverge{Relative: progressRelative,
		Iterations: progressSteps}, slope: r.unit * gentleSlope}
	if r.problem.By == Evidence {
		converged.Relative, converged.Absolute, converged.slope = 0, progressAbsolute, math.Inf(1)
	}
	if r.spec.Set.N() < r.search.spec.Set.N() {
		converged.Relative, converged.Absolute, converged.slope = progressLoose*converged.Relative,
			progressLoose*converged.Absolute, math.Inf(1)
	}
	_, _ = optimize.Minimize(optimize.Problem{Func: r.value, Grad: r.gradient}, z, &optimize.Settings{
		Converger: converged, GradientThreshold: 1e-6, Recorder: r,
	}, &optimize.LBFGS{})
}

// noProgress ends a descent whose value falls no more, but not on a slope: a long valley falls by
// little in a step.
type noProgress struct {
	optimize.FunctionConverge
	slope float64 // relative to the value
}

func (c *noProgress) Converged(at *optimize.Location) optimize.Status {
	s := c.FunctionConverge.Converged(at)
	if floats.Norm(at.Gradient, math.Inf(1)) > c.slope*math.Abs(at.F) {
		return optimize.NotTerminated
	}
	return s
}

func (r *descent) stopped() bool {
	return r.ctx.Err() != nil || len(r.result.Path) >= r.settings.MaxEvaluations
}

// Init and Record are an optimize.Recorder that ends the run where it is to stop.
func (r *descent) Init() error { return nil }

// Record is called after every step.
func (r *descent) Record(*optimize.Location, optimize.Operation, *optimize.Stats) error {
	if r.stopped() || r.settled || slices.ContainsFunc(r.ends, func(e Evaluation) bool {
		return r.best.near(e, nearEnd) || math.Abs(r.best.Value-e.Value) < asGood*math.Abs(e.Value)
	}) {
		return errStop
	}
	return nil
}

// near reports whether the logarithms of all values differ by less than a distance.
func (e Evaluation) near(other Evaluation, distance float64) bool {
	return slices.EqualFunc(e.Values, other.Values,
		func(a, b float64) bool { return math.Abs(math.Log(a/b)) < distance })
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
	if r.ready && slices.Equal(z, r.at) {
		r.ready = false
		return r.last.value
	}
	spec, values, err := r.model(z)
	e := Evaluation{Start: r.start, Examples: r.spec.Set.N(), Values: values}
	if err == nil {
		if r.last, err = r.judge.value(r.ctx, spec); err == nil {
			e.Value = r.last.value
		}
	}
	if fatal(err) {
		return math.Inf(1)
	}
	if err != nil {
		e.Failure = err.Error()
	}
	r.last.value = e.Value
	if e.Failure != "" {
		r.result.Failures++
	}
	r.result.Path = append(r.result.Path, e)
	r.settled = len(r.at) > 0 && r.unit*floats.Distance(z, r.at, math.Inf(1)) < settledStep
	r.at = append(r.at[:0], z...)
	r.notice(e)
	if r.settings.Progress != nil {
		r.settings.Progress(e, r.best.Value)
	}
	if e.Failure != "" {
		return math.Inf(1)
	}
	return e.Value
}

// notice keeps the best model.
func (r *descent) notice(e Evaluation) {
	if e.Failure == "" && e.Value < r.best.Value {
		r.best = e
	}
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

// gradient is that of the last point that was judged; 0, which ends the run, where there is
// none.
func (r *descent) gradient(gradient, z []float64) {
	clear(gradient)
	if !slices.Equal(z, r.at) && math.IsInf(r.value(z), 1) || r.last.gradient == nil {
		return
	}
	over, err := r.last.gradient(r.ctx, r.result.Over)
	if err != nil || floats.HasNaN(over) {
		if !fatal(err) {
			r.result.Failures++
		}
		return
	}
	for k, c := range r.coordinates {
		_, slope := c.inside(z[k] * r.unit)
		for _, member := range c.members {
			gradient[k] += r.unit * slope * over[member]
		}
	}
}
