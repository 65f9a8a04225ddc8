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
	startError    = 1e-4 // of the root in log c
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
	p, t := x.trial.siteParams, newTypical(x)
	c, err := x.run.homogeneousCavity(false, startError, t.precision)
	if err != nil {
		return err
	}
	t.setPrecisions(p.D, c)
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

// typical are the sites as typical ones. Those of one example each with the same target and weight respond
// alike: first is the first of these.
type typical struct {
	*fixedPoint
	first []int
	c     float64 // of known
	known map[int]loss.Moments
}

func newTypical(x *fixedPoint) *typical {
	t := &typical{fixedPoint: x, c: math.NaN(), known: map[int]loss.Moments{}}
	first := map[[2]float64]int{}
	for i := range x.run.sites {
		s := &x.run.sites[i]
		at, key := i, [2]float64{x.run.Problem.Y[s.Examples[0]], s.Weight}
		if len(s.Examples) == 1 {
			if known, ok := first[key]; ok {
				at = known
			} else {
				first[key] = i
			}
		}
		t.first = append(t.first, at)
	}
	return t
}

func (t *typical) cavity(i int, c float64) loss.Cavity {
	y := t.run.Problem.Y[t.run.sites[i].Examples[0]]
	return loss.Cavity{C: c, Mean: typicalMargin * y, Var: t.model.unit * t.model.unit}
}

// precision is the d of site i as a typical one; c after cancellation.
func (t *typical) precision(i int, c float64) float64 {
	if t.model.cancelled() {
		return c
	}
	if c != t.c {
		clear(t.known)
		t.c = c
	}
	s, cav, first := &t.run.sites[i], t.cavity(i, c), t.first[i]
	m, ok := t.known[first]
	if !ok {
		m = s.Moments(cav)
		t.known[first] = m
	}
	d, _, _ := s.Parameters(cav, m)
	return d
}

// setPrecisions sets d of all sites, at one c.
func (t *typical) setPrecisions(d []float64, c float64) {
	moments := make([]loss.Moments, len(d))
	t.model.each(func(i int) {
		if t.first[i] == i {
			moments[i] = t.run.sites[i].Moments(t.cavity(i, c))
		}
	})
	for i := range d {
		d[i], _, _ = t.run.sites[i].Parameters(t.cavity(i, c), moments[t.first[i]])
	}
}

// meanTarget is the mean target of site i.
func (x *fixedPoint) meanTarget(i int) float64 {
	mean, examples := 0.0, x.run.sites[i].Examples
	for _, example := range examples {
		mean += x.run.Problem.Y[example] / float64(len(examples))
	}
	return mean
}
