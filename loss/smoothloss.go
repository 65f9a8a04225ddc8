package loss

import (
	"cmp"
	"math"

	"bootbench/resample"
)

// Smooth is a convex loss with a continuous second derivative.
type Smooth interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y).
	Value(f, y float64) float64
	// Derivatives are l' and l'' with respect to f.
	Derivatives(f, y float64) (first, second float64)
}

// FromSmooth makes a training loss of a Smooth one. Moments are averages over the Gaussian cavity by
// quadrature, with an estimated error below 1e-9 of the cavity's standard deviation (mean), of its variance
// (variance) and of 1 (response, shrinkage). The error of averages over its distribution is 1e-7. For a loss
// with kinks see FromPiecewise.
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

func (l fromSmooth) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, predictor{derivatives: l.Derivatives}), nil
}

// derivatives are l' and l” of a smooth loss with respect to the prediction f.
type derivatives func(f, y float64) (first, second float64)

// maxNewton bounds the steps; the largest losses need most, to halve a wide bracket.
const maxNewton = 600

// prox solves f + sum_j k_j l'(f, y_j)/c = h (T3) to tol and rounding, from a guess of f, by Newton steps,
// and bisects if one leaves the bracket or they are slow. It also returns the curvature sum_j k_j l”(f,
// y_j)/c at the last step's start.
func (d derivatives) prox(c, h float64, y, k []float64, guess, tol float64) (f, curvature float64) {
	f = guess
	lo, hi, before := math.Inf(-1), math.Inf(1), math.Inf(1)
	for range maxNewton {
		var push float64
		push, curvature = d.push(c, f, y, k)
		miss := f - h + push
		if miss > 0 { // the left side has slope >= 1
			lo, hi = math.Max(lo, f-miss), f
		} else {
			lo, hi = f, math.Min(hi, f-miss)
		}
		move := -miss / (1 + curvature)
		f += move
		if !(math.Abs(move) > tol+0x1p-51*(math.Abs(h)+math.Abs(f))) {
			break
		}
		if !(lo <= f && f <= hi) || math.Abs(move) > 0.5*before { // between flat parts
			f = lo + 0.5*(hi-lo)
		}
		before = math.Abs(move)
	}
	return f, curvature
}

// push is the derivative of a site's loss divided by c, and the second derivative divided by c.
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

// Logistic is the loss C log(1 + exp(-y f)), for labels y = -1, +1. Its proximal
// map solves, with A and B the sums of C over the drawn labels -1 and +1,
//
//	c (f-h) + A - (A+B)/(1 + exp(f)) = 0
//
// and has no closed form. The moments (T4) are averages by quadrature to 1e-9; see FromSmooth.
type Logistic struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

func (Logistic) Name() string   { return "logistic" }
func (l Logistic) check() error { return l.checkCosts(l.C) }

func (l Logistic) Value(f, y float64) float64 { return l.C * l.ClassWeight(y) * softplus(-y*f) }

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Prox is the proximal map (T3) to rounding, and its slope.
func (l Logistic) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return derivatives(l.derivatives).proxSlope(c, h, y, k)
}

// sigmoid is 1/(1 + exp(-x)), relatively accurate for negative x.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// derivatives are l' and l” with respect to f.
func (l Logistic) derivatives(f, y float64) (first, second float64) {
	wrong := sigmoid(-y * f)
	c := l.C * l.ClassWeight(y)
	return -c * y * wrong, c * wrong * (1 - wrong)
}

func (l Logistic) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := cmp.Or(l.check(), checkLabels(l.Name(), y)); err != nil {
		return nil, err
	}
	p := predictor{derivatives: l.derivatives, patchWidth: 5, mirrored: l.Negative == l.Positive}
	return newSmoothSite(y, law, p), nil
}
