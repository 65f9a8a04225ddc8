package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/calibration"
)

// TestROC: the area is the share of the pairs that are in order, ties counting half.
func TestROC(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for range 20 {
		var score, label []float64
		for range 40 {
			y := 2*indicator(rng.Float64() < 0.4) - 1
			score, label = append(score, math.Round(2*(y+rng.NormFloat64()))), append(label, y)
		}
		ordered, pairs := 0.0, 0.0
		for i, y := range label {
			for j, z := range label {
				if y > 0 && z < 0 {
					pairs++
					ordered += indicator(score[i] > score[j]) + 0.5*indicator(score[i] == score[j])
				}
			}
		}
		f, p, area := calibration.ROC(score, label, nil)
		if pairs > 0 && (math.Abs(area-ordered/pairs) > 1e-12 || f[0] != 0 || p[len(p)-1] != 1) {
			t.Errorf("area %v, want %v", area, ordered/pairs)
		}
	}
	if f, _, _ := calibration.ROC([]float64{1, 2}, []float64{1, 1}, nil); f != nil {
		t.Error("a curve of one class")
	}
}
