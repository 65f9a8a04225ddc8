package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"
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
}

// M is the number of inputs.
func (in *Inputs) M() int {
	if in.Sparse != nil {
		return in.Sparse.Rows
	}
	return in.X.Rows
}

// LoadInputs reads inputs that fit the training set train, from whatever Load
// accepts as a path. The target column may be missing. The inputs are held as
// those of train are, dense or sparse, whatever Options.Storage says.
func LoadInputs(path string, train *Set, opt Options) (*Inputs, error) {
	opt.Storage = Dense
	if train.Sparse != nil {
		opt.Storage = Sparse
	}
	if strings.HasPrefix(path, syntheticPrefix) || slices.Contains(Names(), path) {
		s, err := Load(path, opt)
		if err != nil {
			return nil, err
		}
		return inputsOf(s, train)
	}
	f, format, err := open(path, opt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := displayName(path)
	if train.Sparse != nil && format != libsvmFormat {
		return nil, notSparse(name, train)
	}
	switch format {
	case libsvmFormat:
		return ReadInputsLIBSVM(f, name, train, opt)
	case npyFormat:
		return ReadInputsNPY(f, name, train, opt)
	default:
		return ReadInputsCSV(f, name, train, opt)
	}
}

// inputsOf takes a whole set as inputs; its features must be those of train.
func inputsOf(s, train *Set) (*Inputs, error) {
	if train.Sparse != nil {
		if s.Sparse == nil {
			return nil, notSparse(s.Name, train)
		}
		return &Inputs{Name: s.Name, Sparse: s.Sparse, Y: s.Y}, nil
	}
	if !slices.Equal(s.Features, train.Features) {
		return nil, &Error{File: s.Name, Err: fmt.Errorf("its features are not those of %s", train.Name)}
	}
	return &Inputs{Name: s.Name, X: s.X, Y: s.Y}, nil
}

func notSparse(name string, train *Set) error {
	return &Error{File: name, Err: fmt.Errorf("%s is sparse: new inputs must be sparse lines too (.svm, .libsvm or .dat)", train.Name)}
}

// ReadInputsCSV reads a CSV file whose header names every feature of train
// and at most its target besides, in any order.
func ReadInputsCSV(r io.Reader, name string, train *Set, opt Options) (*Inputs, error) {
	x, y, err := readTable(r, name, opt, func(header []string) (layout, error) {
		return matchColumns(header, train)
	})
	if err != nil {
		return nil, err
	}
	return &Inputs{Name: name, X: x, Y: y}, nil
}

// matchColumns finds the columns of the training set by name.
func matchColumns(header []string, train *Set) (layout, error) {
	number := make(map[string]int, train.D()+1)
	for j, f := range train.Features {
		number[f] = j
	}
	number[train.Target] = targetColumn
	l := layout{width: train.D()}
	for _, h := range header {
		j, ok := number[h]
		if !ok {
			return layout{}, fmt.Errorf("column %s is not in %s", quote(h), train.Name)
		}
		l.feature = append(l.feature, j)
		delete(number, h)
	}
	for _, f := range train.Features {
		if _, missing := number[f]; missing {
			return layout{}, fmt.Errorf("column %s of %s is missing", quote(f), train.Name)
		}
	}
	return l, nil
}

// ReadInputsLIBSVM reads sparse lines, either all with a label or all without,
// and holds them as the inputs of train are held. Where those are dense, no index
// may exceed the number of features of train; where they are sparse, further
// features are zero in train.
func ReadInputsLIBSVM(r io.Reader, name string, train *Set, opt Options) (*Inputs, error) {
	s, err := readSparse(r, name, opt)
	if err != nil {
		return nil, err
	}
	if train.Sparse != nil {
		return &Inputs{Name: name, Sparse: &s.x, Y: s.labels}, nil
	}
	if s.x.Cols > train.D() {
		return nil, &Error{File: name, Line: s.widest, Err: fmt.Errorf("feature index %d, but %s has %d features", s.x.Cols, train.Name, train.D())}
	}
	s.x.Cols = train.D()
	if err := opt.checkSize(s.x.Rows, s.x.Cols); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	return &Inputs{Name: name, X: s.x.Dense(), Y: s.labels}, nil
}

// ReadInputsNPY reads an array with as many columns as train has features, or
// one more, which is the target.
func ReadInputsNPY(r io.Reader, name string, train *Set, opt Options) (*Inputs, error) {
	a, err := readArray(r, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	d := train.D()
	if a.cols != d && a.cols != d+1 {
		return nil, &Error{File: name, Err: fmt.Errorf("%d columns, but %s has %d features", a.cols, train.Name, d)}
	}
	x, y, err := a.split(d)
	if err != nil {
		return nil, inFile(name, err)
	}
	return &Inputs{Name: name, X: x, Y: y}, nil
}
