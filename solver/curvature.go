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
	farOff         = 0.6  // residual above which approximate steps cost more than they gain
	diagonalSteps  = 40   // approximate steps between two refreshes at most
	updateShare    = 16   // a low-rank update moves at most M/updateShare sites
	updatesInARow  = 8    // low-rank updates between two factorisations at most
	negligible     = 0.1  // share of the tolerance below which a site need not move
	patience       = 4    // sweeps without a new best residual before damping
	impatience     = 12   // the same before giving up
	relativeToMax  = 1e-3 // part of the largest share d chi that the relative change of small d is measured against
	innerAgreement = 0.1  // approximate steps stop when they change d by this share of the last residual
	typicalSites   = 16   // sites whose mean response stands for all in the start value
	parallelSites  = 256  // sites per task
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
}

// settle iterates d to its fixed point and leaves G there.
func (r *run) settle(ctx context.Context) error {
	n := len(r.sites)
	c := &curvature{run: r, began: time.Now(), best: math.Inf(1), stepSize: 1}
	for _, v := range []*[]float64{&c.next, &c.move, &c.last, &c.chi, &c.b} {
		*v = make([]float64, n)
	}
	if err := c.start(); err != nil {
		return err
	}
	for sweep := 1; ; sweep++ {
		kind, err := c.refresh()
		if err != nil && sweep == 1 {
			return asProblem(err)
		}
		if err != nil {
			return c.retreat(err)
		}
		copy(c.last, c.engine.Sites())
		chi, b := c.engine.Diag()
		c.respond(c.next, chi, b)
		c.Stats.Sweeps++
		c.Residual = change(c.next, c.engine.Sites(), chi)
		if c.settings.Progress != nil {
			c.settings.Progress(Sweep{Number: sweep, Kind: kind, Residual: c.Residual, Elapsed: time.Since(c.began)})
		}
		if done, status := c.done(ctx, sweep); done {
			c.Status = status
			return nil
		}
		c.propose()
	}
}

// start leaves the start value of d in next: the caller's, or the response of
// every site to the common cavity (M03-61, 62).
func (c *curvature) start() error {
	if c.settings.Start != nil {
		copy(c.next, c.settings.Start)
		return nil
	}
	s, err := newSpectrum(c.problem.Gram, c.settings.Seed)
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

// refresh moves G to next: by a low-rank update when few sites move, else by a
// factorisation.
func (c *curvature) refresh() (kind string, err error) {
	if sites, delta := c.active(); len(sites) > 0 {
		err := c.engine.Update(sites, delta)
		if err == nil {
			c.updates++
			c.Stats.Refreshes.Woodbury++
			return "woodbury", nil
		}
		if !errors.Is(err, linalg.ErrUpdate) {
			return "", err
		}
	}
	c.updates = 0
	c.Stats.Refreshes.Exact++
	return "exact", c.engine.Refresh(c.next)
}

// active lists the sites that move by more than a negligible part of the
// tolerance, and their moves, if a low-rank update can serve them.
func (c *curvature) active() (sites []int, delta []float64) {
	if c.settings.Steps == ExactOnly || c.Stats.Refreshes.Exact == 0 || c.updates >= updatesInARow {
		return nil, nil
	}
	d := c.engine.Sites()
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
	}
	switch {
	case c.Residual <= c.settings.Tolerance:
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
	if c.settings.Steps == Mixed && !c.plain && c.Residual < farOff {
		c.diagonalSteps()
	}
	if c.since > 0 && c.since%patience == 0 {
		c.stepSize /= 2
	}
	if c.stepSize < 1 {
		c.Stats.Damped++
		for i, d := range c.engine.Sites() {
			c.next[i] = d + c.stepSize*(c.next[i]-d)
		}
	}
}

// diagonalSteps iterates d on the model of diag(G) around the last exact one
// (T12, M03-67), while the model is valid and still moves d.
func (c *curvature) diagonalSteps() {
	c.engine.Expand()
	d := c.engine.Sites()
	for range diagonalSteps {
		for i := range c.move {
			c.move[i] = c.next[i] - d[i]
		}
		valid := c.engine.Estimate(c.move, c.chi, c.b)
		if !valid {
			return
		}
		c.respond(c.move, c.chi, c.b)
		moved := change(c.move, c.next, c.chi)
		copy(c.next, c.move)
		c.Stats.Sweeps++
		c.Stats.Refreshes.Diagonal++
		if moved < innerAgreement*c.Residual*c.Residual || moved < negligible*c.settings.Tolerance {
			return
		}
	}
}

// retreat ends the solve at the last d that factorised.
func (c *curvature) retreat(cause error) error {
	c.Status = NumericalFailure
	c.Warnings = append(c.Warnings, cause.Error())
	c.Stats.Refreshes.Exact++
	return c.engine.Refresh(c.last)
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
