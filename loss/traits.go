package loss

import "math"

// Traits are the properties of a training loss, or of a test loss, by which algorithms are chosen. They are
// zero for losses of the caller, except Proximal.
type Traits struct {
	Proximal  Proximal // the training loss by its proximal map; nil: its predictor is a posterior mean
	Quadratic bool     // a multiple of (f-y)^2, so that the predictor is linear in the targets
	Noise     float64  // noise variance of a quadratic training loss
	Degree    int      // of a regression loss as a polynomial of f, y and its thresholds: 1 or 2
	Margin    bool     // of support vector classifiers: 0 from y f = 1 on, with a kink there
	C         float64  // its slope before, +Inf for a hard margin
	Dense     bool     // K must be whole: the residuals of a factor would soften a hard margin
	Steps     bool     // a test loss that has the values 0, 1/2 and 1 only
}

// TraitsOf are the traits of a Loss or a Test.
func TraitsOf(l interface{ Value(f, y float64) float64 }) (t Traits) {
	t.Proximal, _ = l.(Proximal)
	switch l := l.(type) {
	case Square:
		t.Quadratic, t.Noise, t.Degree = true, l.Noise, 2
	case Huber:
		t.Degree = 2
	case EpsInsensitive, LeastAbsolute:
		t.Degree = 1
	case Hinge:
		t.Margin, t.C = true, l.C
	case HardMargin:
		t.Margin, t.C, t.Dense = true, math.Inf(1), true
	case SquareTest:
		t.Quadratic = true
	case ZeroOne:
		t.Steps = true
	}
	return t
}
