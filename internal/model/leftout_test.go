package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
)

// TestLeftOut: intervals by quantiles that stand for many residuals hold new residuals of the same law as
// often as they say; for too few examples they are infinite; probabilities need both classes.
func TestLeftOut(t *testing.T) {
	rng, y, f := rand.New(rand.NewPCG(1, 1)), make([]float64, 5000), make([]float64, 5000)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	l := testutil.Must(NewLeftOut(y, f, &dataset.Set{}))(t)
	for _, level := range []float64{0.5, 0.9, 0.95} {
		held := math.Erf(l.HalfWidth(level) / math.Sqrt2)
		if sd := math.Sqrt(level * (1 - level) / 5000); math.Abs(held-level) > 3*sd+1e-3 {
			t.Errorf("level %g: holds %g", level, held)
		}
	}
	if half := l.HalfWidth(0.99999); len(l.Residuals) > mostResiduals || l.Examples != 5000 ||
		!math.IsInf(half, 1) {
		t.Errorf("%d residuals, %v", len(l.Residuals), half)
	}
	labels := &dataset.Set{Columns: []dataset.Column{{Levels: []string{"no", "yes"}}}}
	if l, err := NewLeftOut([]float64{1, 1}, []float64{1, 2}, labels); err == nil || l != nil {
		t.Errorf("one class: %v, %v", l, err)
	}
}
