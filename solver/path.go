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

// way is a path in progress: how far it has come and where it goes, in -log of the
// smallest p(0), and where it returns to if it ends early.
type way struct {
	at, to   float64  // at 0: nowhere yet
	last     cavities // at at
	behind   cavities // one step before
	step     float64  // logarithm of the step from there; 0: none
	growth   float64  // logarithm of the next step
	halves   int      // of it in a row
	began    int      // Stats.Sweeps at the start
	home     cavities
	kept     parameters
	residual float64
	status   Status
}

// newWay is a path that returns to where the iteration is.
func (x *general) newWay() *way {
	n := len(x.sites)
	w := &way{last: newCavities(n), behind: newCavities(n), growth: math.Log(pathGrowth), began: x.Stats.Sweeps,
		home: newCavities(n), kept: newParameters(n), residual: x.Residual, status: x.Status}
	copy(w.home, x.home)
	w.kept.copy(x.kept)
	return w
}

// detour looks for the fixed point along a path of problems: every site is
// present with a part of its probability only, t, and t grows to 1. At small t
// hardly a site is there, and sweeps converge; from there on the last
// fixed point is near enough for Newton's method. Where the path ends early, the
// iteration returns to where it was.
func (x *general) detour(ctx context.Context) Status {
	if x.way == nil {
		x.way = x.newWay()
	}
	found := x.path(ctx)
	w := x.way
	x.way, x.respondents.share, x.goal = nil, 1, x.settings.Tolerance
	if found == Converged {
		return found
	}
	copy(x.home, w.home)
	x.kept.copy(w.kept)
	x.Residual, x.astray = w.residual, true
	if found == Cancelled || found == SweepLimit {
		return found
	}
	return w.status
}

// path goes along it and returns Converged at its end.
func (x *general) path(ctx context.Context) Status {
	w, certain := x.way, x.certainty()
	x.goal = pathGoal
	if w.at == 0 {
		if status := x.depart(ctx, certain); status != Converged {
			return status
		}
	}
	for w.at < certain {
		var err error
		if !x.resumed() {
			w.to = w.at * math.Exp(w.growth)
			if w.to >= math.Min(certain, pathEnd) {
				w.to = certain
			}
			copy(x.at, w.last)
			if w.step > 0 && w.to < pathEnd {
				ahead := math.Log(w.to/w.at) / w.step
				for i, v := range w.behind {
					x.at[i] += ahead * (w.last[i] - v)
				}
			}
			x.present(w.to, certain)
			x.anew()
			x.newton.reach = pathReach
			err = x.visit()
		}
		if err == nil && x.distance < pathReach {
			x.approach(ctx)
		}
		if err == nil && x.distance < pathGoal {
			copy(w.behind, w.last)
			copy(w.last, x.at)
			w.step = math.Log(w.to / w.at)
			w.at = w.to
			w.halves = max(0, w.halves-1)
			w.growth = math.Min(w.growth*1.3, math.Log(pathGrowth))
			continue
		}
		if done, status := x.done(ctx); done && status != Converged {
			return status
		}
		if w.halves++; w.halves > pathHalves || x.Stats.Sweeps > w.began+pathSweeps {
			return Stalled
		}
		w.growth /= 2
	}
	x.goal = x.settings.Tolerance
	x.approach(ctx)
	if done, status := x.done(ctx); done {
		return status
	}
	return Stalled
}

// depart takes the first leg of a path, by sweeps.
func (x *general) depart(ctx context.Context, certain float64) Status {
	w := x.way
	if !x.resumed() {
		w.to = math.Min(pathStart, certain)
		x.present(w.to, certain)
		x.astray = false
		if err := x.begin(); err != nil {
			return x.lose(err)
		}
	}
	status := x.sweeps(ctx, giveWay)
	if status == Converged {
		w.at = w.to
		copy(w.last, x.at)
	}
	return status
}

// certainty is -log of the smallest p(0) of a site.
func (x *general) certainty() float64 {
	most := 0.0
	for i := range x.sites {
		most = math.Max(most, -math.Log(resample.ProbZero(x.problem.Law, len(x.sites[i].examples))))
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
