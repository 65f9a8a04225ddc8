package linalg

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestSymFromDense: pairs that differ by less than the tolerance, relative to the largest element, become
// their mean; a larger difference, an entry that is not finite and a wrong length are refused with the place.
func TestSymFromDense(t *testing.T) {
	a := []float64{2, 1, -8, 1.5, 3, 0.25, -8, 0, 4}
	s := need.One(SymFromDense(3, a, 1.0/16))(t)
	for i := range 3 {
		for j := range 3 {
			if want := (a[3*i+j] + a[3*j+i]) / 2; s.At(i, j) != want {
				t.Errorf("(%d, %d) = %v, want %v", i, j, s.At(i, j), want)
			}
		}
	}
	for says, a := range map[string][]float64{
		"(1, 2) = 1 and (2, 1) = 1.5 differ": {7.9, 1, 1.5, 3}, "(2, 1) is NaN": {1, 0, math.NaN(), 1},
		"(1, 2) is -Inf": {1, math.Inf(-1), 0, 1}, "a matrix of 3 numbers is not 2 x 2": {1, 0, 1},
	} {
		if _, err := SymFromDense(2, a, 1.0/16); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected %q", err, says)
		}
	}
}
