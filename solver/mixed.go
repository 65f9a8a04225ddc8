package solver

import (
	"math"

	"bootbench/linalg"
)

// mixed are the default steps of the square loss: predicted steps on the response of diag(G) to all orders
// (linalg.Response), which make the iteration quasi-Newton, single precision and rank updates. It models the
// error of its predictions.
type mixed struct {
	change, chi, b []float64
	logStep        float64 // largest |log| of the ratio of next to d
	errorConstant  float64 // residual after predicted steps, in squares of logStep
}

// Limits of the mixed steps.
const (
	maxUpdateShare = 16   // a rank update changes at most M/maxUpdateShare sites
	negligible     = 0.1  // fraction of the tolerance below which a change is neglected
	singleResidual = 0.02 // residual below which refreshes are in double precision
	maxPredictions = 40   // predicted steps between two refreshes
	predictionTol  = 0.01 // they stop at changes of d below this times the square of the last residual
	// residual over the one before on a factor, until it is known; 0.02 to 0.1 were seen
	factorContraction = 0.05
	// residual after predicted steps, in squares of the longest step, until it is known; 0.004 to 0.07 were
	// seen
	quadraticConstant = 0.008
)

func newMixed(n int) *mixed {
	return &mixed{change: make([]float64, n), chi: make([]float64, n), b: make([]float64, n),
		logStep: math.Inf(1), errorConstant: quadraticConstant}
}

// moveG updates G to next: by a rank update if few sites change, in single precision if another refresh must
// follow anyway, else by a factorisation.
func (p *mixed) moveG(c *precisionIteration, sweep int) error {
	if !c.single && c.run.updateMoving(c.next, maxUpdateShare, negligible, math.Inf(1)) {
		return nil
	}
	least := singleResidual
	if linalg.FactorOf(c.run.Problem.Gram) != nil {
		least = c.run.settings.Tolerance
	}
	if sweep < c.run.settings.MaxSweeps && p.residual() > least &&
		c.run.refreshSingle(c.next, singleResidual/4) {
		c.single = true
		return nil
	}
	return c.factorize()
}

// residual is the expected residual after predicted steps.
func (p *mixed) residual() float64 { return p.errorConstant * p.logStep * p.logStep }

// improve iterates d on the engine's model of diag(G) as a function of d, around the present G, until d is
// constant.
func (p *mixed) improve(c *precisionIteration) {
	if linalg.FactorOf(c.run.Problem.Gram) != nil { // a refresh is cheap; the residual falls geometrically
		if last := p.logStep; math.IsInf(last, 1) {
			p.errorConstant = factorContraction
		} else {
			p.errorConstant = math.Min(1, c.run.Residual/(last*last))
		}
		p.logStep = math.Sqrt(c.run.Residual)
		return
	}
	if square := p.logStep * p.logStep; square > 0 && !math.IsInf(square, 1) {
		p.errorConstant = c.run.Residual / square
	}
	c.run.engine.FormG()
	d, response := c.run.engine.Precisions(), linalg.NewResponse(c.run.engine)
	for range maxPredictions {
		for i := range p.change {
			p.change[i] = c.next[i] - d[i]
		}
		response.PredictDiag(p.change, p.chi, p.b)
		c.respond(p.change, p.chi, p.b)
		moved := relativeChange(p.change, c.next, p.chi)
		if math.IsNaN(moved) {
			break // the model has failed
		}
		copy(c.next, p.change)
		c.run.Stats.Sweeps++
		c.run.Stats.Refreshes.Diagonal++
		if moved < predictionTol*c.run.Residual*c.run.Residual ||
			moved < negligible*c.run.settings.Tolerance {
			break
		}
	}
	chi, _ := c.run.engine.Diag()
	largest := largestShrinkage(d, chi)
	p.logStep = 0
	for i, v := range c.next {
		least := scaleFloor(largest, chi[i])
		p.logStep = math.Max(p.logStep, math.Abs(math.Log((v+least)/(d[i]+least))))
	}
}
