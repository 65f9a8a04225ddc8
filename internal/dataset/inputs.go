package dataset

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Inputs are new inputs for a predictor, with their targets if the file has them.
type Inputs struct {
	Name string
	// X is M x D, columns in the order of the training set; M >= 1.
	X Matrix
	// Y holds the M targets, nil if the file has none.
	Y []float64
	// Sparse holds the inputs instead of X if those of the training set are sparse, else nil. It may have more
	// columns than they have features, or fewer: what one side lacks is zero there.
	Sparse *CSR
	// RowNames are the names of the inputs if the file has them, else nil.
	RowNames []string
	// Notes say what the reader found, ignored or encoded, a sentence each.
	Notes []string
}

// M is the number of inputs.
func (in *Inputs) M() int {
	if in.Sparse != nil {
		return in.Sparse.Rows
	}
	return in.X.Rows
}

// inputsOf takes a whole set as inputs; its features must be those of the training set.
func (e *Encoding) inputsOf(s *Set) (*Inputs, error) {
	switch {
	case e.Sparse() && s.Sparse == nil:
		return nil, e.errNotSparse(s.Name)
	case !e.Sparse() && !slices.Equal(s.Features, featureNames(e.Columns)):
		return nil, errorIn(s.Name, "its features are not those of %s", e.name())
	}
	return &Inputs{Name: s.Name, X: s.X, Sparse: s.Sparse, Y: s.Y}, nil
}

// NewInputs makes new inputs of a matrix in memory, a row each, and copies it. Its columns are the features
// of the training set in their order.
func NewInputs(x mat.Matrix) (*Inputs, error) {
	const name = "inputs in memory"
	if x == nil {
		return nil, errorIn(name, "there is no matrix")
	}
	rows, cols := x.Dims()
	if rows < 1 || cols < 1 {
		return nil, errorIn(name, "a matrix of %d x %d holds no inputs", rows, cols)
	}
	in := &Inputs{Name: name, X: NewMatrix(rows, cols)}
	for i := range rows {
		for j := range cols {
			v := x.At(i, j)
			if err := checkFinite(v); err != nil {
				return nil, place{name, "row", i + 1}.error(fmt.Sprintf("x%d", j+1), err)
			}
			in.X.Row(i)[j] = v
		}
	}
	return in, nil
}
