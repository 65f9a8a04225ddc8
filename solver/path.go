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
	pathGoal   = 1e-2 // residual along the path
	pathHalves = 6    // halvings of a step in the logarithm
	pathReach  = 3    // distance from where Newton's method is tried
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
	if found == Converged || found == Cancelled && status != Stalled {
		return found
	}
	copy(x.home, home)
	x.kept.copy(kept)
	x.Residual, x.astray = residual, true
	return status
}

// path goes along it and returns Converged at its end.
func (x *general) path(ctx context.Context) Status {
	certain := x.certainty()
	at := math.Min(pathStart, certain)
	x.present(at, certain)
	x.goal = pathGoal
	x.astray = false
	if err := x.begin(); err != nil {
		return NumericalFailure
	}
	if status := x.sweeps(ctx); status != Converged {
		return status
	}
	n := len(x.at)
	last, before, tried := make(cavities, n), make(cavities, n), 0.0
	growth := math.Log(pathGrowth)
	copy(last, x.at)
	for halves := 0; at < certain; {
		to := math.Min(at*math.Exp(growth), certain)
		if to >= pathEnd {
			to = certain
		}
		copy(x.at, last)
		if tried > 0 {
			ahead := math.Log(to/at) / tried
			if to >= pathEnd {
				ahead = 0
			}
			for i, v := range before {
				x.at[i] += ahead * (last[i] - v)
			}
		}
		x.present(to, certain)
		x.anew()
		x.newton.reach = pathReach
		if to == certain {
			x.goal = x.settings.Tolerance
		}
		err := x.visit()
		if err == nil && x.distance < pathReach && x.approach(ctx) {
			copy(before, last)
			copy(last, x.at)
			tried = math.Log(to / at)
			at = to
			halves = max(0, halves-1)
			growth = math.Min(growth*1.3, math.Log(pathGrowth))
			continue
		}
		if done, status := x.done(ctx); done && status != Stalled {
			return status
		}
		if halves++; halves > pathHalves {
			return Stalled
		}
		x.goal = pathGoal
		growth /= 2
	}
	return Converged
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
