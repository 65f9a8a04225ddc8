package calibration

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestShareInterval: intervals of error rates hold the probability in about their level of draws of n rows,
// on average over probabilities (Brown, Cai and DasGupta 2001); without an error, or with errors alone,
// they are one-sided with at least it; a standard error that says less counts as fewer rows.
func TestShareInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{30, 200} {
		held := 0
		const draws = 4000
		for range draws {
			p, wrong := 0.02+0.96*r.Float64(), 0.0
			for range n {
				if r.Float64() < p {
					wrong++
				}
			}
			e := wrong / float64(n)
			lower, upper := ShareInterval(e, math.Sqrt(e*(1-e)/float64(n)), float64(n), float64(n), 0.95, 0)
			if lower <= p && p <= upper {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.94 || share > 0.965 {
			t.Errorf("%d rows: %.3f hold", n, share)
		}
	}
	if lower, upper := ShareInterval(0, 0, 40, 10, 0.95, 0); lower != 0 ||
		math.Abs(math.Pow(1-upper, 10)-0.05) > 1e-12 {
		t.Errorf("no error in 10 groups: %v to %v", lower, upper)
	}
	if lower, upper := ShareInterval(1, 0, 40, 40, 0.9, 0); upper != 1 ||
		math.Abs(math.Pow(lower, 40)-0.1) > 1e-12 {
		t.Errorf("errors alone: %v to %v", lower, upper)
	}
	_, narrow := ShareInterval(0.2, 0.04, 100, 100, 0.95, 0)
	if _, wide := ShareInterval(0.2, 0.08, 100, 100, 0.95, 0); wide < narrow+0.05 {
		t.Errorf("twice the standard error: up to %v, not %v", wide, narrow)
	}
}

// TestErrorInterval: the interval is symmetric on the logarithmic scale, wider by Student's t, and symmetric
// around 0 where there is no logarithm.
func TestErrorInterval(t *testing.T) {
	lower, upper := ErrorInterval(2, 0.5, 0.95, 0)
	if math.Abs(lower*upper-4) > 1e-12 || math.Abs(math.Log(upper/2)-1.959964*0.25) > 1e-6 {
		t.Errorf("%v to %v", lower, upper)
	}
	if _, wide := ErrorInterval(2, 0.5, 0.95, 3); math.Abs(math.Log(wide/2)-3.182446*0.25) > 1e-6 {
		t.Errorf("by Student's t up to %v", wide)
	}
	if lower, upper := ErrorInterval(0, 1, 0.95, 0); lower != -upper {
		t.Errorf("around 0: %v to %v", lower, upper)
	}
}
