package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/linalg"
	"bootbench/loss"
)

// Limits of the general iteration. Counts are refreshes per converged cell of
// BenchmarkGrid without Newton's method, where they came to 13.4, 98.8% of the cells
// converging.
const (
	innerPasses   = 12   // passes at fixed G between two refreshes; 3: 17.1, none: 24.4
	passAgreement = 0.1  // they stop at this share of the square of the distance to the next cavities
	innerReach    = 3    // distance up to which there are any; from farther off they more often mislead
	mixingReach   = 0.3  // distance up to which sweeps are accelerated; never: 18.4
	mixingDepth   = 6    // sweeps that the acceleration remembers; 3 to 15 differ little
	innerDepth    = 8    // passes that theirs remembers
	smallestStep  = 0.2  // of a damped sweep; undamped: 12.0, but 96.4% converge
	stepGrowth    = 1.4  // of the step after a sweep that came nearer
	hesitation    = 4    // sweeps without a smaller distance before passes are left out, or taken up again
	giveUp        = 60   // the same before giving up; no cell that converges takes more than 78 in all
	rounded       = 20   // residual over the goal up to which rounding may be beaten
	giveWay       = 12   // the same before a path is tried
	retreats      = 8    // halvings of a step whose G does not factorise
	roughReach    = 0.1  // distance from which a sweep may be in single precision
	roughNewton   = 0.02 // the same for what a Newton step is expected to leave, the square of the distance
	roughError    = 2e-3 // what single precision may err by there
	sightOfGoal   = 100  // change of the cavities, in goals, up to which the two sides of T6 are compared
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
// is no compromise. Damping, acceleration and Newton's method therefore act on
// the cavities.
//
// Far from the fixed point plain sweeps, helped by passes, find the way best.
// Near it Newton's method needs few refreshes, and does not care whether sweeps
// would contract. Where neither gets anywhere, a path does.
type general struct {
	*run
	began       time.Time
	respondents *respondents
	at, next    cavities   // where the sites answered, and what G then says
	home        cavities   // the last at whose G factorised
	stand       parameters // where G stands
	kept        parameters // their answer to home
	passes      *passes
	mixing      *mixing
	newton      *newton // nil where it is not to be had
	distance    float64 // from at to next
	last        float64 // the same one sweep ago
	recent      lowest  // distance, since inner passes were taken up or left out
	overall     lowest  // distance, since the start
	stepSize    float64
	noPasses    bool
	goal        float64       // residual to reach
	moving      time.Duration // of G since Progress was told last
	astray      bool          // G does not stand where stand says
	far         bool          // the next G is too far from the goal to be more than rough
	rough       bool          // G is in single precision
	double      bool          // single precision is given up
	rank        int           // of K within rounding, as far as it was needed
	crowded     bool          // there is no room for Newton's method
	cause       error         // what last ended sweeps that have left G
	stage       Stage         // of the search
	found       bool          // sweeps without the factor of K have converged
	way         *way          // the path, in stage Detouring
	standing    bool          // G was brought to where a State says, within the stage
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
	x := &general{
		run: r, began: time.Now(), respondents: s,
		at: newCavities(n), next: newCavities(n), home: newCavities(n),
		stand: newParameters(n), kept: newParameters(n),
		passes: newPasses(s), mixing: newMixing(3*n, mixingDepth), goal: r.settings.Tolerance, rank: n,
	}
	_, whole := r.problem.Gram.(*linalg.Sym)
	if r.settings.Steps == Mixed && r.settings.Skip&SkipNewton == 0 {
		if newtonFits(n, whole, r.settings.MaxBytes) {
			x.newton = newNewton(s)
		}
		x.crowded = x.newton == nil && n <= newtonMost(whole)
	}
	x.double = r.settings.Steps == ExactOnly || r.settings.Skip&SkipSingle != 0 || n < worthSingle
	x.anew()
	return x
}

// anew forgets how the iteration went so far.
func (x *general) anew() {
	x.mixing.forget()
	x.last, x.stepSize, x.noPasses = math.Inf(1), 1, false
	x.recent, x.overall = lowest{value: math.Inf(1)}, lowest{value: math.Inf(1)}
	if x.newton != nil {
		x.newton.reach = newtonReach
	}
}

// settleGeneral iterates to the fixed point and leaves G there, and g and u in
// the Solution. When ctx ends, sites are asked no more and the iterate before stays; a
// refresh, once begun, is finished, and one more follows where G was rough or the step
// had failed. The residual is then that of the cavities alone.
func (r *run) settleGeneral(ctx context.Context) error {
	x := r.newGeneral()
	x.respondents.ended = func() bool { return ctx.Err() != nil }
	if err := x.open(); errors.Is(err, errEnded) {
		return ctx.Err()
	} else if err != nil {
		return err
	}
	x.Status = x.search(ctx)
	x.conclude()
	if x.astray || x.rough {
		if err := x.comeBack(); err != nil {
			return err
		}
	}
	x.SiteMean, x.SiteVariance = x.stand.g, x.stand.u
	if x.Status == Cancelled {
		return nil
	}
	x.respondents.ended = func() bool { return false } // what is found is found
	if x.Status != Converged {
		x.respondents.read(x.next, x.stand)
		raise(&x.Residual, x.respondents.disagreement(x.next, x.stand))
	}
	clamped, capped := x.respondents.limited(x.home)
	x.Stats.Capped = capped
	if clamped > 0 {
		x.Warnings = append(x.Warnings, fmt.Sprintf("%d sites would widen the posterior, which no site precision d >= 0 can say: their d is held at 0", clamped))
	}
	x.explain()
	return nil
}

// factorRoom is the memory for a factor of K: what Newton's method leaves of
// Settings.MaxBytes.
func (r *run) factorRoom() int64 {
	if r.settings.MaxBytes == 0 {
		return 0
	}
	if room := r.settings.MaxBytes - MarginBytes(len(r.sites), true, r.settings.MaxBytes); room > 0 {
		return room
	}
	return -1
}

// distrust turns to the factor of K, and reports whether that makes a difference
// at the last G.
func (x *general) distrust() bool {
	rank, used := x.engine.UseFactor(x.kept.d, x.factorRoom())
	x.rank = rank
	return used
}

// explain says what a solve without an end has met.
func (x *general) explain() {
	if x.Status != Converged && x.cause != nil {
		x.Warnings = append(x.Warnings, x.cause.Error())
	}
	if x.Status != Converged && x.Status != Cancelled && x.crowded {
		x.Warnings = append(x.Warnings, "there was no memory for Newton's method, which finds what sweeps do not")
	}
	if x.Status == Converged || x.rank == len(x.sites) {
		return
	}
	x.Warnings = append(x.Warnings, fmt.Sprintf(
		"the kernel matrix of %d inputs has rank %d within rounding, too little for this margin in most resamples: %d inputs are pinned as hard as rounding allows; a jitter of 1e-6 of its diagonal, or a soft margin, makes the problem regular",
		len(x.sites), x.rank, x.Stats.Capped))
}

// unknownDistance stands for that of the start value: too far for acceleration.
const unknownDistance = 1

// begin takes the first sweep, from the start value.
func (x *general) begin() error {
	if err := x.start(); err != nil {
		return err
	}
	if x.respondents.ended() {
		x.stay()
		return errEnded
	}
	x.far = x.settings.From == nil
	if err := x.refresh(); err != nil {
		return asProblem(err)
	}
	if x.settings.From != nil && x.respondents.share == 1 {
		x.anew()
		return x.observe()
	}
	x.expand()
	x.respondents.read(x.at, x.stand)
	err := x.observe()
	x.anew()
	x.distance = unknownDistance
	return err
}

// sweeps sweeps until it has a Status, which is that of the place where it
// leaves G.
func (x *general) sweeps(ctx context.Context, patience int) Status {
	for {
		x.note()
		if done, status := x.done(ctx); done {
			return status
		}
		if x.overall.since >= patience {
			return Stalled
		}
		if x.newton != nil && x.distance < x.newton.reach {
			x.approach(ctx)
			if x.astray {
				if err := x.settleBack(); err != nil {
					return x.lose(err)
				}
			}
			continue
		}
		x.propose()
		x.ahead()
		if err := x.move(); err != nil {
			return x.lose(err)
		}
	}
}

// errEnded ends what has been called off.
var errEnded = errors.New("called off")

// errNotFinite ends an iteration that has left the numbers.
var errNotFinite = errors.New("the sites' answers are not finite")

// observe reads the next cavities off G, and the residual. Where one is not a
// number it gives up without touching what it has kept.
func (x *general) observe() error {
	x.expand()
	x.Stats.Sweeps++
	x.respondents.read(x.next, x.stand)
	step := distance(x.next, x.at)
	residual := x.respondents.moved(x.next, x.at)
	if residual < sightOfGoal*x.goal { // from farther off only the end asks, see settleGeneral
		raise(&residual, x.respondents.disagreement(x.next, x.stand))
	}
	if math.IsNaN(residual) || math.IsNaN(step) || math.IsInf(step, 0) {
		return errNotFinite
	}
	x.distance, x.Residual = step, residual
	x.recent.see(x.distance)
	x.overall.see(x.distance)
	copy(x.home, x.at)
	x.kept.copy(x.stand)
	x.tell()
	return nil
}

// expand makes all of G available.
func (x *general) expand() {
	defer x.clock(time.Now())
	x.engine.FormG()
}

// tell tells Progress of the sweep.
func (x *general) tell() {
	if x.settings.Progress == nil {
		return
	}
	kind := "exact"
	if x.rough {
		kind = "single"
	}
	x.settings.Progress(Sweep{Number: x.Stats.Sweeps, Kind: kind, Residual: x.Residual, Elapsed: time.Since(x.began), Step: x.moving})
	x.moving = 0
}

// done decides whether the iteration ends here.
func (x *general) done(ctx context.Context) (bool, Status) {
	switch {
	case ctx.Err() != nil: // before all else: the residual may not be complete
		return true, Cancelled
	case x.Residual <= x.goal && !x.rough:
		return true, Converged
	case x.Stats.Sweeps >= x.settings.MaxSweeps:
		return true, SweepLimit
	}
	return false, 0
}

// propose moves at: to next, or to where inner passes lead from there, by a
// part of the way while the distance does not fall, and by an accelerated step
// near the fixed point. Inner passes that get nowhere are left out for a while.
func (x *general) propose() {
	plain := x.settings.Steps == ExactOnly
	x.far = x.distance > roughReach
	if x.recent.since >= hesitation {
		x.noPasses, x.recent = !x.noPasses, lowest{value: math.Inf(1)}
		x.mixing.forget()
	}
	if !plain && !x.noPasses && x.distance < innerReach {
		x.Stats.Passes += x.passes.improve(x.next, passAgreement*x.distance*x.distance)
	}
	last := x.last
	x.last = x.distance
	if !plain && x.distance < mixingReach {
		x.stepSize = 1
		x.mixing.propose(x.at, x.next)
		return
	}
	x.mixing.forget()
	x.damp(x.distance > last)
	x.at.towards(x.next, x.stepSize)
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

// visit moves G to what the sites answer to at.
func (x *general) visit() error {
	x.respondents.answer(x.stand, x.at)
	if x.respondents.ended() { // the answers are not complete
		x.stay()
		return errEnded
	}
	x.astray = true
	if err := x.refresh(); err != nil {
		return err
	}
	err := x.observe()
	x.astray = err != nil
	return err
}

// stay takes back a step before G has moved.
func (x *general) stay() {
	copy(x.at, x.home)
	x.stand.copy(x.kept)
}

// refresh moves G to stand: in single precision where that will do, at half the
// cost.
func (x *general) refresh() error {
	defer x.clock(time.Now())
	if x.rough = x.refreshSingle(); x.rough {
		return nil
	}
	if err := x.engine.Factorize(x.stand.d); err != nil {
		return err
	}
	x.Stats.Refreshes.Exact++
	return nil
}

// clock adds the time from began on to that of moving G.
func (x *general) clock(began time.Time) { x.moving += time.Since(began) }

// refreshSingle does so far from the goal, if its rounding leaves the way there. It
// reports false where it does not, or breaks down.
func (x *general) refreshSingle() bool {
	if x.double || !x.far || x.respondents.share < 1 || x.goal > roughError || x.engine.SingleError(x.stand.d) > roughError {
		return false
	}
	if x.engine.FactorizeSingle(x.stand.d) != nil {
		x.double = true
		return false
	}
	x.Stats.Refreshes.Single++
	return true
}

// move visits at. Where rounding bars that, it goes half the way only, and so
// on.
func (x *general) move() error {
	var err error
	for range retreats {
		if err = x.visit(); err == nil || errors.Is(err, errEnded) {
			return err
		}
		x.mixing.forget()
		x.stepSize = smallestStep
		x.Stats.Damped++
		x.at.towards(x.home, 0.5)
	}
	return err
}

// lose ends sweeps that have left the last G that factorised, or been called off.
func (x *general) lose(cause error) Status {
	if errors.Is(cause, errEnded) {
		return Cancelled
	}
	x.cause, x.astray = cause, true
	return NumericalFailure
}

// settleBack comes back and looks again from there.
func (x *general) settleBack() error {
	if err := x.comeBack(); err != nil {
		return err
	}
	return x.observe()
}

// comeBack moves G to where it last factorised.
func (x *general) comeBack() error {
	x.stay()
	x.far = false
	if err := x.refresh(); err != nil {
		return err
	}
	x.engine.FormG()
	x.astray = false
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
	if x.settings.From != nil && x.respondents.share == 1 {
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
		if x.respondents.ended() {
			return c
		}
		sum, count := 0.0, 0
		for i := 0; i < len(x.stand.d); i += stride {
			sum += x.typicalResponse(i, c)
			count++
		}
		return sum / float64(count)
	})
	x.respondents.each(func(i int) {
		d := 0.0
		if x.settings.Start != nil {
			d = x.settings.Start[i]
		} else {
			d = x.typicalResponse(i, c)
		}
		x.stand.d[i], x.stand.g[i], x.stand.u[i] = d, d*x.meanTarget(i), d*x.respondents.unit*x.respondents.unit
	})
	return nil
}

// typicalResponse is the d of site i at the cavity of a typical site.
func (x *general) typicalResponse(i int, c float64) float64 {
	y := x.problem.Y[x.sites[i].examples[0]]
	unit := x.respondents.unit
	m := x.respondents.moments(i, loss.Cavity{C: c, Mean: typicalMargin * y, Var: unit * unit})
	return c * m.Shrinkage / math.Max(m.Response, smallestKeep)
}

// meanTarget is the mean target of site i.
func (x *general) meanTarget(i int) float64 {
	mean := 0.0
	for _, example := range x.sites[i].examples {
		mean += x.problem.Y[example] / float64(len(x.sites[i].examples))
	}
	return mean
}
