package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadLIBSVM reads the sparse text format of LIBSVM and SVMlight, one example
// a line:
//
//	label index:value index:value ...   # comment
//
// Indices count features from 1 and ascend within a line; what is not given is
// zero. A field qid:... after the label is ignored, as are empty lines and
// comments. The inputs are returned as a dense matrix with as many columns as
// the largest index, named x1, x2, ...; Options.MaxBytes bounds it.
func ReadLIBSVM(r io.Reader, name string, opt Options) (*Set, error) {
	s, err := readSparse(r, name, opt)
	if err != nil {
		return nil, err
	}
	if !s.labelled {
		return nil, &Error{File: name, Line: s.firstLine, Err: errors.New("the label is missing: a line is \"label index:value ...\"")}
	}
	if s.width == 0 {
		return nil, &Error{File: name, Err: errors.New("no example has a feature")}
	}
	x, err := s.dense(s.width, opt)
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	return newFileSet(name, numbered(s.width), "y", x, s.labels)
}

// sparse holds the examples as they stand in the file: example i has the
// entries start[i] to start[i+1]-1.
type sparse struct {
	labels    []float64
	labelled  bool
	firstLine int // line of the first example
	start     []int
	index     []int // from 0
	value     []float64
	width     int // largest index, from 1
	widest    int // line that holds it
}

// longestLine bounds one line of a sparse file, in bytes.
const longestLine = 1 << 28

// readSparse parses the whole file. Either all examples have labels or none.
func readSparse(r io.Reader, name string, opt Options) (*sparse, error) {
	s := &sparse{start: []int{0}}
	lines := bufio.NewScanner(skipByteOrderMark(r))
	lines.Buffer(nil, longestLine)
	for line := 1; lines.Scan(); line++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if err := s.add(fields, line, opt); err != nil {
			err.(*Error).File = name
			err.(*Error).Line = line
			return nil, err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &Error{File: name, Err: fmt.Errorf("%w: a line of more than %s", ErrMemory, humanBytes(longestLine))}
	} else if err != nil {
		return nil, &Error{File: name, Err: reason(err)}
	}
	if len(s.start) == 1 {
		return nil, &Error{File: name, Err: errors.New("the file holds no examples")}
	}
	return s, nil
}

// add appends one example.
func (s *sparse) add(fields []string, line int, opt Options) error {
	labelled := !strings.Contains(fields[0], ":")
	if len(s.start) == 1 {
		s.labelled, s.firstLine = labelled, line
	}
	if labelled != s.labelled {
		return &Error{Err: errors.New("either every line starts with a label or none does")}
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
	previous := 0
	for _, field := range fields {
		index, value, err := parseEntry(field, previous)
		if err != nil {
			return err
		}
		if err := opt.checkSize(1, index); err != nil {
			return &Error{Err: fmt.Errorf("feature %d: %w", index, err)}
		}
		previous = index
		s.index = append(s.index, index-1)
		s.value = append(s.value, value)
	}
	if previous > s.width {
		s.width, s.widest = previous, line
	}
	s.start = append(s.start, len(s.index))
	return nil
}

// parseEntry reads index:value, where the index must exceed previous.
func parseEntry(field string, previous int) (index int, value float64, err error) {
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
	case index < 1:
		return 0, 0, &Error{Err: fmt.Errorf("feature index %d: indices start at 1", index)}
	case index <= previous:
		return 0, 0, &Error{Err: fmt.Errorf("feature index %d follows %d: indices must ascend", index, previous)}
	}
	value, err = parseNumber(right)
	if err != nil {
		return 0, 0, &Error{Column: "x" + strconv.Itoa(index), Err: err}
	}
	return index, value, nil
}

// dense spreads the examples over a matrix with width columns, which must not
// be fewer than the largest index.
func (s *sparse) dense(width int, opt Options) (Matrix, error) {
	n := len(s.start) - 1
	if err := opt.checkSize(n, width); err != nil {
		return Matrix{}, err
	}
	x := NewMatrix(n, width)
	for i := range n {
		row := x.Row(i)
		for k := s.start[i]; k < s.start[i+1]; k++ {
			row[s.index[k]] = s.value[k]
		}
	}
	return x, nil
}
