package dataset

import (
	"errors"
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
//   - a file: .csv and .tsv (a table, see ReadTable), .svm and .libsvm (sparse lines), .txt, .data
//     and .dat (either, which is detected), .npy, .npz (arrays X and y), .parquet;
//   - several files as one table, by a pattern such as rows-*.csv (see filepath.Match), with the
//     same columns, in the order of their names.
//
// Text and .npy may be compressed by gzip or zstd, with .gz or .zst after the
// other extension. A file whose name is that of an embedded set is reached as
// ./NAME.
func Load(path string, opt Options) (*Set, error) {
	switch {
	case strings.HasPrefix(path, syntheticPrefix):
		return generate(path, opt)
	case slices.Contains(Names(), path):
		return Open(path)
	}
	c, name, err := read(path, opt, (*table).planTraining)
	if err != nil {
		return nil, err
	}
	s, err := c.set(opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
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
	c, name, err := read(path, opt, func(t *table) error { return t.planInputs(e) })
	if err != nil {
		return nil, err
	}
	in, err := c.inputs(e, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	return in, nil
}

// contents are what files hold: a table or sparse lines.
type contents interface {
	end() error // after the last file
	set(opt Options) (*Set, error)
	inputs(e *Encoding, opt Options) (*Inputs, error)
}

// read reads the files of a path as one, after plan has given the columns of a table their roles; name is
// that of a single file or of them all.
func read(path string, opt Options, plan func(t *table) error) (c contents, name string, err error) {
	paths, err := Files(path)
	if err != nil {
		return nil, "", err
	}
	for _, p := range paths {
		f, err := open(p, opt)
		if err != nil {
			return nil, "", err
		}
		defer f.close()
		if name = printable(path); len(paths) == 1 {
			name = f.name
		}
		isLines := f.format == libsvmFormat
		switch {
		case c == nil && isLines:
			c = newSparse(name)
		case c == nil:
			c = newTable(name, opt)
		}
		switch c := c.(type) {
		case *sparse:
			if err = errKind; isLines {
				err = c.read(f.text, f.name, opt.bounded())
			}
		case *table:
			if err = errKind; !isLines {
				err = c.readFile(f, plan)
			}
		}
		if err != nil {
			return nil, "", inFile(f.name, err)
		}
	}
	return c, name, c.end()
}

var errKind = errors.New("is another kind of file than those before: files of one table are alike")

// rows are the examples of a file, one after the other.
type rows interface {
	header() header
	// next is the next row, valid until the next call, and its line or number from 1; io.EOF after the last.
	next() (cells []cell, number int, err error)
}

// header says what is known of the columns of a file.
type header struct {
	names    []string
	line     int               // of the names in a text
	headless bool              // the names are positions
	array    bool              // places are rows, not lines
	noTarget bool              // the file can only hold new inputs
	refused  map[string]string // columns that hold neither numbers nor texts, and what they hold
	notes    []string          // what was found
}

// cell is what a file holds of a row in a column: a text, "" if there is nothing, or a number.
type cell struct {
	text     string
	number   float64
	isNumber bool
}

// readFile reads a file of columns.
func (t *table) readFile(f *source, plan func(t *table) error) (err error) {
	defer func() {
		if p := recover(); p != nil && f.format == parquetFormat { // its library trusts what pages say
			err = fmt.Errorf("damaged Parquet file: %v", p)
		} else if p != nil {
			panic(p)
		}
	}()
	var r rows
	switch f.format {
	case npyFormat:
		r, err = openArray(f, t.opt)
	case npzFormat:
		r, err = openArchive(f, t.opt)
	case parquetFormat:
		r, err = openParquet(f)
	default:
		r, err = t.openText(f.text)
	}
	if err != nil {
		return err
	}
	return t.read(r, f.name, plan)
}

// read appends the rows of a file. The first file says what columns there are; others must have the same.
func (t *table) read(r rows, file string, plan func(t *table) error) error {
	h := r.header()
	t.part, t.array = file, h.array
	var err error
	if t.columns == nil {
		t.headless, t.noTarget, t.notes = h.headless, h.noTarget, h.notes
		if err = t.nameColumns(h); err == nil {
			err = plan(t)
		}
		if err == nil {
			err = t.use()
		}
	} else {
		err = t.sameColumns(h)
	}
	if err != nil {
		e := inFile(file, err)
		e.Line = h.line
		return e
	}
	for {
		cells, number, err := r.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.add(cells, number)
		}
		if err != nil {
			return err
		}
	}
	if s, ok := r.(*textRows); ok && s.skipped > 0 {
		t.note("%d lines below the first that start with # are skipped", s.skipped)
	}
	return nil
}

// end notes what was found in the rows.
func (t *table) end() error {
	if t.blank > 0 {
		t.note("%d empty rows are skipped", t.blank)
	}
	if t.rows == 0 {
		return &Error{File: t.file, Err: errors.New("no examples below the header")}
	}
	return nil
}

// ReadTable reads a text with a line per example and a column per feature. The
// separator (comma, semicolon, tab or runs of blanks) and the header line are
// detected, see the package documentation; lines that start with # and
// empty lines are skipped, a byte order mark and CRLF line ends accepted. The
// options choose target and columns and say what becomes of missing values.
// Columns of texts become indicators. At least two examples and one feature are
// needed. name stands in messages and becomes the name of the set.
func ReadTable(r io.Reader, name string, opt Options) (*Set, error) {
	t, err := readTable(r, name, opt, (*table).planTraining)
	if err != nil {
		return nil, err
	}
	s, err := t.set(opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}

func readTable(r io.Reader, name string, opt Options, plan func(t *table) error) (*table, error) {
	t := newTable(name, opt)
	if err := t.readFile(&source{name: name, text: newText(r)}, plan); err != nil {
		return nil, inFile(name, err)
	}
	return t, t.end()
}
