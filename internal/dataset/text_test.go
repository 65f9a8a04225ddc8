package dataset

import (
	"math"
	"testing"
)

// TestTextClassesDiffer: the difference of the class means, estimated on one
// half, tells the classes of the other half apart, but not all of them: between
// chance and no error at all, by far more than the standard error 0.008.
func TestTextClassesDiffer(t *testing.T) {
	s := drawn(t, "synthetic:text,n=4000")
	weight := make([]float64, s.D())
	wrong := 0.0
	for i, y := range s.Y {
		index, value := s.Sparse.Row(i)
		f := 0.0
		for k, c := range index {
			if i < 2000 {
				weight[c] += y * value[k]
			} else {
				f += weight[c] * value[k]
			}
		}
		if i >= 2000 && f*y <= 0 {
			wrong++
		}
	}
	if share := wrong / 2000; share < 0.04 || share > 0.15 {
		t.Errorf("a share %v of new documents is misclassified", share)
	}
	for i := range 100 {
		_, value := s.Sparse.Row(i)
		if squares := dot(value, value); math.Abs(squares-1) > 1e-12 {
			t.Fatalf("row %d has length %v", i, math.Sqrt(squares))
		}
	}
	entries := float64(len(s.Sparse.Index)) / 4000
	if entries < 80 || entries > 95 {
		t.Errorf("%v entries a row", entries)
	}
}
