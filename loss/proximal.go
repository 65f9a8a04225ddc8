package loss

import (
	"fmt"
	"slices"

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

// Differentiable is what a smooth Proximal may know besides, which makes its moments
// faster and surer: no map then has to be searched for bends.
type Differentiable interface {
	Proximal
	// Derivatives are l' and l'' with respect to f, both continuous.
	Derivatives(f, y float64) (first, second float64)
}

// FromProximal makes a training loss of any convex loss known by its proximal
// map, which may be Differentiable. Moments are averages over the
// Gaussian cavity by quadrature, with an error that is estimated and kept below 1e-9 of the cavity's standard
// deviation (mean), of its variance (variance) and of 1 (response, shrinkage). Averages over its distribution
// are to 1e-7. A loss with kinks whose derivative is piecewise linear is FromPiecewise, at a hundredth of the
// cost.
//
// Shrinkage is 1 - slope averaged: where the loss hardly acts, it has an absolute
// error of 1e-16, so that its relative digits are lost below that.
//
// The loss takes any finite targets, at most 200 different ones at one input.
func FromProximal(p Proximal) Loss { return fromProximal{p} }

type fromProximal struct{ Proximal }

// Site takes finite targets.
func (l fromProximal) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	p := exactPredictor(l.Prox)
	if d, ok := l.Proximal.(Differentiable); ok {
		p.derivatives = d.Derivatives
	}
	return newSmoothSite(y, law, p), nil
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
	curvatures := slices.Clone(p.Curvatures)
	if curvatures == nil {
		curvatures = make([]float64, len(p.Slopes))
	}
	return piecewise{slices.Clone(p.Breakpoints), slices.Clone(p.Slopes), curvatures}
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
