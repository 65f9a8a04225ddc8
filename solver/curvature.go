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

// Limits of the mixed steps.
const (
	diagonalSteps  = 40    // approximate steps between two refreshes at most
	updateShare    = 16    // a low-rank update moves at most M/updateShare sites
	updatesInARow  = 8     // low-rank updates between two factorisations at most
	negligible     = 0.1   // share of the tolerance below which a site need not move
	patience       = 4     // sweeps without a new best residual before damping
	impatience     = 12    // the same before giving up
	relativeToMax  = 1e-3  // part of the largest share d chi that the relative change of small d is measured against
	innerAgreement = 0.01  // approximate steps stop when they change d by this share of the square of the last residual
	typicalSites   = 16    // sites whose mean response stands for all in the start value
	parallelSites  = 256   // sites per task
	nearby         = 0.02  // residual from which a refresh in double precision leads to the end
	secondOrder    = 0.008 // residual after approximate steps, in squares of the leap, until it is known; 0.004 to 0.07 were seen
	worthSingle    = 128   // sites from which single precision gains

	coarseTolerance = 1e-4 // residual on a coarser kernel, whose fixed point is off by more
)

// curvature is the state of the iteration for d (T10).
type curvature struct {
	*run
	began    time.Time
	next     []float64 // d that the current G asks for, then what the next refresh moves to
	move     []float64 // next - d
	last     []float64 // d of the last refresh that worked
	chi, b   []float64 // approximate diagonals
	updates  int       // low-rank updates since the last factorisation
	best     float64   // smallest residual so far
	since    int       // sweeps since then
	stepSize float64   // 1, or less when damped
	plain    bool      // approximate steps have led nowhere and are given up
	coarse   bool      // G stands in single precision
	double   bool      // single precision is given up
	leap     float64   // largest |log| of the ratio of next to d, after approximate steps
	order    float64   // residual after approximate steps, in squares of the leap
	absent   bool      // G stands nowhere yet: the solve goes on from a State
}

