package linalg

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
)

// TestNewSym: gonum's functions see the matrix that was copied, with the scratch triangle in use too.
func TestNewSym(t *testing.T) {
	for _, n := range []int{1, 2, 9} {
		want := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				want.SetSym(i, j, float64(10*i+j+1))
			}
		}
		s := NewSym(want)
		for i, t := 0, s.Scratch(); i < n; i++ {
			for j := range i + 1 {
				t.Data[i*t.Stride+j] = math.NaN()
			}
		}
		if !mat.Equal(s, want) || !mat.Equal(s.T(), want.T()) {
			t.Errorf("%v became %v", mat.Formatted(want), mat.Formatted(s))
		}
	}
	if s := NewSym(&mat.SymDense{}); s.N() != 0 {
		t.Errorf("an empty matrix has order %d", s.N())
	}
}

// TestSymFromDense: pairs that differ by less than the tolerance, relative to the largest element, become
// their mean; a larger difference, an entry that is not finite and a wrong length are refused with the place.
func TestSymFromDense(t *testing.T) {
	a := []float64{2, 1, -8, 1.5, 3, 0.25, -8, 0, 4}
	s := testutil.Must(SymFromDense(3, a, 1.0/16))(t)
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
