package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/loss"
)

// Limits of the general iteration. Counts are refreshes per converged cell of
// BenchmarkGrid: 13.4 as it stands, 98.8% of the cells converging.
const (
	innerPasses   = 12  // passes at fixed G between two refreshes; 3: 17.1, none: 24.4
	passAgreement = 0.1 // they stop at this share of the square of the distance to the next cavities
	innerReach    = 3   // distance up to which there are any; from farther off they more often mislead
	mixingReach   = 0.3 // distance up to which sweeps are accelerated; never: 18.4
	mixingDepth   = 6   // sweeps that the acceleration remembers; 3 to 15 differ little
	innerDepth    = 8   // passes that theirs remembers
	smallestStep  = 0.2 // of a damped sweep; undamped: 12.0, but 96.4% converge
	stepGrowth    = 1.4 // of the step after a sweep that came nearer
	hesitation    = 4   // sweeps without a smaller distance before passes are left out, or taken up again
	giveUp        = 60  // the same before giving up; no cell that converges takes more than 78 in all
	retreats      = 8   // halvings of a step whose G does not factorise
)

// general is the iteration for losses whose d depends on the targets (T4-T6).
// Its state are the cavities. One sweep goes from cavities to what the sites
// answer, moves G there, and reads the next cavities off G:
//
//	(c, m_c, V_c) -> (d, g, u = -lambda) -> G -> (c, m_c, V_c).
//
// The cavities of all sites are of a like magnitude and move smoothly. The site
// parameters, which one could iterate as well, run over decades: for a hard
// margin d/c lies between 0 and 1/p(0), and a step half-way between two such d
// is no compromise. Damping and acceleration therefore act on the cavities.
//
// At given c and V_c a sweep is Newton's method for m = K alpha, alpha_i = c_i
// (E f_k - m_c): the d of an answer is -d alpha/d m.
type general struct {
	*run
	began       time.Time
	respondents *respondents
	at, next    cavities   // where the sites answered, and what G then says
	home        cavities   // the last at whose G factorised
	stand       parameters // where G stands
	answer      parameters // of the sites to next: one sweep further
	kept        parameters // their answer to home
	passes      *passes
	mixing      *mixing
	distance    float64 // from at to next
	last        float64 // the same one sweep ago
	recent      lowest  // distance, since inner passes were taken up or left out
	overall     lowest  // distance, since the start
	stepSize    float64
	noPasses    bool
}

// lowest follows a number's smallest value and how long ago it was seen.
type lowest struct {
	value float64
	since int
}

func (l *lowest) see(v float64) {
	l.since++
	if v < l.value {
		l.value, l.since = v, 0
	}
}

// newGeneral makes room for an iteration over n sites.
func (r *run) newGeneral() *general {
	n := len(r.sites)
	s := newRespondents(r)
	return &general{
		run: r, began: time.Now(), respondents: s, stepSize: 1,
		at: newCavities(n), next: newCavities(n), home: newCavities(n),
		stand: newParameters(n), answer: newParameters(n), kept: newParameters(n),
		passes: newPasses(s), mixing: newMixing(3*n, mixingDepth),
		last: math.Inf(1), recent: lowest{value: math.Inf(1)}, overall: lowest{value: math.Inf(1)},
	}
}

// settleGeneral iterates to the fixed point and leaves G there, and g and u in
// the Solution.
func (r *run) settleGeneral(ctx context.Context) error {
	x := r.newGeneral()
	if err := x.start(); err != nil {
		return err
	}
	if err := x.engine.Refresh(x.stand.d); err != nil {
		return asProblem(err)
	}
	for sweep := 1; ; sweep++ {
		err := x.observe(sweep)
		if err != nil && sweep == 1 {
			return err
		}
		done, status := false, NumericalFailure
		if err == nil {
			done, status = x.done(ctx, sweep)
		}
		if err == nil && !done {
			x.propose(sweep)
			if err = x.move(); err == nil {
				continue
			}
			status = NumericalFailure
		}
		if err != nil {
			if err := x.retreat(err); err != nil {
				return err
			}
		}
		x.Status = status
		x.Gamma, x.Scatter = x.stand.g, x.stand.u
		x.Stats.Capped = x.respondents.capped(x.home)
		return nil
	}
}

// errNotFinite ends an iteration that has left the numbers.
var errNotFinite = errors.New("the sites' answers are not finite")

// observe reads the next cavities off G, and the residual. Where one is not a
// number it gives up without touching what it has kept.
func (x *general) observe(sweep int) error {
	x.engine.Expand()
	x.Stats.Sweeps++
	x.Stats.Refreshes.Exact++
	x.respondents.read(x.next, x.stand)
	if sweep == 1 {
		copy(x.at, x.next)
	}
	x.respondents.answer(x.answer, x.next)
	chi, _ := x.engine.Diag()
	step, residual := distance(x.next, x.at), x.answer.change(x.stand, chi)
	if math.IsNaN(residual) || math.IsNaN(step) || math.IsInf(step, 0) {
		return errNotFinite
	}
	x.distance, x.Residual = step, residual
	copy(x.home, x.at)
	x.kept.copy(x.stand)
	if x.settings.Progress != nil {
		x.settings.Progress(Sweep{Number: sweep, Kind: "exact", Residual: x.Residual, Elapsed: time.Since(x.began)})
	}
	return nil
}

