package loss

import (
	"fmt"

	"bootbench/resample"
)

// Proximal is a convex loss known by its value and by its proximal map: all that
// the theory (T4) and a trainer (T1) ask of a loss.
type Proximal interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y); +Inf where f is barred.
	Value(f, y float64) float64
	// Prox is the proximal map of several examples at one input (T3),
	//
	//	f = argmin c/2 (f-h)^2 + sum_j k_j l(f, y_j),
	//
	// and its slope df/dh in [0, 1]. c > 0; weights k_j >= 0, one for each of the
	// targets y. Without weight f = h and the slope is 1.
	Prox(c, h float64, y, k []float64) (f, slope float64)
}

// Piecewise is a convex function of the prediction f whose derivative is linear between breakpoints, and
// which has a least value. Segment j lies between breakpoints j-1 and j.
type Piecewise struct {
	Breakpoints []float64 // strictly rising, at least one
	// Slopes are the derivatives at the left ends of the segments, the first at its right end.
	Slopes     []float64
	Curvatures []float64 // second derivatives of the segments, at least 0; nil: all are 0
}

// FromPiecewise makes a training loss of one that is Piecewise for every target, such as the pinball loss
// of quantile regression. Its value is measured from the least; moments and distributions have closed forms,
// for any number of breakpoints.
func FromPiecewise(name string, of func(y float64) Piecewise) interface {
	Loss
	Proximal
} {
	return fromPiecewise{name, of}
}

type fromPiecewise struct {
	name string
	of   func(y float64) Piecewise
}

// Name is the given one.
func (l fromPiecewise) Name() string { return l.name }

func (l fromPiecewise) example(y float64) piecewise {
	p := l.of(y)
	if p.Curvatures == nil {
		p.Curvatures = make([]float64, len(p.Slopes))
	}
	return piecewise{p.Breakpoints, p.Slopes, p.Curvatures}
}

// Value is the integral of the derivative from where the loss is least.
func (l fromPiecewise) Value(f, y float64) float64 {
	p := l.example(y)
	return p.valueAt(f)
}

// Prox is the proximal map (T3) and its slope.
func (l fromPiecewise) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes finite targets for which the loss is Piecewise.
func (l fromPiecewise) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.name, y); err != nil {
		return nil, err
	}
	for _, v := range y {
		p := l.example(v)
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("loss: %s at target %g: %w", l.name, v, err)
		}
	}
	return newPiecewiseSite(y, law, l.example), nil
}
