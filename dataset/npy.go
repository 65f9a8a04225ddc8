package dataset

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sbinet/npyio/npy"
)

// readArrays reads NumPy arrays of two dimensions, one below the other: a row per example, features first,
// target in the last column unless the options name another. Elements are floats of 4 or 8 bytes, integers
// or booleans in either byte order; C and Fortran order are accepted. Columns are named x1, x2, ... and y;
// NaN is a missing value.
func readArrays(files []*source, name string, opt Options, plan func(t *table) error) (*table, error) {
	t := &table{file: name, opt: opt.bounded(), array: true}
	for _, f := range files {
		a, err := openArray(f.text, f.size, opt)
		if err == nil {
			err = t.addArray(a, f.name, plan)
		}
		if err != nil {
			return nil, inFile(f.name, err)
		}
	}
	return t, nil
}

// addArray appends the rows of an array.
func (t *table) addArray(a *array, file string, plan func(t *table) error) error {
	switch {
	case t.columns == nil:
		t.namePositions(a.cols)
		if err := t.planArrays(plan); err != nil {
			return err
		}
	case a.cols != len(t.columns):
		return fmt.Errorf("%d columns, there are %d in the files before: files of one table have the same columns",
			a.cols, len(t.columns))
	}
	return t.fill(a, file, t.rows(), 0)
}

// planArrays gives the columns of arrays their roles.
func (t *table) planArrays(plan func(t *table) error) error {
	for j := range t.columns {
		t.columns[j].kind = numbers
	}
	if err := plan(t); err != nil {
		return err
	}
	t.use()
	return nil
}

// fill reads the elements of an array into rows and columns from those numbers on.
func (t *table) fill(a *array, file string, firstRow, firstColumn int) error {
	if err := t.opt.checkSize(firstRow+a.rows, len(t.columns)); err != nil {
		return err
	}
	slot := make([]int, a.cols) // of each column among those used, -1 for none
	for j := range slot {
		slot[j] = -1
	}
	for k, j := range t.used {
		if firstColumn <= j && j < firstColumn+a.cols {
			slot[j-firstColumn] = k
		}
	}
	buffer := make([]float64, min(a.rows*a.cols, blockCells))
	for next := 0; next < a.rows*a.cols; {
		some := buffer[:min(len(buffer), a.rows*a.cols-next)]
		if err := a.read(some); err != nil {
			return err
		}
		for _, v := range some {
			i, j := next/a.cols, next%a.cols
			if a.fortran {
				i, j = next%a.rows, next/a.rows
			}
			next++
			if firstRow+i == t.rows() {
				t.cells.add()
			}
			if slot[j] < 0 {
				continue
			}
			c := &t.columns[firstColumn+j]
			switch {
			case math.IsNaN(v):
				c.miss(firstRow+i, place{file, i + 1})
			case math.IsInf(v, 0):
				return &Error{File: file, Row: i + 1, Column: c.name, Err: checkFinite(v)}
			}
			t.cells.row(firstRow + i)[slot[j]] = v
		}
	}
	if _, err := a.from.r.ReadByte(); err != io.EOF {
		return a.errLong()
	}
	return nil
}

// array is a NumPy array whose header was read.
type array struct {
	rows, cols int
	fortran    bool // columns first
	from       *counted
	elements   func(dst []float64) error
}

// counted hands on all bytes that are asked for, or none, and counts them. What failed is kept: npyio
// takes the end of a file for zeros.
type counted struct {
	r     *bufio.Reader
	bytes int64
	err   error
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := io.ReadFull(c.r, p)
	c.bytes += int64(n)
	if err != nil {
		c.err = err
	}
	return n, err
}

// longestHeader bounds the text of a NumPy header; two dimensions and a plain
// element type take about a hundred bytes.
const longestHeader = 1 << 16

var errHeader = errors.New("damaged NumPy header")

// openArray reads a header and compares it with the size of the file, negative where that is not known.
func openArray(r *bufio.Reader, size int64, opt Options) (a *array, err error) {
	lead, _ := r.Peek(12)
	switch {
	case len(lead) < 8 || string(lead[:6]) != "\x93NUMPY":
		return nil, errors.New("not a NumPy (.npy) file")
	case lead[6] != 1 && lead[6] != 2:
		return nil, fmt.Errorf("NumPy format version %d is not known", lead[6])
	case len(lead) < 12 || lead[6] == 2 && binary.LittleEndian.Uint32(lead[8:]) > longestHeader:
		return nil, errHeader
	}
	a = &array{from: &counted{r: r}}
	header, err := readHeader(a.from)
	if err != nil {
		return nil, errHeader
	}
	bytes, err := a.setType(header)
	if err == nil {
		err = a.setShape(header)
	}
	if err != nil {
		return nil, err
	}
	if err := opt.checkSize(a.rows, a.cols); err != nil {
		return nil, err
	}
	if a.cols > mostColumns {
		return nil, fmt.Errorf("%w: more than %d columns; rows are examples, columns are features", ErrMemory,
			mostColumns)
	}
	need := float64(a.from.bytes) + float64(bytes)*float64(a.rows)*float64(a.cols)
	switch {
	case size >= 0 && float64(size) < need:
		return nil, a.errShort()
	case size >= 0 && float64(size) > need:
		return nil, a.errLong()
	}
	return a, nil
}