// done decides whether the iteration ends here.
func (x *general) done(ctx context.Context, sweep int) (bool, Status) {
	if sweep > 1 {
		x.recent.see(x.distance)
		x.overall.see(x.distance)
	}
	switch {
	case x.Residual <= x.settings.Tolerance:
		return true, Converged
	case sweep >= x.settings.MaxSweeps:
		return true, SweepLimit
	case ctx.Err() != nil:
		return true, Cancelled
	case x.overall.since >= giveUp:
		return true, Stalled
	}
	return false, 0
}

// propose moves at: to next, or to where inner passes lead from there, by a
// part of the way while the distance does not fall, and by an accelerated step
// near the fixed point. Inner passes that get nowhere are left out for a while.
func (x *general) propose(sweep int) {
	plain := x.settings.Steps == ExactOnly
	if x.recent.since >= hesitation {
		x.noPasses, x.recent = !x.noPasses, lowest{value: math.Inf(1)}
		x.mixing.forget()
	}
	if !plain && !x.noPasses && x.distance < innerReach {
		x.Stats.Passes += x.passes.improve(x.next, passAgreement*x.distance*x.distance)
	}
	last := x.last
	x.last = x.distance
	switch {
	case sweep == 1:
		x.last = math.Inf(1)
		copy(x.at, x.next)
	case !plain && x.distance < mixingReach:
		x.stepSize = 1
		x.mixing.propose(x.at, x.next)
	default:
		x.mixing.forget()
		x.damp(x.distance > last)
		x.at.towards(x.next, x.stepSize)
	}
}

// damp takes shorter steps after one that led away, else longer ones.
func (x *general) damp(away bool) {
	if away {
		x.stepSize = math.Max(x.stepSize/2, smallestStep)
	} else {
		x.stepSize = math.Min(x.stepSize*stepGrowth, 1)
	}
	if x.stepSize < 1 {
		x.Stats.Damped++
	}
}

// move moves G to what the sites answer to at. Where rounding bars that, it goes
// half the way only, and so on.
func (x *general) move() error {
	var err error
	for range retreats {
		x.respondents.answer(x.stand, x.at)
		if err = x.engine.Refresh(x.stand.d); err == nil {
			return nil
		}
		x.mixing.forget()
		x.stepSize = smallestStep
		x.Stats.Damped++
		x.at.towards(x.home, 0.5)
	}
	return err
}

// retreat goes back to the last G that factorised.
func (x *general) retreat(cause error) error {
	x.Warnings = append(x.Warnings, cause.Error())
	x.Stats.Refreshes.Exact++
	x.stand.copy(x.kept)
	if err := x.engine.Refresh(x.stand.d); err != nil {
		return err
	}
	x.engine.Expand()
	return nil
}

// typicalMargin is how deep in its own class the cavity of a typical site
// stands at the start, in standard deviations (M04 section 5).
const typicalMargin = 1.5

// start leaves the start value in stand. From a neighbouring Solution it is the
// answer to its cavities. Otherwise it is one common d, g = y d and u = d y^2
// (M03-61, M04 section 5): the common cavity's precision c solves 1/G(d) - d = c
// with d the response of typical sites.
//
// The random subset of the sites stands for itself here, as M03 has it: with
// its eigenvalues rescaled, d G(d) cannot exceed the subset's share of a K of
// low rank, and there may be no root.
func (x *general) start() error {
	if x.settings.From != nil {
		x.at.set(x.settings.From.Cavity, x.respondents)
		x.respondents.answer(x.stand, x.at)
		return nil
	}
	s, err := newSpectrum(x.problem.Gram, x.settings.Seed)
	if err != nil {
		return fmt.Errorf("start value: %w", err)
	}
	s.share = 1
	stride := max(1, len(x.stand.d)/typicalSites)
	c := s.commonCavity(func(c float64) float64 {
		sum, count := 0.0, 0
		for i := 0; i < len(x.stand.d); i += stride {
			sum += x.typicalResponse(i, c)
			count++
		}
		return sum / float64(count)
	})
	for i := range x.stand.d {
		d := x.typicalResponse(i, c)
		if x.settings.Start != nil {
			d = x.settings.Start[i]
		}
		x.stand.d[i], x.stand.g[i], x.stand.u[i] = d, d*x.meanTarget(i), d*x.respondents.unit*x.respondents.unit
	}
	return nil
}

// typicalResponse is the d of site i at the cavity of a typical site.
func (x *general) typicalResponse(i int, c float64) float64 {
	y := x.problem.Y[x.sites[i].examples[0]]
	unit := x.respondents.unit
	m := x.sites[i].Moments(loss.Cavity{C: c, Mean: typicalMargin * y, Var: unit * unit})
	return c * m.Pull / math.Max(m.Keep, smallestKeep)
}

// meanTarget is the mean target of site i.
func (x *general) meanTarget(i int) float64 {
	mean := 0.0
	for _, example := range x.sites[i].examples {
		mean += x.problem.Y[example] / float64(len(x.sites[i].examples))
	}
	return mean
}
