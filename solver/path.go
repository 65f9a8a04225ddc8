package solver

import (
	"context"
	"math"

	"bootbench/resample"
)

// Limits of a path.
const (
	pathStart  = 0.1  // -log of the smallest p(0) at its start
	pathEnd    = 25   // the same at the most before its end
	pathGrowth = 1.6  // of that from step to step, at first
	pathGoal   = 1e-2 // distance along the path
	pathHalves = 4    // halvings of a step in the logarithm
	pathReach  = 10   // distance from where Newton's method is tried
	pathSweeps = 200  // sweeps at most
)

// detour looks for the fixed point along a path of problems: every site is
// present with a part of its probability only, t, and t grows to 1. At small t
// hardly a site is there, and sweeps converge; from there on the last
// fixed point is near enough for Newton's method. Where the path ends early, the
// iteration returns to where it was.
func (x *general) detour(ctx context.Context) Status {
	status, residual := x.Status, x.Residual
	home, kept := newCavities(len(x.sites)), newParameters(len(x.sites))
	copy(home, x.home)
	kept.copy(x.kept)
	found := x.path(ctx)
	x.respondents.share, x.goal = 1, x.settings.Tolerance
	if found == Converged {
		return found
	}
	copy(x.home, home)
	x.kept.copy(kept)
	x.Residual, x.astray = residual, true
	if found == Cancelled || found == SweepLimit {
		return found
	}
	return status
}

// path goes along it and returns Converged at its end.
func (x *general) path(ctx context.Context) Status {
	certain := x.certainty()
	at := math.Min(pathStart, certain)
	x.present(at, certain)
	x.goal = pathGoal
	x.astray = false
	began := x.Stats.Sweeps
	if err := x.begin(); err != nil {
		return x.lose(err)
	}
	if status := x.sweeps(ctx, giveWay); status != Converged {
		return status
	}
	n := len(x.at)
	last, before, tried := make(cavities, n), make(cavities, n), 0.0
	growth := math.Log(pathGrowth)
	copy(last, x.at)
	for halves := 0; at < certain; {
		to := at * math.Exp(growth)
		if to >= math.Min(certain, pathEnd) {
			to = certain
		}
		copy(x.at, last)
		if tried > 0 && to < pathEnd {
			ahead := math.Log(to/at) / tried
			for i, v := range before {
				x.at[i] += ahead * (last[i] - v)
			}
		}
		x.present(to, certain)
		x.anew()
		x.newton.reach = pathReach
		err := x.visit()
		if err == nil && x.distance < pathReach {
			x.approach(ctx)
		}
		if err == nil && x.distance < pathGoal {
			copy(before, last)
			copy(last, x.at)
			tried = math.Log(to / at)
			at = to
			halves = max(0, halves-1)
			growth = math.Min(growth*1.3, math.Log(pathGrowth))
			continue
		}
		if done, status := x.done(ctx); done && status != Converged {
			return status
		}
		if halves++; halves > pathHalves || x.Stats.Sweeps > began+pathSweeps {
			return Stalled
		}
		growth /= 2
	}
	x.goal = x.settings.Tolerance
	x.approach(ctx)
	if done, status := x.done(ctx); done {
		return status
	}
	return Stalled
}

// certainty is -log of the smallest p(0) of a site.
func (x *general) certainty() float64 {
	most := 0.0
	for i := range x.sites {
		most = math.Max(most, -math.Log(resample.Zero(x.problem.Law, len(x.sites[i].examples))))
	}
	return most
}

// present thins the sites so that the smallest p(0) is e^-at.
func (x *general) present(at, certain float64) {
	x.respondents.share = 1
	if at < certain {
		x.respondents.share = -math.Expm1(-at) / -math.Expm1(-certain)
	}
}
