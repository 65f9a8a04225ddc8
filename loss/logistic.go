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
// FromProximal.
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

// maxNewton bounds the steps for the largest C: each step advances f by about
// one unit, and the solution lies within log(C/c).
const maxNewton = 600

// Prox is the proximal map (T3) to rounding, by Newton steps, and its slope. The
// left side of its equation is rising and concave in f > 0, convex in f < 0:
// steps that start at 0, or at the end nearest to 0 of the interval that holds
// the solution, never pass it.
func (l Logistic) Prox(c, h float64, y, k []float64) (f, slope float64) {
	var down, up float64 // A/c and B/c
	for j, v := range y {
		if v > 0 {
			up += k[j] * (l.C * l.ClassWeight(v)) / c
		} else {
			down += k[j] * (l.C * l.ClassWeight(v)) / c
		}
	}
	both := down + up
	f = math.Min(math.Max(0, h-down), h+up)
	before := 0.0
	for range maxNewton {
		lower, upper := sigmoid(-f), sigmoid(f)
		step := (h - f + up*lower - down*upper) / (1 + both*lower*upper)
		if math.Abs(step) <= 1e-16*math.Abs(f) || step*before < 0 { // rounding alone turns it
			break
		}
		f += step
		before = step
	}
	f = math.Min(math.Max(h-down, f), h+up)
	return f, 1 / (1 + both*sigmoid(-f)*sigmoid(f))
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
	p := exactPredictor(l.Prox)
	p.derivatives = l.derivatives
	p.patchWidth = 5
	p.mirrored = !l.unequal()
	return newSmoothSite(y, law, p), nil
}
