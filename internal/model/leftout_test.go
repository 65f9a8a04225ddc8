package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
)

// TestLeftOut: intervals hold new residuals of the same law as often as they say, also by quantiles that
// stand for many residuals; for too few examples they are infinite; the curve gives the share of labels.
func TestLeftOut(t *testing.T) {
	labels := &dataset.Set{Columns: []dataset.Column{{Levels: []string{"no", "yes"}}}}
	for _, n := range []int{99, 5000} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		y, f := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], f[i] = rng.NormFloat64(), 0
		}
		l := testutil.Must(NewLeftOut(y, f, &dataset.Set{}))(t)
		for _, level := range []float64{0.5, 0.9, 0.95} {
			half := l.HalfWidth(level)
			held := math.Erf(half / math.Sqrt2)
			if sd := math.Sqrt(level * (1 - level) / float64(n)); math.Abs(held-level) > 3*sd+1e-3 {
				t.Errorf("%d examples, level %g: holds %g", n, level, held)
			}
		}
		if half := l.HalfWidth(0.99999); len(l.Residuals) > mostResiduals || l.Examples != n ||
			!math.IsInf(half, 1) {
			t.Errorf("%d residuals, %v", len(l.Residuals), half)
		}
		for i := range y {
			f[i], y[i] = rng.NormFloat64(), 1
			if rng.Float64() > 1/(1+math.Exp(-2*f[i])) {
				y[i] = -1
			}
		}
		l = testutil.Must(NewLeftOut(y, f, labels))(t)
		if p := l.Curve.Probability(0.5); math.Abs(p-1/(1+math.Exp(-1))) > 3*math.Sqrt(0.5/float64(n)) {
			t.Errorf("%d examples: probability %g", n, p)
		}
	}
	l, err := NewLeftOut([]float64{1, 1}, []float64{1, 2}, labels)
	if err == nil || l != nil {
		t.Errorf("one class: %v, %v", l, err)
	}
}
