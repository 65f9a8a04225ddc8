package dataset

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Load reads a data set from wherever path points:
//
//   - "-": Options.Stdin, a table or sparse lines;
//   - "synthetic:NAME,n=2000,seed=1,...": generated, see Generators;
//   - the name of an embedded set, see Names;
//   - a file: .csv and .tsv (a table), .svm and .libsvm (sparse lines), .txt, .data and .dat (either, which
//     is detected), .npy, .npz (arrays X and y), .parquet;
//   - several files as one table, by a pattern such as rows-*.csv (see filepath.Match), with the
//     same columns, in the order of their names.
//
// Text and .npy may be compressed by gzip or zstd, with .gz or .zst after the other extension. A file whose
// name is that of an embedded set is reached as ./NAME.
func Load(path string, opt Options) (*Set, error) {
	switch {
	case strings.HasPrefix(path, syntheticPrefix):
		return generate(path, opt)
	case slices.Contains(Names(), path):
		return Open(path)
	}
	return read(path, opt, nil)
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
		in, err := Load(path, opt)
		if err == nil {
			err = e.checkFeatures(in)
		}
		return in, err
	}
	return read(path, opt, e)
}

// contents are what files hold: a table or sparse lines.
type contents interface {
	readFile(f *source) error
	set() (*Set, error) // after the last file
}

// newContents are empty: of new inputs for a training set, or of one if train is nil.
func newContents(f format, name string, opt Options, train *Encoding) contents {
	if f == libsvmFormat {
		return &sparse{name: name, opt: opt.bounded(), train: train, x: CSR{Start: []int{0}}}
	}
	return &table{name: name, opt: opt.bounded(), train: train}
}

// read reads the files of a path as one.
func read(path string, opt Options, train *Encoding) (*Set, error) {
	paths, err := Files(path)
	if err != nil {
		return nil, err
	}
	var files []*source
	for _, p := range paths {
		f, err := open(p, opt)
		if err != nil {
			return nil, err
		}
		defer f.close()
		files = append(files, f)
	}
	name := printable(path)
	if len(files) == 1 {
		name = files[0].name
	}
	return readFiles(name, files, opt, train)
}

func readFiles(name string, files []*source, opt Options, train *Encoding) (*Set, error) {
	c := newContents(files[0].format, name, opt, train)
	for _, f := range files {
		if (f.format == libsvmFormat) != (files[0].format == libsvmFormat) {
			return nil, errorIn(f.name, "is another kind of file than those before: files of one table are alike")
		}
		if err := c.readFile(f); err != nil {
			return nil, inFile(f.name, err)
		}
	}
	s, err := c.set()
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}

// rows are the examples of a file of columns, one after the other.
type rows struct {
	header
	// next is the next row, valid until the next call, and its line or number from 1; io.EOF after the last.
	next func() (cells []cell, number int, err error)
}

// header says what is known of the columns of a file.
type header struct {
	names    []string
	headless bool              // the names are positions
	unit     string            // of places: a line of a text or a row of an array
	line     int               // of the names in a text
	refused  map[string]string // columns that hold neither numbers nor texts, and what they hold
	notes    []string          // what was found
}

// cell is what a file holds of a row in a column: a text, "" if there is nothing, or a number.
type cell struct {
	text     string
	number   float64
	isNumber bool
}

// asText is a cell as a text file writes it.
func (x cell) asText() string {
	if x.isNumber {
		return formatNumber(x.number)
	}
	return x.text
}

// openRows reads the header of a file of columns.
func (t *table) openRows(f *source) (*rows, error) {
	switch f.format {
	case npyFormat:
		a, err := openArray(f.text, t.opt)
		if err != nil {
			return nil, err
		}
		return arrayRows(a), nil
	case npzFormat:
		return openArchive(f, t.opt, t.train == nil)
	case parquetFormat:
		return openParquet(f)
	}
	return t.openText(f.text)
}

// readFile appends the rows of a file. The first file says what columns there are; others must have the same.
func (t *table) readFile(f *source) (err error) {
	defer func() {
		if p := recover(); p != nil && f.format == parquetFormat { // its library trusts what pages say
			err = fmt.Errorf("damaged Parquet file: %v", p)
		} else if p != nil {
			panic(p)
		}
	}()
	r, err := t.openRows(f)
	if err != nil {
		return err
	}
	at := place{f.name, r.unit, r.line}
	if err := t.begin(r.header); err != nil {
		return at.error("", err)
	}
	for {
		var cells []cell
		if cells, at.number, err = r.next(); err == nil {
			err = t.add(cells, at)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
