package counts

import (
	"math"
	"testing"

	"bootbench/resample"
)

// TestJoint: all lists have total one, and the pruned list is the whole
// one except for what it leaves out.
func TestJoint(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 9} {
		for _, nu := range []float64{0.01, 0.5, 3, 40} {
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(i)
			}
			x := New(y, resample.Poisson{Ratio: nu}, 0)
			total, mean := 0.0, 0.0
			for i, p := range x.P {
				total += p
				mean += p * x.Row(i)[n-1]
			}
			if math.Abs(total-1) > 1e-12 || math.Abs(mean/nu-1) > 0.01 || len(x.P) > maxRows {
				t.Errorf("%d targets at %g: %d combinations, total %g, mean count %g",
					n, nu, len(x.P), total, mean)
			}
		}
	}
}
