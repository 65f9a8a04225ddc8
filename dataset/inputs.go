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

// LoadInputs reads inputs that fit the training set train, see Encoding.LoadInputs.
func LoadInputs(path string, train *Set, opt Options) (*Inputs, error) {
	return train.Encoding().LoadInputs(path, opt)
}

// LoadInputs reads new inputs from whatever Load accepts as a path. The target column may be missing. What
// the training set did about missing values is done again, unless opt says otherwise. The inputs are held as
// those of the training set are, dense or sparse, whatever their shape.
func (e *Encoding) LoadInputs(path string, opt Options) (*Inputs, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	opt = e.options(opt)
	if strings.HasPrefix(path, syntheticPrefix) || slices.Contains(Names(), path) {
		s, err := Load(path, opt)
		if err != nil {
			return nil, err
		}
		return e.inputsOf(s)
	}
	files, name, err := openAll(path, opt)
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	if e.Sparse() && files[0].format != libsvmFormat {
		return nil, e.errNotSparse(name)
	}
	if files[0].format == libsvmFormat {
		return e.readSparse(streams(files), name, opt)
	}
	t, err := readAny(files, name, opt, func(t *table) error { return t.planInputs(e) })
	if err != nil {
		return nil, err
	}
	return t.inputs(e)
}

// ReadInputsTable is LoadInputs for a text table with a column for every feature, in any order; other
// columns are ignored.
func (e *Encoding) ReadInputsTable(r io.Reader, name string, opt Options) (*Inputs, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	t, err := readTable([]stream{{name, r}}, name, e.options(opt),
		func(t *table) error { return t.planInputs(e) })
	if err != nil {
		return nil, err
	}
	return t.inputs(e)
}

func (e *Encoding) options(opt Options) Options {
	if opt.Missing == MissingError {
		opt.Missing = e.Missing
	}
	opt.ZeroBased = opt.ZeroBased || e.FirstIndex == 0
	opt.storage = heldDense
	if e.Sparse() {
		opt.storage = heldSparse
	}
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

// readSparse reads sparse lines, either all with a label or all without,
// and holds them as the inputs of the training set are held. Where those are dense, no index
// may exceed the number of features; where they are sparse, further features are zero there.
func (e *Encoding) readSparse(files []stream, name string, opt Options) (*Inputs, error) {
	s, err := readSparse(files, name, opt)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Name: name, Y: s.labels}
	if e.Labels != nil && s.labels != nil {
		if in.Y, err = e.Labels.apply(s.labels, nil); err != nil {
			return nil, inFile(name, err)
		}
	}
	if e.Sparse() {
		in.Sparse = &s.x
		return in, nil
	}
	if s.x.Cols > e.Features {
		return nil, &Error{File: s.widest.file, Line: s.widest.number,
			Err: fmt.Errorf("feature index %d, but %s has %d features", s.x.Cols, e.name(), e.Features)}
	}
	s.x.Cols = e.Features
	if err := opt.checkSize(s.x.Rows, s.x.Cols); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	in.X = s.x.Dense()
	return in, nil
}
