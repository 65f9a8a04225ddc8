package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// readSparseSet reads the sparse text format of LIBSVM and SVMlight, one example
// a line:
//
//	label index:value index:value ...   # comment
//
// Indices count features from 1, or from 0 with Options.ZeroBased, and ascend
// within a line; what is not given is zero. A field qid:... after the label is ignored, as are empty lines
// and comments. There are as many features as the largest index. The inputs are held sparse or dense after
// their shape; dense features are named x1, x2, ... Options.MaxBytes
// bounds them. Files are read one after the other.
func readSparseSet(files []stream, name string, opt Options) (*Set, error) {
	s, err := readSparse(files, name, opt)
	if err != nil {
		return nil, err
	}
	return s.set(name, opt)
}

// set makes a training set of sparse lines.
func (s *sparse) set(name string, opt Options) (*Set, error) {
	if !s.labelled {
		return nil, &Error{File: s.first.file, Line: s.first.number,
			Err: errors.New("the label is missing: a line is \"label index:value ...\"")}
	}
	if s.x.Cols == 0 {
		return nil, &Error{File: name, Err: errors.New("no example has a feature")}
	}
	set := &Set{Name: name, Source: name, Task: guessTask(s.labels), Target: "y", Y: s.labels,
		zeroBased: opt.ZeroBased}
	if err := set.hold(&s.x, opt); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	if set.N() < 2 {
		return nil, &Error{File: name, Err: errOneExample}
	}
	if opt.Target != "" || len(opt.Drop)+len(opt.Categorical) > 0 {
		return nil, &Error{File: name,
			Err: errors.New("sparse lines have no columns that --target, --drop or --categorical could name")}
	}
	return set, set.checkTargets(opt.Positive)
}

// hold takes sparse inputs as they are or makes them dense, as opt says.
func (s *Set) hold(x *CSR, opt Options) error {
	if opt.storage.sparse(x.Rows, x.Cols, x.Entries()) {
		s.Sparse = x
		return nil
	}
	if err := opt.checkSize(x.Rows, x.Cols); err != nil {
		return err
	}
	s.X, s.Features = x.Dense(), numbered("x", x.Cols)
	return nil
}

// sparse holds the examples of sparse files.
type sparse struct {
	x             CSR // Cols is the largest index
	labels        []float64
	labelled      bool
	first, widest place // of the first example, and of that with the largest index
}

// readSparse parses whole files. Either all examples have labels or none.
func readSparse(files []stream, name string, opt Options) (*sparse, error) {
	s, opt := &sparse{x: CSR{Start: []int{0}}}, opt.bounded()
	for _, f := range files {
		lines := newLineReader(f.r, longestEntry, opt)
		if err := s.read(lines, f.name, opt); err != nil {
			err := inFile(f.name, err)
			err.Line = lines.number
			return nil, err
		}
	}
	if s.x.Rows == 0 {
		return nil, &Error{File: name, Err: errors.New("the file holds no examples")}
	}
	return s, nil
}

// read appends the examples of all lines of a file.
func (s *sparse) read(lines *lineReader, file string, opt Options) error {
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := s.add(string(line), place{file, lines.number}, opt); err != nil {
			return err
		}
	}
}

// add appends the example of one line, which is not empty.
func (s *sparse) add(text string, at place, opt Options) error {
	first, rest := cutField(text)
	labelled := !strings.Contains(first, ":")
	if s.x.Rows == 0 {
		s.labelled, s.first = labelled, at
	}
	if labelled != s.labelled {
		return &Error{Err: errors.New("either every line starts with a label or none does")}
	}
	if labelled {
		v, err := parseNumber(first)
		if err != nil {
			return &Error{Column: "label", Err: err}
		}
		s.labels = append(s.labels, v)
		text = rest
	}
	if first, rest := cutField(text); strings.HasPrefix(first, "qid:") {
		text = rest
	}
	base := 1
	if opt.ZeroBased {
		base = 0
	}
	previous := 0 // counted from 1
	for field := range strings.FieldsSeq(text) {
		index, value, err := parseEntry(field, previous, base)
		if err != nil {
			return err
		}
		previous = index
		if index > s.x.Cols {
			if err := opt.checkIndex(index); err != nil {
				return &Error{Err: err}
			}
			s.x.Cols, s.widest = index, at
		}
		if value != 0 {
			s.x.Index = append(s.x.Index, int32(index-1))
			s.x.Value = append(s.x.Value, value)
		}
	}
	s.x.Rows++
	s.x.Start = append(s.x.Start, len(s.x.Index))
	if err := opt.checkSparse(s.x.Rows, s.x.Cols, len(s.x.Index)); err != nil {
		return &Error{Err: err}
	}
	return nil
}

// checkIndex refuses a feature index, from 1, that is too large by itself.
func (o Options) checkIndex(index int) error {
	if err := o.checkSparse(1, index, 0); err != nil {
		return fmt.Errorf("feature %d: %w", index, err)
	}
	if index > math.MaxInt32 {
		return fmt.Errorf("feature %d: %w: the largest index is %d", index, ErrMemory, math.MaxInt32)
	}
	return nil
}

// cutField splits text after its first field.
func cutField(text string) (field, rest string) {
	text = strings.TrimSpace(text)
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// parseEntry reads index:value, where the index counts from base in the file and
// from 1 in what is returned, and must exceed previous.
func parseEntry(field string, previous, base int) (index int, value float64, err error) {
	left, right, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, &Error{Err: fmt.Errorf("%s is not index:value", quote(field))}
	}
	index, err = strconv.Atoi(left)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, 0, &Error{Err: fmt.Errorf("feature index in %s is out of range", quote(field))}
	case err != nil:
		return 0, 0, &Error{Err: fmt.Errorf("feature index in %s is not a whole number", quote(field))}
	case index == 0 && base == 1:
		return 0, 0, &Error{Err: errors.New("feature index 0: indices start at 1 (--zero-based: at 0)")}
	case index < base:
		return 0, 0, &Error{Err: fmt.Errorf("feature index %d: indices start at %d", index, base)}
	case index < previous+base:
		return 0, 0, &Error{Err: fmt.Errorf("feature index %d follows %d: indices must ascend", index,
			previous+base-1)}
	case index == math.MaxInt:
		return 0, 0, &Error{Err: fmt.Errorf("feature index in %s is out of range", quote(field))}
	}
	index += 1 - base
	value, err = parseNumber(right)
	if err != nil {
		return 0, 0, &Error{Column: "x" + strconv.Itoa(index), Err: err}
	}
	return index, value, nil
}

// WriteLIBSVM writes the set as ReadLIBSVM reads it: the target, then index and
// value of what is not zero, every number in the shortest form that reads back to
// the same float64. Where no example has the last feature, the first line gives
// it as zero, so that the number of features survives. Names of features do not.
func WriteLIBSVM(w io.Writer, s *Set) error {
	x := s.Sparse
	if x == nil {
		x = NewCSR(s.X)
	}
	widest := 0
	for _, c := range x.Index {
		widest = max(widest, int(c)+1)
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i, y := range s.Y {
		line = strconv.AppendFloat(line[:0], y, 'g', -1, 64)
		index, value := x.Row(i)
		for k, c := range index {
			line = strconv.AppendInt(append(line, ' '), int64(c)+1, 10)
			line = strconv.AppendFloat(append(line, ':'), value[k], 'g', -1, 64)
		}
		if i == 0 && widest < x.Cols {
			line = strconv.AppendInt(append(line, ' '), int64(x.Cols), 10)
			line = append(line, ":0"...)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
