package solver

import (
	"fmt"
	"math"

	"bootbench/loss"
)

// Limits of the start value.
const (
	startDistance = 1   // stands for that of the start value: too far for acceleration
	typicalMargin = 1.5 // depth, in standard deviations, of a typical site's cavity in its own class (M04 section 5)
)

// start evaluates the start value.
func (x *fixedPoint) start() *trouble {
	warm := x.settings.From != nil && x.model.presence == 1
	if err := x.startValue(warm); err != nil {
		return failure(err)
	}
	if x.model.cancelled() {
		return &trouble{Cancelled, errCancelled}
	}
	if t := x.factorize(x.settings.From == nil); t != nil {
		return t
	}
	if warm {
		x.resetAcceleration()
		return x.updateResidual()
	}
	x.g.formG()
	x.model.cavities(x.trial.Cavities, x.trial.SiteParams)
	t := x.updateResidual()
	x.resetAcceleration()
	x.accepted.Distance = startDistance
	return t
}

// startValue leaves the start value in the trial: with warm the response to the
// cavities of a neighbouring Solution. Otherwise it is one common d, g = y d and u = d y^2
// (M03-61, M04 section 5): the common cavity's precision c solves 1/G(d) - d = c
// with d the response of typical sites.
//
// The random subset of the sites stands for itself here, as M03 has it: with
// its eigenvalues rescaled, d G(d) cannot exceed the subset's share of a K of
// low rank, and there may be no root.
func (x *fixedPoint) startValue(warm bool) error {
	p := x.trial.SiteParams
	if warm {
		x.trial.Cavities.set(x.settings.From.Cavity, x.model)
		x.model.siteParameters(p, x.trial.Cavities)
		return nil
	}
	s, err := newSpectrum(x.problem.Gram, x.settings.Seed)
	if err != nil {
		return fmt.Errorf("start value: %w", err)
	}
	s.share = 1
	c := s.homogeneousCavity(func(c float64) float64 {
		if x.model.cancelled() {
			return c
		}
		return meanOverTypical(x.share, func(i int) float64 { return x.typicalPrecision(i, c) })
	})
	x.model.each(func(i int) {
		d := 0.0
		if x.settings.Start != nil {
			d = x.settings.Start[i]
		} else {
			d = x.typicalPrecision(i, c)
		}
		p.D[i], p.G[i], p.U[i] = d, d*x.meanTarget(i), d*x.model.unit*x.model.unit
	})
	return nil
}

// set converts the cavities of a Solution.
func (x Cavities) set(from []loss.Cavity, s *siteModel) {
	for i, cav := range from {
		x.logC()[i] = math.Log(cav.C)
		variance := math.Max(cav.Var, s.minVar[i])
		x.mean()[i] = cav.Mean / s.scale(variance)
		x.logV()[i] = math.Log(variance)
	}
}

// typicalPrecision is the d of site i at the cavity of a typical site.
func (x *fixedPoint) typicalPrecision(i int, c float64) float64 {
	y := x.problem.Y[x.sites[i].examples[0]]
	unit := x.model.unit
	m := x.model.moments(i, loss.Cavity{C: c, Mean: typicalMargin * y, Var: unit * unit})
	return c * m.Shrinkage / math.Max(m.Response, minResponse)
}

// meanTarget is the mean target of site i.
func (x *fixedPoint) meanTarget(i int) float64 {
	mean, examples := 0.0, x.sites[i].examples
	for _, example := range examples {
		mean += x.problem.Y[example] / float64(len(examples))
	}
	return mean
}
