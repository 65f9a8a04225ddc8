package loss

import (
	"fmt"
	"math"
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

// Smooth is a convex loss with a continuous second derivative.
type Smooth interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y).
	Value(f, y float64) float64
	// Derivatives are l' and l'' with respect to f.
	Derivatives(f, y float64) (first, second float64)
}

// FromSmooth makes a training loss of any that is Smooth. Moments are averages over the Gaussian cavity by
// quadrature, with an error that is estimated and kept below 1e-9 of the cavity's standard deviation (mean),
// of its variance (variance) and of 1 (response, shrinkage). Averages over its distribution are to 1e-7. A
// loss with kinks is FromPiecewise.
//
// The loss takes any finite targets, at most 200 different ones at one input.
func FromSmooth(l Smooth) interface {
	Loss
	Proximal
} {
	return fromSmooth{l}
}

type fromSmooth struct{ Smooth }

// Prox is the proximal map (T3) to rounding, and its slope.
func (l fromSmooth) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return derivatives(l.Derivatives).proxSlope(c, h, y, k)
}

// Site takes finite targets.
func (l fromSmooth) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, predictor{derivatives: l.Derivatives}), nil
}

// derivatives are l' and l” of a smooth loss with respect to the prediction f.
type derivatives func(f, y float64) (first, second float64)

// maxNewton bounds the steps for the largest losses, which halve a bracket as wide as they are.
const maxNewton = 600

// prox solves f + sum_j k_j l'(f, y_j)/c = h (T3) to tol and rounding, from a guess of f, by Newton steps,
// and bisects where one leaves the bracket or they are slow. It returns the curvature sum_j k_j l”(f, y_j)/c
// too, as of the last step's start.
func (d derivatives) prox(c, h float64, y, k []float64, guess, tol float64) (f, curvature float64) {
	f = guess
	lo, hi, before := math.Inf(-1), math.Inf(1), math.Inf(1)
	for range maxNewton {
		var push float64
		push, curvature = d.push(c, f, y, k)
		miss := f - h + push
		if miss > 0 { // the left side rises by at least one per unit
			lo, hi = math.Max(lo, f-miss), f
		} else {
			lo, hi = f, math.Min(hi, f-miss)
		}
		move := -miss / (1 + curvature)
		f += move
		if !(math.Abs(move) > tol+0x1p-51*(math.Abs(h)+math.Abs(f))) {
			break
		}
		if !(lo <= f && f <= hi) || math.Abs(move) > 0.5*before { // from one flat place to another
			f = lo + 0.5*(hi-lo)
		}
		before = math.Abs(move)
	}
	return f, curvature
}

// push is the derivative of a site's loss over c, and its own derivative.
func (d derivatives) push(c, f float64, y, k []float64) (push, curvature float64) {
	for j, weight := range k {
		if weight > 0 {
			first, second := d(f, y[j])
			push += weight / c * first
			curvature += weight / c * second
		}
	}
	return push, curvature
}

// proxSlope is Proximal.Prox.
func (d derivatives) proxSlope(c, h float64, y, k []float64) (f, slope float64) {
	f, curvature := d.prox(c, h, y, k, h, 0)
	return f, 1 / (1 + curvature)
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
