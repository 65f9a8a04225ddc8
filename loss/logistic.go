package loss

import (
	"math"

	"bootbench/resample"
)

// Logistic is the loss C log(1 + exp(-y f)), for labels y = -1, +1. Its proximal
// map solves, with A and B the sums of C over the drawn labels -1 and +1,
//
//	c (f-h) + A - (A+B)/(1 + exp(f)) = 0
//
// and has no closed form. The moments (T4) are averages by quadrature to 1e-9; see
// FromSmooth.
type Logistic struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

func (l Logistic) check() error { return l.checkCosts(l.C) }

// Name is "logistic".
func (Logistic) Name() string { return "logistic" }

// Value is C log(1 + exp(-y f)).
func (l Logistic) Value(f, y float64) float64 { return l.C * l.ClassWeight(y) * softplus(-y*f) }

// softplus is log(1 + exp(x)).
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Prox is the proximal map (T3) to rounding, and its slope.
func (l Logistic) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return derivatives(l.derivatives).proxSlope(c, h, y, k)
}

// sigmoid is 1/(1 + exp(-x)), with its digits kept for negative x.
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

// Site takes labels -1 or +1.
func (l Logistic) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	p := predictor{derivatives: l.derivatives, patchWidth: 5, mirrored: !l.unequal()}
	return newSmoothSite(y, law, p), nil
}
