package solver

import (
	"context"
	"errors"
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
	*run
	accepted   []float64 // d of the last G
	next       []float64 // response to this G, then the d of the next G
	prediction prediction
	monitor    monitor // of the residual
	updates    int     // rank updates since the last factorisation
	single     bool    // G is in single precision
}

// Limits of the iteration.
const (
	maxUpdateShare  = 16  // a rank update changes at most M/maxUpdateShare sites
	maxUpdates      = 8   // rank updates between two factorisations
	negligible      = 0.1 // fraction of the tolerance below which a change is neglected
	stallDamp       = 4   // sweeps without a new best residual before damping
	stallStopSquare = 12  // before giving up
	// fraction of the largest d chi that bounds the scale of relative changes from below
	relativeFloor  = 1e-3
	parallelSites  = 256  // sites per task
	singleResidual = 0.02 // residual below which refreshes are in double precision
	maxPredictions = 40   // predicted steps between two refreshes
	predictionTol  = 0.01 // they stop at changes of d below this times the square of the last residual
	// residual after predicted steps, in squares of the longest step, until it is known; 0.004 to 0.07 were seen
	quadraticConstant = 0.008
)

// solveQuadratic iterates d, and with it G, to the fixed point.
func (r *run) solveQuadratic(ctx context.Context) error {
	c := r.newPrecisionIteration()
	if err := c.start(); err != nil {
		return err
	}
	for sweep := 1; ; sweep++ {
		err := c.moveG(sweep)
		if err != nil && sweep == 1 {
			return asProblem(err)
		}
		if err != nil {
			return c.fail(err)
		}
		c.updateResidual()
		c.reportProgress(sweep, c.Residual)
		if done, status := c.done(ctx, sweep); done {
			c.Status = status
			return c.refineToDouble()
		}
		c.propose()
	}
}

func (r *run) newPrecisionIteration() *precisionIteration {
	n := len(r.sites)
	return &precisionIteration{run: r, accepted: make([]float64, n), next: make([]float64, n),
		monitor: newMonitor(), prediction: prediction{move: make([]float64, n), chi: make([]float64, n),
			b: make([]float64, n), logStep: math.Inf(1), errorConstant: quadraticConstant}}
}

// updateResidual computes the sites' response d to G, and the residual.
func (c *precisionIteration) updateResidual() {
	copy(c.accepted, c.engine.Precisions())
	chi, b := c.engine.Diag()
	c.respond(c.next, chi, b)
	c.Stats.Sweeps++
	c.Residual = c.relativeChange(c.next, c.accepted, chi)
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
	c.Status = NumericalFailure
	c.warn("%v", cause)
	copy(c.next, c.accepted)
	return c.factorize()
}

