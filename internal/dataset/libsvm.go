package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// sparse holds the examples of files of the sparse text format of LIBSVM and SVMlight, one a line:
//
//	label index:value index:value ...   # comment
//
// Indices count features from 1, or from 0 with Options.ZeroBased, and ascend
// within a line; what is not given is zero. A field qid:... after the label is ignored, as are empty lines
// and comments. There are as many features as the largest index. Either all examples have labels or none.
type sparse struct {
	file          string
	x             CSR // Cols is the largest index
	labels        []float64
	labelled      bool
	first, widest place // of the first example, and of that with the largest index
}

func newSparse(file string) *sparse { return &sparse{file: file, x: CSR{Start: []int{0}}} }

// read appends the examples of a file.
func (s *sparse) read(text io.Reader, file string, opt Options) error {
	lines := newLines(text, opt)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		at := place{file: file, number: lines.number}
		if err == nil {
			line, _, _ = bytes.Cut(line, []byte{'#'})
			err = s.add(strings.Fields(string(line)), at, opt)
		}
		if err != nil {
			err := inFile(file, err)
			err.Line = at.number
			return err
		}
	}
}

// end refuses files without examples.
func (s *sparse) end() error {
	if s.x.Rows == 0 {
		return &Error{File: s.file, Err: errors.New("the file holds no examples")}
	}
	return nil
}

// add appends the example of one line, if it holds one.
func (s *sparse) add(fields []string, at place, opt Options) error {
	if len(fields) == 0 {
		return nil
	}
	labelled := !strings.Contains(fields[0], ":")
	if s.x.Rows == 0 {
		s.labelled, s.first = labelled, at
	}
	if labelled != s.labelled {
		return errors.New("either every line starts with a label or none does")
	}
	if labelled {
		v, err := parseNumber(fields[0])
		if err != nil {
			return &Error{Column: "label", Err: err}
		}
		s.labels = append(s.labels, v)
		fields = fields[1:]
	}
	if len(fields) > 0 && strings.HasPrefix(fields[0], "qid:") {
		fields = fields[1:]
	}
	base := 1
	if opt.ZeroBased {
		base = 0
	}
	previous := 0 // counted from 1
	for _, field := range fields {
		index, value, err := parseEntry(field, previous, base)
		if err != nil {
			return err
		}
		previous = index
		if index > s.x.Cols {
			if err := opt.fitsSparse(1, index, 0); err != nil {
				return fmt.Errorf("feature %d: %w", index, err)
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
	return opt.fitsSparse(s.x.Rows, s.x.Cols, len(s.x.Index))
}

// parseEntry reads index:value, where the index counts from base in the file and
// from 1 in what is returned, and must exceed previous.
func parseEntry(field string, previous, base int) (index int, value float64, err error) {
	left, right, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, fmt.Errorf("%s is not index:value", quote(field))
	}
	index, err = strconv.Atoi(left)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && index >= math.MaxInt32:
		return 0, 0, fmt.Errorf("feature index in %s is out of range: %w", quote(field), ErrMemory)
	case err != nil:
		return 0, 0, fmt.Errorf("feature index in %s is not a whole number", quote(field))
	case index == 0 && base == 1:
		return 0, 0, errors.New("feature index 0: indices start at 1 (--zero-based: at 0)")
	case index < base:
		return 0, 0, fmt.Errorf("feature index %d: indices start at %d", index, base)
	case index < previous+base:
		return 0, 0, fmt.Errorf("feature index %d follows %d: indices must ascend", index, previous+base-1)
	}
	index += 1 - base
	value, err = parseNumber(right)
	if err != nil {
		return 0, 0, &Error{Column: "x" + strconv.Itoa(index), Err: err}
	}
	return index, value, nil
}

// set makes a training set, sparse or dense after its shape; dense features are named x1, x2, ...
func (s *sparse) set(opt Options) (*Set, error) {
	set := &Set{Name: s.file, Source: s.file, Task: guessTask(s.labels), Target: "y", Y: s.labels,
		zeroBased: opt.ZeroBased}
	switch {
	case !s.labelled:
		return nil, s.first.error("", errors.New("the label is missing: a line is \"label index:value ...\""))
	case s.x.Cols == 0:
		return nil, errors.New("no example has a feature")
	case s.x.Rows < 2:
		return nil, errOneExample
	case opt.Target != "" || len(opt.Drop)+len(opt.Categorical) > 0:
		return nil, errors.New("sparse lines have no columns that --target, --drop or --categorical could name")
	case keepSparse(s.x.Rows, s.x.Cols, s.x.Entries()):
		set.Sparse = &s.x
		return set, set.checkTargets(opt.Positive)
	}
	if err := opt.fitsDense(s.x.Rows, s.x.Cols); err != nil {
		return nil, err
	}
	set.X, set.Features = s.x.Dense(), numbered("x", s.x.Cols)
	return set, set.checkTargets(opt.Positive)
}

// keepSparse reports whether the inputs of a file stay sparse: with at least 1000 features, of which at most
// 1 in 20 is not zero. Otherwise a dense matrix is small, or its products are as fast.
func keepSparse(rows, cols, entries int) bool {
	const wide, thin = 1000, 1.0 / 20
	return cols >= wide && float64(entries) <= thin*float64(rows)*float64(cols)
}

// inputs are new inputs, held as those of the training set are. If those are dense, no index may exceed the
// number of features; if they are sparse, further features are zero there.
func (s *sparse) inputs(e *Encoding, opt Options) (in *Inputs, err error) {
	in = &Inputs{Name: s.file, Y: s.labels}
	if e.Labels != nil && s.labels != nil {
		if in.Y, err = e.Labels.apply(s.labels, nil); err != nil {
			return nil, err
		}
	}
	if e.Sparse() {
		in.Sparse = &s.x
		return in, nil
	}
	if s.x.Cols > e.Features {
		return nil, s.widest.error("", fmt.Errorf("feature index %d, but %s has %d features", s.x.Cols, e.name(),
			e.Features))
	}
	s.x.Cols = e.Features
	if err := opt.fitsDense(s.x.Rows, s.x.Cols); err != nil {
		return nil, err
	}
	in.X = s.x.Dense()
	return in, nil
}
