package solver

import (
	"math"

	"bootbench/loss"
)

// Limits of the start value.
const (
	startDistance = 1 // of the start value, by convention: too large for acceleration
	// depth, in standard deviations, of a typical site's cavity in its own class (M04 section 5)
	typicalMargin = 1.5
)

// start evaluates the start value.
func (x *fixedPoint) start() error {
	if x.run.settings.From != nil {
		x.trial.cavities.set(x.run.settings.From.Cavity, x.model)
		x.resetAcceleration()
		return x.evaluate(false)
	}
	if err := x.startValue(); err != nil {
		return err
	}
	if x.model.cancelled() {
		return errCancelled
	}
	if err := x.factorize(&x.trial, true); err != nil {
		return err
	}
	x.run.engine.FormG()
	x.model.cavities(x.trial.cavities, x.trial.siteParams)
	err := x.updateResidual()
	x.resetAcceleration()
	x.accepted.Distance = startDistance
	return err
}

// startValue sets the trial to the start value: one common d, g = y d and u = d y^2 (M03-61, M04 section 5).
// The common cavity's precision c solves 1/G(d) - d = c with d the response of typical sites.
//
// The eigenvalues of the random subset of sites are not rescaled, as in M03: rescaled, d G(d) of a low-rank K
// could not exceed the subset's fraction, and there might be no root.
func (x *fixedPoint) startValue() error {
	p := x.trial.siteParams
	c, err := x.run.homogeneousCavity(false, x.typicalPrecision)
	if err != nil {
		return err
	}
	x.model.each(func(i int) { p.D[i] = x.typicalPrecision(i, c) })
	for i, d := range p.D {
		p.G[i], p.U[i] = d*x.meanTarget(i), d*x.model.unit*x.model.unit
	}
	return nil
}

// set converts the cavities of a Solution.
func (x cavities) set(from []loss.Cavity, s *siteModel) {
	for i, cav := range from {
		x.logC()[i] = math.Log(cav.C)
		variance := math.Max(cav.Var, s.sites[i].MinVariance)
		x.mean()[i] = cav.Mean / s.scale(variance)
		x.logV()[i] = math.Log(variance)
	}
}

// typicalPrecision is the d of site i as a typical one; c after cancellation.
func (x *fixedPoint) typicalPrecision(i int, c float64) float64 {
	if x.model.cancelled() {
		return c
	}
	s := &x.run.sites[i]
	cav := loss.Cavity{C: c, Mean: typicalMargin * x.run.Problem.Y[s.Examples[0]],
		Var: x.model.unit * x.model.unit}
	d, _, _ := s.Parameters(cav, s.Moments(cav))
	return d
}

// meanTarget is the mean target of site i.
func (x *fixedPoint) meanTarget(i int) float64 {
	mean, examples := 0.0, x.run.sites[i].Examples
	for _, example := range examples {
		mean += x.run.Problem.Y[example] / float64(len(examples))
	}
	return mean
}
