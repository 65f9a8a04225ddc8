package dataset

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// New makes a set of N x D inputs and N targets that are in memory, and copies them. Its
// features are called x1, x2, ..., its target y; it is for classification if each target is
// -1 or +1, and Classify makes classes of two other values. At least two examples and one
// feature are needed, all finite.
func New(x mat.Matrix, y []float64) (*Set, error) {
	const name = "data in memory"
	inputs, err := NewInputs(x)
	if err != nil {
		return nil, err
	}
	n := inputs.M()
	switch {
	case n != len(y):
		return nil, &Error{File: name, Err: fmt.Errorf("%d targets for %d examples", len(y), n)}
	case n < 2:
		return nil, &Error{File: name, Err: errOneExample}
	}
	for i, v := range y {
		if err := checkFinite(v); err != nil {
			return nil, &Error{File: name, Row: i + 1, Column: "y", Err: err}
		}
	}
	return &Set{
		Name: name, Source: name, Task: guessTask(y), Features: numbered("x", inputs.X.Cols), Target: "y",
		X: inputs.X,
		Y: append([]float64(nil), y...),
	}, nil
}

// NewInputs makes new inputs of a matrix in memory, a row each, and copies it. Its columns are
// the features of the training set in their order.
func NewInputs(x mat.Matrix) (*Inputs, error) {
	const name = "inputs in memory"
	if x == nil {
		return nil, &Error{File: name, Err: fmt.Errorf("there is no matrix")}
	}
	rows, cols := x.Dims()
	if rows < 1 || cols < 1 {
		return nil, &Error{File: name, Err: fmt.Errorf("a matrix of %d x %d holds no inputs", rows, cols)}
	}
	in := &Inputs{Name: name, X: NewMatrix(rows, cols)}
	for i := range rows {
		to := in.X.Row(i)
		for j := range to {
			to[j] = x.At(i, j)
			if err := checkFinite(to[j]); err != nil {
				return nil, &Error{File: name, Row: i + 1, Column: fmt.Sprintf("x%d", j+1), Err: err}
			}
		}
	}
	return in, nil
}