// settle iterates d to its fixed point and leaves G there.
func (r *run) settle(ctx context.Context) error {
	n := len(r.sites)
	c := &curvature{run: r, began: time.Now(), best: math.Inf(1), stepSize: 1, leap: math.Inf(1), order: secondOrder}
	for _, v := range []*[]float64{&c.next, &c.move, &c.last, &c.chi, &c.b} {
		*v = make([]float64, n)
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	c.double = c.settings.Steps == ExactOnly || c.settings.Skip&SkipSingle != 0 || n < worthSingle || c.Method != ADATAP
	for sweep := c.Stats.Refreshes.moves() + 1; ; sweep++ {
		began, moved := time.Now(), c.moved()
		kind, err := c.refresh(sweep)
		if err != nil && sweep == 1 {
			return asProblem(err)
		}
		if err != nil {
			return c.retreat(err)
		}
		c.observe()
		c.tell(Sweep{Number: sweep, Kind: kind, Step: time.Since(began), Moved: moved})
		if done, status := c.done(ctx, sweep); done {
			c.Status = status
			c.keep(false)
			return c.inDouble()
		}
		c.propose()
		c.keep(true)
	}
}

// observe leaves in next what the sites answer to G, and the residual.
func (c *curvature) observe() {
	copy(c.last, c.engine.Precisions())
	chi, b := c.engine.Diag()
	c.respond(c.next, chi, b)
	c.Stats.Sweeps++
	c.Residual = change(c.next, c.engine.Precisions(), chi)
}

// tell completes what Progress is told.
func (c *curvature) tell(s Sweep) {
	if c.settings.Progress != nil {
		s.Residual, s.Elapsed, s.Estimates = c.Residual, time.Since(c.began), c.Stats.Refreshes.Diagonal
		c.settings.Progress(s)
	}
}

// inDouble makes G, where it stands, as exact as the read-outs need it.
func (c *curvature) inDouble() error {
	if !c.coarse {
		return nil
	}
	copy(c.next, c.last)
	if err := c.exact(); err != nil {
		return c.retreat(err)
	}
	c.observe()
	return nil
}

// start leaves the start value of d in next: the caller's, the fixed point on a
// coarser kernel, or the response of every site to the common cavity (M03-61, 62).
func (c *curvature) start(ctx context.Context) error {
	if c.settings.Resume != nil {
		return c.resume()
	}
	if c.settings.Start != nil {
		copy(c.next, c.settings.Start)
		return nil
	}
	if c.startCoarse(ctx) {
		return nil
	}
	s, err := c.spectrum()
	if err != nil {
		return fmt.Errorf("start value: %w", err)
	}
	stride := max(1, len(c.quadratic)/typicalSites)
	common := s.commonCavity(func(cavity float64) float64 {
		sum, count := 0.0, 0
		for i := 0; i < len(c.quadratic); i += stride {
			sum += precision(c.quadratic[i], cavity)
			count++
		}
		return sum / float64(count)
	})
	for i, q := range c.quadratic {
		c.next[i] = precision(q, common)
	}
	return nil
}

// spectrum is that of K for the start; on a coarser kernel, where sweeps cost
// little, of few sites.
func (c *curvature) spectrum() (spectrum, error) {
	if c.onCoarser {
		return roughSpectrum(c.problem.Gram, c.settings.Seed, fewSites)
	}
	return newSpectrum(c.problem.Gram, c.settings.Seed)
}

// startCoarse leaves the fixed point on the coarser kernel in next, if the kernel
// holds one: it differs from the fixed point sought by as much as the kernels do.
func (c *curvature) startCoarse(ctx context.Context) bool {
	if c.settings.Steps == ExactOnly || c.settings.Skip&SkipCoarse != 0 || c.Method == StartOnly {
		return false
	}
	coarser := c.coarser()
	if coarser == nil {
		return false
	}
	r := *c.run
	r.problem.Gram = coarser
	r.settings.Tolerance = math.Max(r.settings.Tolerance, coarseTolerance)
	r.settings.Progress, r.settings.Checkpoint, r.onCoarser = nil, nil, true
	r.Solution = &Solution{Method: c.Method, sites: c.sites, engine: coarser.Engine()}
	if r.settle(ctx) != nil || r.Status == NumericalFailure {
		return false
	}
	copy(c.next, r.engine.Precisions())
	c.leap = 0 // single precision would lead away again
	return true
}

// coarser is a kernel on which the fixed point is found at a small part of the
// cost, nil where there is none.
func (c *curvature) coarser() linalg.Kernel {
	if k, ok := c.problem.Gram.(linalg.MultilevelKernel); ok {
		if coarser, ok := k.Coarsen(); ok {
			return coarser
		}
	}
	return nil
}

// precision is d = 1/A1 - c without the difference (M03-55): o/A1, o = 1 - c A1
// the pull of the site at cavity precision c.
func precision(q loss.Quadratic, c float64) float64 {
	a1, pull, _, _ := q.Responses(c)
	return pull / a1
}

// smallestVariance stands for chi = 0, where K_ii = 0: the predictor is 0 there
// in every resample, which a c as large as this expresses without overflow of
// its fourth power.
const smallestVariance = 1e-70

// cavityPrecision is c = b/chi (T6).
func cavityPrecision(chi, b float64) float64 {
	return b / math.Max(chi, smallestVariance)
}

// refresh moves G to next: by a low-rank update when few sites move, in single
// precision when another refresh must follow anyway, else by a factorisation.
func (c *curvature) refresh(sweep int) (kind string, err error) {
	if c.absent {
		c.absent = false
		return "exact", c.exact()
	}
	if sites, delta := c.active(); len(sites) > 0 {
		err := c.engine.RankUpdate(sites, delta)
		if err == nil {
			c.updates++
			c.Stats.Refreshes.Woodbury++
			return "woodbury", nil
		}
		if !errors.Is(err, linalg.ErrUpdate) {
			return "", err
		}
	}
	if sweep < c.settings.MaxSweeps && c.single() {
		return "single", nil
	}
	return "exact", c.exact()
}

// exact factorises in double precision.
func (c *curvature) exact() error {
	c.updates, c.coarse = 0, false
	c.Stats.Refreshes.Exact++
	return c.engine.Factorize(c.next)
}

// single factorises in single precision, if its rounding allows the next
// refresh to be the last factorisation.
func (c *curvature) single() bool {
	engine := c.engine
	if c.double || c.order*c.leap*c.leap <= nearby || engine.SingleError(c.next) > nearby/4 {
		return false
	}
	if engine.FactorizeSingle(c.next) != nil {
		c.double = true
		return false
	}
	c.updates, c.coarse = 0, true
	c.Stats.Refreshes.Single++
	return true
}

// active lists the sites that move by more than a negligible part of the
// tolerance, and their moves, if a low-rank update can serve them.
func (c *curvature) active() (sites []int, delta []float64) {
	if c.settings.Steps == ExactOnly || c.settings.Skip&SkipUpdate != 0 || c.Stats.Refreshes.Exact == 0 || c.coarse || c.updates >= updatesInARow {
		return nil, nil
	}
	d := c.engine.Precisions()
	chi, _ := c.engine.Diag()
	limit := len(d) / updateShare
	share := largestShare(d, chi)
	for i, v := range c.next {
		if math.Abs(v-d[i]) > negligible*c.settings.Tolerance*(d[i]+floor(share, chi[i])) {
			if len(sites) == limit {
				return nil, nil
			}
			sites = append(sites, i)
			delta = append(delta, v-d[i])
		}
	}
	return sites, delta
}

// respond writes the d that the sites answer to the diagonals chi and b.
func (c *curvature) respond(dst, chi, b []float64) {
	n := len(dst)
	linalg.Parallel((n+parallelSites-1)/parallelSites, func(task int) {
		for i := task * parallelSites; i < min(n, (task+1)*parallelSites); i++ {
			if c.Method == Variational {
				dst[i] = c.variationalPrecision(i, chi[i])
			} else {
				dst[i] = precision(c.quadratic[i], cavityPrecision(chi[i], b[i]))
			}
		}
	})
}

// done decides whether the iteration ends here.
func (c *curvature) done(ctx context.Context, sweep int) (bool, Status) {
	if c.Residual < c.best {
		c.best, c.since = c.Residual, 0
	} else {
		c.since++
		c.double = c.double || c.coarse
	}
	switch {
	case c.Residual <= c.settings.Tolerance && !c.coarse:
		return true, Converged
	case c.Method == StartOnly:
		return true, Converged
	case math.IsNaN(c.Residual):
		return true, NumericalFailure
	case sweep >= c.settings.MaxSweeps:
		return true, SweepLimit
	case ctx.Err() != nil:
		return true, Cancelled
	case c.since >= impatience:
		return true, Stalled
	}
	return false, 0
}

// propose improves next by approximate diagonal steps around the exact G, for
// as long as they lead somewhere, and takes a part of the step only once the
// residual has stopped falling.
func (c *curvature) propose() {
	if c.settings.Steps == Mixed && !c.plain && c.since >= impatience/2 {
		c.plain, c.best, c.since, c.stepSize = true, math.Inf(1), 0, 1
	}
	if c.settings.Steps == Mixed && !c.plain {
		c.diagonalSteps()
	}
	if c.since > 0 && c.since%patience == 0 {
		c.stepSize /= 2
	}
	if c.stepSize < 1 {
		c.Stats.Damped++
		for i, d := range c.engine.Precisions() {
			c.next[i] = d + c.stepSize*(c.next[i]-d)
		}
	}
}

// diagonalSteps iterates d on the model of diag(G) around the last exact one,
// while it still moves d.
func (c *curvature) diagonalSteps() {
	engine := c.engine
	if c.skipsCoarse() {
		return
	}
	if leap := c.leap * c.leap; leap > 0 && !math.IsInf(leap, 1) {
		c.order = c.Residual / leap
	}
	engine.FormG()
	d := engine.Precisions()
	for range diagonalSteps {
		for i := range c.move {
			c.move[i] = c.next[i] - d[i]
		}
		engine.PredictDiag(c.move, c.chi, c.b)
		c.respond(c.move, c.chi, c.b)
		moved := change(c.move, c.next, c.chi)
		if math.IsNaN(moved) {
			break // the model is of no use here
		}
		copy(c.next, c.move)
		c.Stats.Sweeps++
		c.Stats.Refreshes.Diagonal++
		if moved < innerAgreement*c.Residual*c.Residual || moved < negligible*c.settings.Tolerance {
			break
		}
	}
	chi, _ := c.engine.Diag()
	share := largestShare(d, chi)
	c.leap = 0
	for i, v := range c.next {
		least := floor(share, chi[i])
		c.leap = math.Max(c.leap, math.Abs(math.Log((v+least)/(d[i]+least))))
	}
}

// skipsCoarse reports whether the engine is one whose estimates are left out.
func (c *curvature) skipsCoarse() bool {
	_, levelled := c.problem.Gram.(linalg.MultilevelKernel)
	return levelled && c.settings.Skip&SkipCoarse != 0
}

// moved counts the sites that are about to move by more than a negligible part
// of the tolerance.
func (c *curvature) moved() int {
	count := 0
	for i, d := range c.engine.Precisions() {
		if math.Abs(c.next[i]-d) > negligible*c.settings.Tolerance*d {
			count++
		}
	}
	return count
}

// retreat ends the solve at the last d that factorised.
func (c *curvature) retreat(cause error) error {
	c.Status = NumericalFailure
	c.Warnings = append(c.Warnings, cause.Error())
	copy(c.next, c.last)
	return c.exact()
}

// change is the largest change from d to next, relative to d_i plus a thousandth
// of what d_i would be if its share d_i chi_i of the response were as large as any
// site's. (A thousandth of the largest d would not do: one site of many examples
// and little noise has a d by orders of magnitude above the others, which would
// then not count.) NaN if any entry is.
func change(next, d, chi []float64) float64 {
	share := largestShare(d, chi)
	worst := 0.0
	for i, v := range next {
		r := math.Abs(v-d[i]) / (d[i] + floor(share, chi[i]))
		if v == d[i] {
			r = 0 // also where both are zero
		}
		if !(r <= worst) {
			worst = r
		}
	}
	return worst
}

// largestShare is the largest d_i chi_i, in [0, 1).
func largestShare(d, chi []float64) float64 {
	largest := 0.0
	for i, v := range d {
		largest = math.Max(largest, v*chi[i])
	}
	return largest
}

// floor is what d counts as at least when its relative change is measured.
func floor(share, chi float64) float64 {
	return relativeToMax * share / math.Max(chi, smallestVariance)
}