// start sets next to the start value of d: that of Settings.From, or every site's response to the homogeneous
// cavity (M03-61, 62).
func (c *precisionIteration) start() error {
	if c.settings.From != nil {
		copy(c.next, c.settings.From.SitePrecision)
		return nil
	}
	common, err := c.homogeneousCavity(true, func(i int, cavity float64) float64 {
		return precision(c.quadratic[i], cavity)
	})
	if err != nil {
		return err
	}
	for i, q := range c.quadratic {
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

// moveG updates G to next: by a rank update if few sites change, in single precision if another refresh must
// follow anyway, else by a factorisation.
func (c *precisionIteration) moveG(sweep int) error {
	if sites, delta := c.fewMoving(); len(sites) > 0 {
		err := c.rankUpdate(sites, delta)
		if err == nil {
			c.updates++
			return nil
		}
		if !errors.Is(err, linalg.ErrUpdate) {
			return err
		}
	}
	if sweep < c.settings.MaxSweeps && c.prediction.residual() > singleResidual &&
		c.refreshSingle(c.next, singleResidual/4) {
		c.updates, c.single = 0, true
		return nil
	}
	return c.factorize()
}

// factorize computes G at next in double precision.
func (c *precisionIteration) factorize() error {
	c.updates, c.single = 0, false
	return c.refresh(c.next)
}

// fewMoving lists the sites with changes that are not negligible, and these, if a rank update is possible.
func (c *precisionIteration) fewMoving() (sites []int, delta []float64) {
	if c.settings.Plain || c.Stats.Refreshes.Exact == 0 || c.single ||
		c.updates >= maxUpdates {
		return nil, nil
	}
	d := c.engine.Precisions()
	chi, _ := c.engine.Diag()
	limit := len(d) / maxUpdateShare
	largest := c.largestShrinkage(d, chi)
	for i, v := range c.next {
		if math.Abs(v-d[i]) > negligible*c.settings.Tolerance*(d[i]+scaleFloor(largest, chi[i])) {
			if len(sites) == limit {
				return nil, nil
			}
			sites = append(sites, i)
			delta = append(delta, v-d[i])
		}
	}
	return sites, delta
}

// respond computes the sites' response d to the diagonals chi and b.
func (c *precisionIteration) respond(dst, chi, b []float64) {
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

// done decides whether the iteration ends.
func (c *precisionIteration) done(ctx context.Context, sweep int) (bool, Status) {
	c.monitor.best.update(c.Residual)
	if c.monitor.best.Since > 0 && c.single {
		c.noSingle = true
	}
	switch {
	case c.Residual <= c.settings.Tolerance && !c.single || c.Method == StartOnly:
		return true, Converged
	case math.IsNaN(c.Residual):
		return true, NumericalFailure
	case sweep >= c.settings.MaxSweeps:
		return true, SweepLimit
	case ctx.Err() != nil:
		return true, Cancelled
	case c.monitor.best.Since >= stallStopSquare:
		return true, Stalled
	}
	return false, 0
}

// propose improves next by predicted steps around the present G, and damps the step once the residual has
// stopped decreasing.
func (c *precisionIteration) propose() {
	m := &c.monitor
	if !c.settings.Plain && !m.Plain && m.best.Since >= stallStopSquare/2 {
		*m = newMonitor()
		m.Plain = true
	}
	if !c.settings.Plain && !m.Plain {
		c.predict()
	}
	if m.best.Since > 0 && m.best.Since%stallDamp == 0 {
		m.StepLength /= 2
	}
	if m.StepLength < 1 {
		c.Stats.Damped++
		for i, d := range c.engine.Precisions() {
			c.next[i] = d + m.StepLength*(c.next[i]-d)
		}
	}
}

// prediction is the workspace of predicted steps, with a model of their error.
type prediction struct {
	move, chi, b  []float64
	logStep       float64 // largest |log| of the ratio of next to d
	errorConstant float64 // residual after predicted steps, in squares of logStep
}

// residual is the expected residual after predicted steps: they make the iteration quasi-Newton.
func (p *prediction) residual() float64 { return p.errorConstant * p.logStep * p.logStep }

// predict iterates d on the engine's model of diag(G) as a function of d, around the present G, until d is
// constant.
func (c *precisionIteration) predict() {
	if linalg.FactorOf(c.Problem.Gram) != nil {
		return // a refresh is cheap
	}
	p := &c.prediction
	if square := p.logStep * p.logStep; square > 0 && !math.IsInf(square, 1) {
		p.errorConstant = c.Residual / square
	}
	c.engine.FormG()
	d, response := c.engine.Precisions(), linalg.NewResponse(c.engine)
	for range maxPredictions {
		for i := range p.move {
			p.move[i] = c.next[i] - d[i]
		}
		response.PredictDiag(p.move, p.chi, p.b)
		c.respond(p.move, p.chi, p.b)
		moved := c.relativeChange(p.move, c.next, p.chi)
		if math.IsNaN(moved) {
			break // the model has failed
		}
		copy(c.next, p.move)
		c.Stats.Sweeps++
		c.Stats.Refreshes.Diagonal++
		if moved < predictionTol*c.Residual*c.Residual || moved < negligible*c.settings.Tolerance {
			break
		}
	}
	chi, _ := c.engine.Diag()
	largest := c.largestShrinkage(d, chi)
	p.logStep = 0
	for i, v := range c.next {
		least := scaleFloor(largest, chi[i])
		p.logStep = math.Max(p.logStep, math.Abs(math.Log((v+least)/(d[i]+least))))
	}
}

// relativeChange is the largest change from d to next, relative to d_i plus a thousandth of max_j(d_j
// chi_j)/chi_i. (A thousandth of the largest d would hide most sites behind one of many examples and little
// noise.) NaN if any entry is.
func (r *run) relativeChange(next, d, chi []float64) float64 {
	largest := r.largestShrinkage(d, chi)
	worst := 0.0
	for i, v := range next {
		if v != d[i] { // both may be zero
			maxNaN(&worst, math.Abs(v-d[i])/(d[i]+scaleFloor(largest, chi[i])))
		}
	}
	return worst
}

// largestShrinkage is the largest d_i chi_i, in [0, 1).
func (r *run) largestShrinkage(d, chi []float64) float64 {
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
