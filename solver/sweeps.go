package solver

import (
	"context"
	"math"
)

// Limits of sweeps. Counts are refreshes per converged cell of BenchmarkGrid without
// Newton's method, where they came to 13.4, 98.8% of the cells converging.
const (
	andersonMaxDistance = 0.3 // distance up to which sweeps are accelerated; never: 18.4
	minStep             = 0.2 // of a damped sweep; undamped: 12.0, but 96.4% converge
	stepGrowth          = 1.4 // of the step after a sweep that decreased the distance
	// sweeps without a smaller distance before inner iterations are turned off, or on again
	stallToggle       = 4
	plainMinDistance  = 1e-2 // distance below which Newton's method finishes the phase of plain sweeps
	singleMinDistance = 0.1  // distance from which a sweep may be in single precision
)

// andersonSweep is a sweep accelerated by Anderson's method.
type andersonSweep struct{}

func (andersonSweep) advance(_ context.Context, x *fixedPoint) error {
	x.improveImage()
	x.monitor.Previous, x.monitor.StepLength = x.accepted.Distance, 1
	copy(x.trial.cavities, x.accepted.cavities)
	x.anderson.step(x.trial.cavities, x.accepted.image)
	return x.finishSweep()
}

// dampedSweep takes a fraction of a sweep, smaller after a sweep that increased the distance, else larger.
type dampedSweep struct{}

func (dampedSweep) advance(_ context.Context, x *fixedPoint) error {
	x.improveImage()
	return x.takePart()
}

// plainSweep is a damped sweep to the image as it is, without inner iterations.
type plainSweep struct{}

func (plainSweep) advance(_ context.Context, x *fixedPoint) error { return x.takePart() }

// takePart moves a fraction of the way to the image.
func (x *fixedPoint) takePart() error {
	x.anderson.reset()
	m := &x.monitor
	if x.accepted.Distance > m.Previous {
		m.StepLength = math.Max(m.StepLength/2, minStep)
	} else {
		m.StepLength = math.Min(m.StepLength*stepGrowth, 1)
	}
	if m.StepLength < 1 {
		x.run.Stats.Damped++
	}
	if x.accepted.Distance != startDistance { // set by convention
		m.Previous = x.accepted.Distance
	}
	copy(x.trial.cavities, x.accepted.cavities)
	x.trial.cavities.towards(x.accepted.image, m.StepLength)
	return x.finishSweep()
}

// finishSweep evaluates the trial of a sweep.
func (x *fixedPoint) finishSweep() error {
	return x.moveTo(x.accepted.Distance > singleMinDistance)
}

// improveImage improves the image by the inner iteration. Inner iterations without progress are turned off
// for some sweeps.
func (x *fixedPoint) improveImage() {
	if x.monitor.Recent.Since >= stallToggle {
		x.monitor.Plain, x.monitor.Recent = !x.monitor.Plain, best{Value: math.MaxFloat64}
		x.anderson.reset()
	}
	if d := x.accepted.Distance; x.run.settings.Steps == MixedSteps && !x.monitor.Plain &&
		d < innerMaxDistance {
		x.run.Stats.Passes += x.inner.run(x.accepted.image, innerTol*d*d)
	}
}
