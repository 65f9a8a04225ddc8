package dataset

import (
	"fmt"
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
	files, err := openAll(path, opt)
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	name, texts, err := together(files, path)
	if err != nil {
		return nil, err
	}
	f := files[0]
	if train.Sparse != nil && f.format != libsvmFormat {
		return nil, notSparse(name, train)
	}
	switch f.format {
	case libsvmFormat:
		return readInputsLIBSVM(texts, name, train, opt)
	case npyFormat:
		t, err := readArrayFiles(files, name, opt, func(t *table) error { return t.planInputs(train) })
		if err != nil {
			return nil, err
		}
		return t.inputArray(train)
	case npzFormat:
		return readInputsNPZ(f, train, opt)
	case parquetFormat:
		return readInputsParquet(f, train, opt)
	default:
		return readInputsTable(texts, name, train, opt)
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
	return &Error{File: name,
		Err: fmt.Errorf("%s is sparse: new inputs must be sparse lines too (.svm, .libsvm or .dat)", train.Name)}
}

// readInputsLIBSVM reads sparse lines, either all with a label or all without,
// and holds them as the inputs of train are held. Where those are dense, no index
// may exceed the number of features of train; where they are sparse, further
// features are zero in train.
func readInputsLIBSVM(files []stream, name string, train *Set, opt Options) (*Inputs, error) {
	s, err := readSparse(files, name, opt)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Name: name, Y: s.labels}
	if train.Labels != nil && s.labels != nil {
		if in.Y, err = train.Labels.apply(s.labels, nil); err != nil {
			return nil, inFile(name, err)
		}
	}
	if train.Sparse != nil {
		in.Sparse = &s.x
		return in, nil
	}
	if s.x.Cols > train.D() {
		return nil, &Error{File: name, Line: s.widest, Err: fmt.Errorf("feature index %d, but %s has %d features",
			s.x.Cols, train.Name, train.D())}
	}
	s.x.Cols = train.D()
	if err := opt.checkSize(s.x.Rows, s.x.Cols); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	in.X = s.x.Dense()
	return in, nil
}
