package dataset

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/need"
)

// TestNew: a set in memory is the set that a table of the same numbers is, and does not
// change with the matrix that it was made of.
func TestNew(t *testing.T) {
	x, y := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), []float64{-1, 1}
	s := need.One(New(x, y))(t)
	x.Set(0, 0, 9)
	y[0] = 9
	if !slices.Equal(s.X.Data, []float64{1, 2, 3, 4, 5, 6}) || !slices.Equal(s.Y, []float64{-1, 1}) ||
		s.Task != Classification ||
		!slices.Equal(s.Features, []string{"x1", "x2", "x3"}) || s.Target != "y" {
		t.Errorf("%+v", s)
	}
	if turned, err := New(x.T(), []float64{1, 2, 5}); err != nil || turned.D() != 2 ||
		turned.Task != Regression || turned.X.At(2, 1) != 6 {
		t.Errorf("a view: %+v, %v", turned, err)
	}
	_, noMatrix := New(nil, nil)
	_, empty := New(&mat.Dense{}, nil)
	_, few := New(x, []float64{1})
	_, one := New(mat.NewDense(1, 1, nil), []float64{1})
	_, nan := New(mat.NewDense(2, 1, []float64{0, math.NaN()}), y)
	_, infinite := New(x, []float64{1, math.Inf(1)})
	for says, err := range map[string]error{"there is no matrix": noMatrix, "0 x 0": empty,
		"1 targets for 2":  few,
		"only one example": one, `row 2: column "x1": NaN`: nan, `row 2: column "y": +Inf`: infinite} {
		wantError(t, err, says)
	}
}
