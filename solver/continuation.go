package solver

import (
	"context"
	"math"

	"bootbench/resample"
)

// Limits of a continuation. Its parameter is -log of the smallest p(0).
const (
	pathStart        = 0.1  // parameter of the first point
	pathEnd          = 25   // of the last before the end, at the most
	pathGrowth       = 1.6  // factor from point to point, at most
	pathRegrowth     = 1.3  // by what a step's logarithm grows again after a point that was found
	pathTol          = 1e-2 // residual and distance of its points
	pathHalvings     = 4    // halvings of a step's logarithm
	pathNewtonRadius = 10   // distance from where Newton's method is tried
	pathSweeps       = 200  // sweeps at most
)

// continuation is the last resort: it looks for the fixed point along a path of problems
// by a predictor-corrector method (Allgower and Georg). Every site is
// present with a part of its probability only, and that part grows to 1. At its start
// hardly a site is there, and sweeps converge; from there on the last
// point is near enough for Newton's method. Where the path ends early, the
// iteration returns to where it was.
func (x *fixedPoint) continuation(ctx context.Context) Status {
	if x.search.Continuation == nil {
		x.search.Continuation = &Continuation{End: x.maxLogP0(), Growth: math.Log(pathGrowth),
			FirstSweep: x.Stats.Sweeps, Origin: x.accepted.clone(), Status: x.Status}
	}
	c := x.search.Continuation
	x.tol = pathTol
	t := c.follow(ctx, x)
	x.search.Continuation, x.model.presence, x.tol = nil, 1, x.settings.Tolerance
	if t == nil {
		return Converged
	}
	x.accepted.copyFrom(&c.Origin)
	x.gStale = true
	if t.status == Cancelled || t.status == SweepLimit {
		return t.status
	}
	return c.Status
}

// follow goes from point to point to the end of the path, where it solves the problem
// itself.
func (c *Continuation) follow(ctx context.Context, x *fixedPoint) *trouble {
	if c.At == 0 {
		if t := c.firstPoint(ctx, x); t != nil {
			return t
		}
	}
	for c.At < c.End {
		if t := c.advance(ctx, x); t != nil {
			return t
		}
	}
	x.tol = x.settings.Tolerance
	x.newton.correct(ctx, x)
	return x.stopped(ctx)
}

// stopped is nil where the iteration has converged, else why it has not.
func (x *fixedPoint) stopped(ctx context.Context) *trouble {
	switch done, status := x.done(ctx); {
	case !done:
		return &trouble{status: Stalled}
	case status != Converged:
		return &trouble{status: status}
	}
	return nil
}

// firstPoint finds the first point by sweeps.
func (c *Continuation) firstPoint(ctx context.Context, x *fixedPoint) *trouble {
	if !x.takeResumed() {
		c.To = math.Min(pathStart, c.End)
		c.setPresence(x)
		if t := x.start(); t != nil {
			x.fail(t)
			return t
		}
	}
	if status := x.iterate(ctx, stallContinuation); status != Converged {
		return &trouble{status: status}
	}
	c.At, c.Last = c.To, append(c.Last[:0], x.accepted.Cavities...)
	return nil
}

var _ strategy = (*Continuation)(nil)

// advance is the strategy on a path, one step: a secant predictor, then Newton's method. Where that
// does not find the next point, the next step is smaller.
func (c *Continuation) advance(ctx context.Context, x *fixedPoint) *trouble {
	var t *trouble
	if !x.takeResumed() {
		t = c.predict(x)
	}
	if t == nil && x.accepted.Distance < pathNewtonRadius {
		x.newton.correct(ctx, x)
	}
	if t == nil && x.accepted.Distance < pathTol {
		c.accept(x.accepted.Cavities)
		return nil
	}
	if done, status := x.done(ctx); done && status != Converged {
		return &trouble{status: status}
	}
	if c.Halvings++; c.Halvings > pathHalvings || x.Stats.Sweeps > c.FirstSweep+pathSweeps {
		return &trouble{status: Stalled}
	}
	c.Growth /= 2
	return nil
}

// predict evaluates the next point's cavities extrapolated from the last two.
func (c *Continuation) predict(x *fixedPoint) *trouble {
	c.To = c.At * math.Exp(c.Growth)
	if c.To >= math.Min(c.End, pathEnd) {
		c.To = c.End
	}
	copy(x.trial.Cavities, c.Last)
	if c.Step > 0 && c.To < pathEnd {
		ahead := math.Log(c.To/c.At) / c.Step
		for i, v := range c.Previous {
			x.trial.Cavities[i] += ahead * (c.Last[i] - v)
		}
	}
	c.setPresence(x)
	x.resetAcceleration()
	x.search.NewtonRadius = pathNewtonRadius
	return x.evaluate(false)
}

// accept takes the next point as the last.
func (c *Continuation) accept(point Cavities) {
	c.Previous, c.Last = c.Last, append(c.Previous[:0], point...)
	c.Step = math.Log(c.To / c.At)
	c.At = c.To
	c.Halvings = max(0, c.Halvings-1)
	c.Growth = math.Min(c.Growth*pathRegrowth, math.Log(pathGrowth))
}

// maxLogP0 is the parameter of the problem itself, -log of the smallest p(0) of a site.
func (x *fixedPoint) maxLogP0() float64 {
	most := 0.0
	for i := range x.sites {
		most = math.Max(most, -math.Log(resample.ProbZero(x.problem.Law, len(x.sites[i].examples))))
	}
	return most
}

// setPresence thins the sites so that the smallest p(0) is e^-To.
func (c *Continuation) setPresence(x *fixedPoint) {
	x.model.presence = 1
	if c.To < c.End {
		x.model.presence = -math.Expm1(-c.To) / -math.Expm1(-c.End)
	}
}