// readHeader has npyio read the header; it trusts the text to be one.
func readHeader(r io.Reader) (header *npy.Reader, err error) {
	defer func() {
		if recover() != nil {
			err = errHeader
		}
	}()
	return npy.NewReader(r)
}

// setType finds the type of the elements, and the bytes of one.
func (a *array) setType(r *npy.Reader) (bytes int, err error) {
	descr := &r.Header.Descr
	a.fortran = descr.Fortran
	if strings.Contains(descr.Type, "(") {
		return 0, errors.New("arrays with named fields are not supported: save one float64 array of two dimensions")
	}
	order, name := descr.Type[:min(1, len(descr.Type))], descr.Type[min(1, len(descr.Type)):]
	if name == "b1" { // bytes that are 0 or 1
		name, descr.Type = "u1", order+"u1"
	}
	types := map[string]func(*npy.Reader) func([]float64) error{
		"f4": elementsOf[float32], "f8": elementsOf[float64],
		"i1": elementsOf[int8], "i2": elementsOf[int16], "i4": elementsOf[int32], "i8": elementsOf[int64],
		"u1": elementsOf[uint8], "u2": elementsOf[uint16], "u4": elementsOf[uint32], "u8": elementsOf[uint64],
	}
	reader, ok := types[name]
	if !ok || !strings.Contains("<>|", order) {
		return 0, fmt.Errorf("elements of type %s: numbers are needed, a.astype(float) makes them",
			quote(descr.Type))
	}
	a.elements = reader(r)
	return int(name[1] - '0'), nil
}

// elementsOf reads the next elements of an array.
func elementsOf[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	r *npy.Reader) func(dst []float64) error {
	return func(dst []float64) error {
		values := make([]T, len(dst))
		err := r.Read(&values)
		for k, v := range values {
			dst[k] = float64(v)
		}
		return err
	}
}

// setShape takes a shape of one or two dimensions.
func (a *array) setShape(r *npy.Reader) error {
	shape := r.Header.Descr.Shape
	switch len(shape) {
	case 1:
		a.rows, a.cols = shape[0], 1
	case 2:
		a.rows, a.cols = shape[0], shape[1]
	default:
		return fmt.Errorf("shape %v: an array of two dimensions is needed", shape)
	}
	if a.rows < 1 || a.cols < 1 {
		return fmt.Errorf("shape (%d, %d) holds no examples", a.rows, a.cols)
	}
	return nil
}

// read reads the next elements.
func (a *array) read(dst []float64) error {
	err := a.elements(dst)
	if a.from.err != nil {
		err = a.from.err
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return a.errShort()
	}
	return err
}

// errShort says that there are fewer elements than the header announces.
func (a *array) errShort() error {
	return fmt.Errorf("the file ends before the %d x %d elements of its shape", a.rows, a.cols)
}

// errLong says that there are more.
func (a *array) errLong() error {
	return fmt.Errorf("more bytes than shape (%d, %d) accounts for", a.rows, a.cols)
}

// readArchive reads a NumPy archive with the arrays X (a row per example) and y as one table, y last. New
// inputs need no y.
func readArchive(f *source, opt Options, plan func(t *table) error) (*table, error) {
	archive, err := zip.NewReader(f.file, f.size)
	if err != nil {
		return nil, errors.New("not a NumPy archive (.npz)")
	}
	arrays, found := map[string]*array{}, []string{}
	for _, member := range archive.File {
		name := strings.ToLower(strings.TrimSuffix(member.Name, ".npy"))
		if found = append(found, name); name != "x" && name != "y" {
			continue
		}
		r, err := member.Open()
		if err != nil {
			return nil, err
		}
		if arrays[name], err = openArray(bufio.NewReader(r), int64(member.UncompressedSize64), opt); err != nil {
			return nil, fmt.Errorf("array %s: %w", quote(name), err)
		}
	}
	x, y := arrays["x"], arrays["y"]
	if x == nil {
		return nil, fmt.Errorf("no array X among %s: np.savez(file, X=X, y=y) writes it", listTexts(found))
	}
	t := &table{file: f.name, opt: opt.bounded(), array: true}
	t.namePositions(x.cols)
	if y != nil {
		if y.rows != x.rows || y.cols != 1 {
			return nil, fmt.Errorf("y has shape (%d, %d), X has %d rows: one target for each is needed", y.rows,
				y.cols,
				x.rows)
		}
		t.columns = append(t.columns, column{name: "y"})
	}
	if err := t.planArrays(plan); err != nil {
		return nil, err
	}
	if err := t.fill(x, f.name, 0, 0); err != nil || y == nil {
		return t, err
	}
	return t, t.fill(y, f.name, 0, x.cols)
}
