package loss

import (
	"math"
	"testing"

	"bootbench/internal/testutil"
)

// TestTraits: the traits of the losses of the catalogue and of the test losses are what their values say. A
// quadratic one quadruples where residuals double and change sign; values of a loss of degree d grow by 2^d
// where predictions, targets and thresholds double; a margin loss is 0 from y f = 1 on and has slope -C y
// before.
func TestTraits(t *testing.T) {
	for _, name := range Names() {
		l := testutil.Must(ByName(name, Parameters{Noise: 0.7, C: 1.5, Epsilon: 0.25}))(t)
		wide := testutil.Must(ByName(name, Parameters{Noise: 0.7, C: 1.5, Epsilon: 0.5}))(t)
		is, about := TraitsOf(l), testutil.Must(About(name))(t)
		quadratic, degree, margin := true, 0, about.Task == Classification
		for d := 1; d <= 2; d++ {
			if f := math.Exp2(float64(d)); about.Task != Classification &&
				wide.Value(2, -4) == f*l.Value(1, -2) && wide.Value(0.25, 0.5) == f*l.Value(0.125, 0.25) {
				degree = d
			}
		}
		for _, f := range []float64{-3, -0.25, 0.1, 0.8, 1, 7} {
			quadratic = quadratic && math.Abs(l.Value(1+2*f, 1)-4*l.Value(1-f, 1)) < 1e-12
			slack := 0.0
			if f < 1 {
				slack = is.C * (1 - f)
			}
			margin = margin && math.Abs(l.Value(f, 1)-slack) < 1e-12 || margin && math.IsInf(slack, 1) &&
				math.IsInf(l.Value(f, 1), 1)
		}
		_, proximal := l.(Proximal)
		if is.Quadratic != quadratic || is.Degree != degree || is.Margin != margin || is.Steps ||
			is.Dense != math.IsInf(is.C, 1) || (is.Proximal != nil) != proximal ||
			is.Quadratic && is.Noise != 0.7 {
			t.Errorf("%s: %+v, by its values quadratic %t, degree %d, margin %t, proximal %t", name, is,
				quadratic, degree, margin, proximal)
		}
	}
	for _, name := range TestNames() {
		l := testutil.Must(TestByName(name))(t)
		is, values := TraitsOf(l), map[float64]bool{}
		for f := -3.0; f <= 3; f += 0.25 {
			values[l.Value(f, 1)] = true
		}
		delete(values, 0)
		delete(values, 0.5)
		delete(values, 1)
		if is.Steps != (len(values) == 0) || is.Quadratic != (l.Value(-7, 1) == 4*l.Value(-3, 1)) {
			t.Errorf("%s: %+v", name, is)
		}
	}
}
