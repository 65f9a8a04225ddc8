package dataset

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// ReadCSV reads comma separated values: one header line that names the
// columns, then one line per example, features first, target last. A byte
// order mark and CRLF line ends are accepted, empty lines are skipped. At
// least two examples and one feature are needed. name stands in messages and
// becomes the name of the set.
func ReadCSV(r io.Reader, name string, opt Options) (*Set, error) {
	var header []string
	x, y, err := readTable(r, name, opt, func(names []string) (layout, error) {
		header = names
		return targetLast(names)
	})
	if err != nil {
		return nil, err
	}
	last := len(header) - 1
	return newFileSet(name, header[:last], header[last], x, y)
}

// newFileSet assembles what a reader found; a single example is refused.
func newFileSet(name string, features []string, target string, x Matrix, y []float64) (*Set, error) {
	if x.Rows < 2 {
		return nil, &Error{File: name, Err: errOneExample}
	}
	return &Set{Name: name, Source: name, Task: guessTask(y), Features: features, Target: target, X: x, Y: y}, nil
}

// layout says where the columns of a file go: feature[j] is the feature number
// of file column j, or targetColumn.
type layout struct {
	feature []int
	width   int // number of features
}

const targetColumn = -1

// targetLast is the layout of a training set.
func targetLast(header []string) (layout, error) {
	d := len(header) - 1
	if d < 1 {
		return layout{}, fmt.Errorf("only one column (%s): features and a target, separated by commas, are needed", quote(header[0]))
	}
	l := layout{feature: make([]int, d+1), width: d}
	for j := range d {
		l.feature[j] = j
	}
	l.feature[d] = targetColumn
	return l, nil
}

// readTable reads a CSV file into inputs and targets (nil without target
// column), after plan has looked at the header.
func readTable(r io.Reader, name string, opt Options, plan func(header []string) (layout, error)) (Matrix, []float64, error) {
	rows := csv.NewReader(skipByteOrderMark(r))
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	rows.TrimLeadingSpace = true

	record, err := rows.Read()
	if err == io.EOF {
		return Matrix{}, nil, &Error{File: name, Err: errors.New("the file is empty")}
	}
	if err != nil {
		return Matrix{}, nil, csvError(name, err)
	}
	line, _ := rows.FieldPos(0)
	header, err := readHeader(record)
	if err != nil {
		return Matrix{}, nil, &Error{File: name, Line: line, Err: err}
	}
	l, err := plan(header)
	if err != nil {
		return Matrix{}, nil, &Error{File: name, Line: line, Err: err}
	}

	var x, y []float64
	n := 0
	for {
		record, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Matrix{}, nil, csvError(name, err)
		}
		n++
		if err := opt.checkSize(n, l.width); err != nil {
			return Matrix{}, nil, &Error{File: name, Err: err}
		}
		if x, y, err = appendRecord(x, y, record, rows, header, l); err != nil {
			err.(*Error).File = name
			return Matrix{}, nil, err
		}
	}
	if n == 0 {
		return Matrix{}, nil, &Error{File: name, Err: errors.New("no examples below the header")}
	}
	return Matrix{Rows: n, Cols: l.width, Stride: l.width, Data: x}, y, nil
}

// appendRecord parses one line of examples onto x and y.
func appendRecord(x, y []float64, record []string, rows *csv.Reader, header []string, l layout) ([]float64, []float64, error) {
	if len(record) != len(header) {
		line, _ := rows.FieldPos(0)
		return nil, nil, &Error{Line: line, Err: fmt.Errorf("%d cells, but the header names %d columns", len(record), len(header))}
	}
	start := len(x)
	for range l.width {
		x = append(x, 0)
	}
	for j, cell := range record {
		v, err := parseNumber(cell)
		if err != nil {
			line, _ := rows.FieldPos(j)
			return nil, nil, &Error{Line: line, Column: header[j], Err: err}
		}
		if l.feature[j] == targetColumn {
			y = append(y, v)
		} else {
			x[start+l.feature[j]] = v
		}
	}
	return x, y, nil
}

// readHeader copies and checks the column names.
func readHeader(record []string) ([]string, error) {
	header := make([]string, len(record))
	numeric := 0
	for j, cell := range record {
		header[j] = strings.TrimSpace(cell)
		if isNumeric(cell) {
			numeric++
		}
	}
	if numeric == len(header) {
		return nil, errors.New("all cells are numbers: a header line that names the columns is needed")
	}
	seen := make(map[string]int, len(header))
	for j, h := range header {
		if h == "" {
			return nil, fmt.Errorf("column %d has no name", j+1)
		}
		if strings.ContainsFunc(h, unicode.IsControl) {
			return nil, fmt.Errorf("the name %s of column %d holds control characters", quote(h), j+1)
		}
		if first, ok := seen[h]; ok {
			return nil, fmt.Errorf("columns %d and %d have the same name %s", first+1, j+1, quote(h))
		}
		seen[h] = j
	}
	return header, nil
}

// csvError turns an error of encoding/csv or of the stream below into an Error.
func csvError(name string, err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &Error{File: name, Line: parse.Line, Err: parse.Err}
	}
	return &Error{File: name, Err: reason(err)}
}

// skipByteOrderMark drops the UTF-8 byte order mark if the stream starts with it.
func skipByteOrderMark(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b
}

// WriteCSV writes the set as ReadCSV reads it: every number in the shortest
// form that reads back to the same float64. Sparse inputs are refused.
func WriteCSV(w io.Writer, s *Set) error {
	if s.Sparse != nil {
		return &Error{File: s.Name, Err: errors.New("sparse inputs have no columns for a CSV file: WriteLIBSVM writes them")}
	}
	out := csv.NewWriter(w)
	record := append(append([]string{}, s.Features...), s.Target)
	if err := out.Write(record); err != nil {
		return err
	}
	for i := range s.N() {
		for j, v := range s.X.Row(i) {
			record[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		record[s.D()] = strconv.FormatFloat(s.Y[i], 'g', -1, 64)
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
