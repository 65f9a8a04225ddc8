package dataset

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// wantError checks that err is an input error whose line contains every part.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("error %v (%T) is not an *Error", err, err)
	}
	text := err.Error()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("error %q does not say %q", text, p)
		}
	}
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("error %q is not one line", text)
	}
}

// small is a set of four examples with two features.
func small() *Set {
	return &Set{
		Name: "small", Task: Regression, Features: []string{"a", "b"}, Target: "t",
		X: Matrix{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 10, 2, 20, 3, 30, 4, 40}},
		Y: []float64{0.5, 1.5, 2.5, 3.5},
	}
}

func TestSplitIsAPartition(t *testing.T) {
	s := small()
	for n := 0; n <= 4; n++ {
		a, b, err := s.Split(n, rand.New(rand.NewPCG(1, uint64(n))))
		if err != nil || a.N() != n || b.N() != 4-n {
			t.Fatalf("Split(%d): %v", n, err)
		}
		all := append(slices.Clone(a.Y), b.Y...)
		slices.Sort(all)
		if !slices.Equal(all, s.Y) {
			t.Fatalf("Split(%d) holds targets %v", n, all)
		}
		for i, y := range a.Y { // inputs moved with their targets
			if a.X.At(i, 0) != y+0.5 || a.X.At(i, 1) != 10*(y+0.5) {
				t.Fatalf("row %v has target %v", a.X.Row(i), y)
			}
		}
	}
	_, _, err := s.Split(5, rand.New(rand.NewPCG(1, 1)))
	wantError(t, err, "small", "5 of 4")
}
