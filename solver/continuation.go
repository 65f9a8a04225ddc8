package solver

import (
	"context"
	"math"

	"bootbench/resample"
)

// continuation is how far a path of problems has been followed, and where the iteration
// returns to if the path ends early.
type continuation struct {
	at         float64  // parameter of the last point; 0: there is none yet
	to         float64  // of the next
	end        float64  // of the problem itself
	growth     float64  // log of the next step's factor
	halvings   int      // of it in a row
	firstSweep int      // Stats.Sweeps at the start
	last       cavities // at at
	previous   cavities // one point before
	step       float64  // log of the factor from there to at; 0: there is no such point
	origin     iterate
	status     Status // of the solve at origin
}

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

// followPath is the last resort: it looks for the fixed point along a path of problems
// by a predictor-corrector method (Allgower and Georg). Every site is
// present with a part of its probability only, and that part grows to 1. At its start
// hardly a site is there, and sweeps converge; from there on the last
// point is near enough for Newton's method. Where the path ends early, the
// iteration returns to where it was.
func (x *fixedPoint) followPath(ctx context.Context) Status {
	c := &continuation{end: x.maxLogP0(), growth: math.Log(pathGrowth), firstSweep: x.Stats.Sweeps,
		origin: x.accepted.clone(), status: x.Status}
	x.tol = pathTol
	t := c.follow(ctx, x)
	x.model.presence, x.tol = 1, x.settings.Tolerance
	if t == nil {
		return Converged
	}
	x.accepted.copyFrom(&c.origin)
	x.gStale = true
	if t.status == Cancelled || t.status == SweepLimit {
		return t.status
	}
	return c.status
}

// follow goes from point to point to the end of the path, where it solves the problem
// itself.
func (c *continuation) follow(ctx context.Context, x *fixedPoint) *trouble {
	if t := c.firstPoint(ctx, x); t != nil {
		return t
	}
	for c.at < c.end {
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
func (c *continuation) firstPoint(ctx context.Context, x *fixedPoint) *trouble {
	c.to = math.Min(pathStart, c.end)
	c.setPresence(x)
	if t := x.start(); t != nil {
		x.fail(t)
		return t
	}
	if status := x.iterate(ctx, stallContinuation); status != Converged {
		return &trouble{status: status}
	}
	c.at, c.last = c.to, append(c.last[:0], x.accepted.cavities...)
	return nil
}

var _ strategy = (*continuation)(nil)

// advance is the strategy on a path, one step: a secant predictor, then Newton's method. Where that
// does not find the next point, the next step is smaller.
func (c *continuation) advance(ctx context.Context, x *fixedPoint) *trouble {
	t := c.predict(x)
	if t == nil && x.accepted.Distance < pathNewtonRadius {
		x.newton.correct(ctx, x)
	}
	if t == nil && x.accepted.Distance < pathTol {
		c.accept(x.accepted.cavities)
		return nil
	}
	if done, status := x.done(ctx); done && status != Converged {
		return &trouble{status: status}
	}
	if c.halvings++; c.halvings > pathHalvings || x.Stats.Sweeps > c.firstSweep+pathSweeps {
		return &trouble{status: Stalled}
	}
	c.growth /= 2
	return nil
}

// predict evaluates the next point's cavities extrapolated from the last two.
func (c *continuation) predict(x *fixedPoint) *trouble {
	c.to = c.at * math.Exp(c.growth)
	if c.to >= math.Min(c.end, pathEnd) {
		c.to = c.end
	}
	copy(x.trial.cavities, c.last)
	if c.step > 0 && c.to < pathEnd {
		ahead := math.Log(c.to/c.at) / c.step
		for i, v := range c.previous {
			x.trial.cavities[i] += ahead * (c.last[i] - v)
		}
	}
	c.setPresence(x)
	x.resetAcceleration()
	x.progress.newtonRadius = pathNewtonRadius
	return x.evaluate(false)
}

// accept takes the next point as the last.
func (c *continuation) accept(point cavities) {
	c.previous, c.last = c.last, append(c.previous[:0], point...)
	c.step = math.Log(c.to / c.at)
	c.at = c.to
	c.halvings = max(0, c.halvings-1)
	c.growth = math.Min(c.growth*pathRegrowth, math.Log(pathGrowth))
}

// maxLogP0 is the parameter of the problem itself, -log of the smallest p(0) of a site.
func (x *fixedPoint) maxLogP0() float64 {
	most := 0.0
	for i := range x.sites {
		most = math.Max(most, -math.Log(resample.ProbZero(x.problem.Law, len(x.sites[i].examples))))
	}
	return most
}

// setPresence thins the sites so that the smallest p(0) is e^-to.
func (c *continuation) setPresence(x *fixedPoint) {
	x.model.presence = 1
	if c.to < c.end {
		x.model.presence = -math.Expm1(-c.to) / -math.Expm1(-c.end)
	}
}
