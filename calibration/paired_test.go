package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/calibration"
)

// TestCompare: Student's table (2.262 at 9 degrees of freedom and level 0.95), the p-value at
// the interval's end, and the coverage of a true difference over 2000 draws of 12 examples,
// within three standard errors, 0.02.
func TestCompare(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, make([]float64, 10)
	p := calibration.Compare(a, b, 0.95)
	se := math.Sqrt(82.5/9) / math.Sqrt(10)
	if math.Abs(p.Difference-5.5) > 1e-12 || math.Abs(p.StandardError-se) > 1e-12 ||
		math.Abs(p.High-5.5-2.2621572*se) > 1e-6 || math.Abs(p.High+p.Low-11) > 1e-9 {
		t.Errorf("%+v", p)
	}
	for i := range b {
		b[i] = p.Low
	}
	if q := calibration.Compare(a, b, 0.95); math.Abs(q.PValue-0.05) > 1e-8 || math.Abs(q.Low) > 1e-9 {
		t.Errorf("at the end of the interval: %+v", q)
	}
	if q := calibration.Compare(a, a, 0.95); q.PValue != 1 || q.Difference != 0 {
		t.Errorf("a model and itself: %+v", q)
	}
	rng, held := rand.New(rand.NewPCG(2, 3)), 0.0
	for range 2000 {
		x, y := make([]float64, 12), make([]float64, 12)
		for i := range x {
			common := 5 * rng.NormFloat64()
			x[i], y[i] = common+rng.NormFloat64()+0.3, common
		}
		if q := calibration.Compare(x, y, 0.9); q.Low <= 0.3 && 0.3 <= q.High {
			held += 1. / 2000
		}
	}
	if math.Abs(held-0.9) > 0.02 {
		t.Errorf("%v of the intervals hold the difference", held)
	}
}
