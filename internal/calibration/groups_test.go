package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/calibration"
)

// TestGroupErrors: intervals from the errors of 2 to 6 groups contain the error of a row of a new group with
// their level at least, whatever share of the variance is between groups. Over 4000 sets the share has a
// standard error of 0.005. The sum of two quantiles is too wide where both parts count.
func TestGroupErrors(t *testing.T) {
	const sets, level = 4000, 0.9
	rng := rand.New(rand.NewPCG(2, 7))
	for _, groups := range []int{2, 3, 4, 6} {
		for _, between := range []float64{0, 0.3, 1, 3} {
			held := 0.0
			for range sets {
				var errors []float64
				var group []int
				for g := range groups {
					effect := between * rng.NormFloat64()
					for range 5 + 15*(g%2) {
						errors, group = append(errors, 1+effect+rng.NormFloat64()), append(group, g)
					}
				}
				low, high := calibration.NewGroupErrors(errors, nil, group).Interval(level)
				e := 1 + between*rng.NormFloat64() + rng.NormFloat64()
				held += indicator(low <= e && e <= high) / sets
			}
			t.Logf("%d groups, between %v: %.3f", groups, between, held)
			if !(held > 0.885 && held < 0.96) {
				t.Errorf("%d groups, between %v: %.3f of new errors", groups, between, held)
			}
		}
	}
	if calibration.NewGroupErrors([]float64{1, 2}, nil, []int{0, 0}) != nil {
		t.Error("intervals from one group")
	}
	g := calibration.NewGroupErrors([]float64{1, 3}, nil, []int{0, 1})
	if low, high := g.Interval(0.5); math.Abs(high-low-2*math.Sqrt(3)) > 1e-9 {
		t.Errorf("%+v, %v to %v", g, low, high) // sd sqrt 2, times (3/2)^1/2, times the quartile 1 of Cauchy
	}
}
