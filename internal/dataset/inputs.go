package dataset

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Inputs are new inputs for a predictor, with their targets where the file
// has them.
type Inputs struct {
	Name string
	// X is M x D, columns in the order of the training set; M >= 1.
	X Matrix
	// Y holds the M targets, nil if the file has none.
	Y []float64
	// Sparse holds the inputs instead of X where those of the training set are
	// sparse, else nil. It may have more columns than they have features, or
	// fewer: what one side lacks is zero there.
	Sparse *CSR
	// RowNames are the names of the inputs where the file has them, else nil.
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

func (e *Encoding) options(opt Options) Options {
	if opt.Missing == MissingError {
		opt.Missing = e.Missing
	}
	opt.ZeroBased = opt.ZeroBased || e.FirstIndex == 0
	return opt
}

// inputsOf takes a whole set as inputs; its features must be those of the training set.
func (e *Encoding) inputsOf(s *Set) (*Inputs, error) {
	switch {
	case e.Sparse() && s.Sparse == nil:
		return nil, e.errNotSparse(s.Name)
	case !e.Sparse() && !slices.Equal(s.Features, featureNames(e.Columns)):
		return nil, &Error{File: s.Name, Err: fmt.Errorf("its features are not those of %s", e.name())}
	}
	return &Inputs{Name: s.Name, X: s.X, Sparse: s.Sparse, Y: s.Y}, nil
}

func (e *Encoding) errNotSparse(name string) error {
	return &Error{File: name,
		Err: fmt.Errorf("%s is sparse: new inputs must be sparse lines too (.svm, .libsvm or .dat)", e.name())}
}

// NewInputs makes new inputs of a matrix in memory, a row each, and copies it. Its columns are
// the features of the training set in their order.
func NewInputs(x mat.Matrix) (*Inputs, error) {
	const name = "inputs in memory"
	if x == nil {
		return nil, &Error{File: name, Err: errors.New("there is no matrix")}
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
