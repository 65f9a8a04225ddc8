package solver

import (
	"context"
	"math"

	"bootbench/linalg"
	"bootbench/loss"
)

// precisionIteration is the iteration for the square loss, whose d does not depend on the targets (T10). Like
// fixedPoint it evaluates a point, decides, and proposes the next; its point is d, and a sweep needs only the
// diagonal of G:
//
//	d -> G -> chi, b -> c = b/chi -> d.
type precisionIteration struct {
	run      *run
	accepted []float64 // d of the last G
	next     []float64 // response to this G, then the d of the next G
	estimate estimate  // nil: none
	update   gUpdate
	monitor  monitor // of the residual
	single   bool    // G is in single precision
}

// Limits of the iteration.
const (
	stallDamp       = 4  // sweeps without a new best residual before damping
	stallStopSquare = 12 // before giving up
	// fraction of the largest d chi that bounds the scale of relative changes from below
	relativeFloor = 1e-3
	parallelSites = 256 // sites per task
)

// solveQuadratic iterates d, and with it G, to the fixed point.
func (r *run) solveQuadratic(ctx context.Context) error {
	c := newPrecisionIteration(r)
	if err := c.start(); err != nil {
		return err
	}
	for sweep := 1; ; sweep++ {
		err := c.update.moveG(c, sweep)
		if err != nil && sweep == 1 {
			return asProblem(err)
		}
		if err != nil {
			return c.fail(err)
		}
		c.updateResidual()
		c.run.reportProgress(sweep, c.run.Residual)
		if done, status := c.done(ctx, sweep); done {
			c.run.Status = status
			return c.refineToDouble()
		}
		c.propose()
	}
}

func newPrecisionIteration(r *run) *precisionIteration {
	n := len(r.sites)
	c := &precisionIteration{run: r, accepted: make([]float64, n), next: make([]float64, n),
		monitor: newMonitor()}
	c.estimate, c.update = r.settings.Steps.strategies(n)
	c.monitor.Plain = c.estimate == nil
	return c
}

// updateResidual computes the sites' response d to G, and the residual.
func (c *precisionIteration) updateResidual() {
	copy(c.accepted, c.run.engine.Precisions())
	chi, b := c.run.engine.Diag()
	c.respond(c.next, chi, b)
	c.run.Stats.Sweeps++
	c.run.Residual = relativeChange(c.next, c.accepted, chi)
}

// refineToDouble recomputes G in double precision for the read-outs.
func (c *precisionIteration) refineToDouble() error {
	if !c.single {
		return nil
	}
	copy(c.next, c.accepted)
	if err := c.factorize(); err != nil {
		return c.fail(err)
	}
	c.updateResidual()
	return nil
}

// fail ends the solve at the last d that factorised.
func (c *precisionIteration) fail(cause error) error {
	c.run.Status = NumericalFailure
	c.run.warn("%v", cause)
	copy(c.next, c.accepted)
	return c.factorize()
}

// start sets next to the start value of d: the one of Settings.From, or every site's response to the
// homogeneous cavity (M03-61, 62).
func (c *precisionIteration) start() error {
	if from := c.run.settings.From; from != nil {
		copy(c.next, from.SitePrecision)
		for i, q := range c.run.quadratic {
			if from.SitePrecision == nil {
				c.next[i] = precision(q, from.Cavity[i].C)
			}
		}
		return nil
	}
	common, err := c.run.homogeneousCavity(true, rootError, func(i int, cavity float64) float64 {
		return precision(c.run.quadratic[i], cavity)
	})
	if err != nil {
		return err
	}
	for i, q := range c.run.quadratic {
		c.next[i] = precision(q, common)
	}
	return nil
}

// precision is d = 1/A1 - c without the difference (M03-55): o/A1, with o = 1 - c A1
// the site's shrinkage at cavity precision c.
func precision(q loss.Quadratic, c float64) float64 {
	a1, shrinkage, _, _ := q.Responses(c)
	return shrinkage / a1
}

// factorize computes G at next in double precision.
func (c *precisionIteration) factorize() error {
	c.single = false
	return c.run.refresh(c.next)
}

// respond computes the sites' response d to the diagonals chi and b.
func (c *precisionIteration) respond(dst, chi, b []float64) {
	n := len(dst)
	linalg.Parallel((n+parallelSites-1)/parallelSites, func(task int) {
		for i := task * parallelSites; i < min(n, (task+1)*parallelSites); i++ {
			if c.run.Method == Variational {
				dst[i] = variationalPrecision(c.run, i, chi[i])
			} else {
				dst[i] = precision(c.run.quadratic[i], cavityPrecision(chi[i], b[i]))
			}
		}
	})
}

// done decides whether the iteration ends.
func (c *precisionIteration) done(ctx context.Context, sweep int) (bool, Status) {
	c.monitor.best.update(c.run.Residual)
	if c.monitor.best.Since > 0 && c.single {
		c.run.noSingle = true
	}
	switch {
	case c.run.Residual <= c.run.settings.Tolerance && !c.single || c.run.Method == StartOnly:
		return true, Converged
	case math.IsNaN(c.run.Residual):
		return true, NumericalFailure
	case sweep >= c.run.settings.MaxSweeps:
		return true, SweepLimit
	case ctx.Err() != nil:
		return true, Cancelled
	case c.monitor.best.Since >= stallStopSquare:
		return true, Stalled
	}
	return false, 0
}

// propose improves next by estimates around the present G, and damps the step once the residual has
// stopped decreasing.
func (c *precisionIteration) propose() {
	m := &c.monitor
	if !m.Plain && m.best.Since >= stallStopSquare/2 {
		*m = newMonitor()
		m.Plain = true
	}
	if !m.Plain {
		c.estimate.improve(c)
	}
	if m.best.Since > 0 && m.best.Since%stallDamp == 0 {
		m.StepLength /= 2
	}
	if m.StepLength < 1 {
		c.run.Stats.Damped++
		for i, d := range c.run.engine.Precisions() {
			c.next[i] = d + m.StepLength*(c.next[i]-d)
		}
	}
}

// relativeChange is the largest change from d to next, relative to d_i plus a thousandth of max_j(d_j
// chi_j)/chi_i. (A thousandth of the largest d would hide most sites behind one of many examples and little
// noise.) NaN if any entry is.
func relativeChange(next, d, chi []float64) float64 {
	largest := largestShrinkage(d, chi)
	worst := 0.0
	for i, v := range next {
		if v != d[i] { // both may be zero
			maxNaN(&worst, math.Abs(v-d[i])/(d[i]+scaleFloor(largest, chi[i])))
		}
	}
	return worst
}

// largestShrinkage is the largest d_i chi_i, in [0, 1).
func largestShrinkage(d, chi []float64) float64 {
	largest := 0.0
	for i, v := range d {
		largest = math.Max(largest, v*chi[i])
	}
	return largest
}

// scaleFloor is the least scale of d in a relative change.
func scaleFloor(largest, chi float64) float64 {
	return relativeFloor * largest / math.Max(chi, smallestVariance)
}
