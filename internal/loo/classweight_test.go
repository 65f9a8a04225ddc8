package loo

import (
	"math"
	"testing"
)

// TestClassWeights: with weights of the classes exact leave-one-out counts what LIBSVM 3.24 does
// under svm-train -w-1 A -w1 B (see libsvmCounts), up to ties; fast has the same outcomes, xi-alpha
// is not below, and the approximation is within two examples in a hundred.
func TestClassWeights(t *testing.T) {
	for _, c := range []struct {
		cell
		minus, plus float64
	}{
		{cell{"crabs", 1, 0.1, 80}, 1, 2}, {cell{"crabs", 0.5, 10, 19}, 4, 1}, {cell{"sonar", 1, 1, 30}, 1, 2},
	} {
		k, y := embedded(t, c.data, c.width)
		p := Problem{Kernel: rows(t, k), Y: y, C: c.c, Bias: true, ClassWeight: func(label float64) float64 {
			if label > 0 {
				return c.plus
			}
			return c.minus
		}}
		exact, fast := run(t, p, Settings{}), run(t, p, Settings{Method: Fast})
		if d := exact.Errors - c.errors; d > len(exact.Ties) || -d > len(exact.Ties) ||
			fast.Errors != exact.Errors {
			t.Errorf("%v: exact %d errors, fast %d, ties %v", c, exact.Errors, fast.Errors, exact.Ties)
		}
		if bound := run(t, p, Settings{Method: XiAlpha}); bound.Errors < exact.Errors {
			t.Errorf("%v: exact %d errors, xi-alpha %d", c, exact.Errors, bound.Errors)
		}
		if approx := run(t, p, Settings{Method: Approximate}); !(math.Abs(approx.Error-exact.Error) <= 0.02) {
			t.Errorf("%v: exact %v, approximately %v", c, exact.Error, approx.Error)
		}
	}
}
