package dataset

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// array is a NumPy array with a row per example, whose header was read.
type array struct {
	rows, cols int
	element
	order   byteOrder
	fortran bool // column-major
	body    io.Reader
	held    []byte // a row, or the whole array if column-major
}

type byteOrder = binary.ByteOrder

// element is an element type of NumPy: its size in bytes, and its decoder.
type element struct {
	size   int
	number func(order byteOrder, b []byte) float64
}

var elements = map[string]element{
	"b1": {1, func(_ byteOrder, b []byte) float64 { return float64(b[0]) }},
	"u1": {1, func(_ byteOrder, b []byte) float64 { return float64(b[0]) }},
	"i1": {1, func(_ byteOrder, b []byte) float64 { return float64(int8(b[0])) }},
	"u2": {2, func(o byteOrder, b []byte) float64 { return float64(o.Uint16(b)) }},
	"i2": {2, func(o byteOrder, b []byte) float64 { return float64(int16(o.Uint16(b))) }},
	"u4": {4, func(o byteOrder, b []byte) float64 { return float64(o.Uint32(b)) }},
	"i4": {4, func(o byteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }},
	"f4": {4, func(o byteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }},
	"u8": {8, func(o byteOrder, b []byte) float64 { return float64(o.Uint64(b)) }},
	"i8": {8, func(o byteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }},
	"f8": {8, func(o byteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }},
}

// row appends the elements of row i to cells; rows are read in order.
func (a *array) row(i int, cells []cell) ([]cell, error) {
	var err error
	first, step := 0, 1
	if !a.fortran {
		_, err = io.ReadFull(a.body, a.held)
	} else if first, step = i, a.rows; i == 0 {
		var all bytes.Buffer
		_, err = io.CopyN(&all, a.body, int64(a.size)*int64(a.rows)*int64(a.cols))
		a.held = all.Bytes()
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the file ends before the %d x %d elements of its shape", a.rows, a.cols)
	}
	if err != nil {
		return nil, err
	}
	for j := range a.cols {
		v := a.number(a.order, a.held[(first+j*step)*a.size:])
		cells = append(cells, cell{number: v, isNumber: true})
	}
	return cells, nil
}

// arrayRows are the rows of arrays of equally many rows, side by side. Columns are named x1, x2, ...; NaN is
// a missing value. Data after the last row are refused. The bytes of the first array, 0 if unknown, bound
// what its header may say.
func arrayRows(bytes func() float64, parts ...*array) *rows {
	x, width, given := parts[0], 0, 0.0
	for _, a := range parts {
		width += a.cols
	}
	r := &rows{header: header{names: numbered("x", width), headless: true, unit: "row"}}
	if bytes() > 0 {
		r.left = func() float64 { return min(float64(x.rows), bytes()/float64(x.size*x.cols)) - given }
	}
	r.each = func(add func([]cell, int) error) (err error) {
		cells := make([]cell, 0, width)
		for i := range x.rows {
			cells = cells[:0]
			for _, a := range parts {
				if cells, err = a.row(i, cells); err != nil {
					return err
				}
			}
			given++
			if err := add(cells, i+1); err != nil {
				return err
			}
		}
		for _, a := range parts {
			if n, _ := io.ReadFull(a.body, make([]byte, 1)); n > 0 {
				return fmt.Errorf("more bytes than shape (%d, %d) accounts for", a.rows, a.cols)
			}
		}
		return nil
	}
	return r
}

// openArchive reads the arrays X and y of an .npz archive. New inputs need no y.
func openArchive(f *source, opt Options, training bool) (*rows, error) {
	archive, err := zip.NewReader(f.file, f.size)
	if err != nil {
		return nil, errors.New("not a NumPy archive (.npz)")
	}
	const mostExpanded = 1032 // times by deflate
	bytes := 0.0
	found, names := map[string]*array{}, []string{}
	for _, member := range archive.File {
		name := strings.ToLower(strings.TrimSuffix(member.Name, ".npy"))
		if names = append(names, name); name != "x" && name != "y" {
			continue
		}
		r, err := member.Open()
		if err == nil {
			found[name], err = openArray(r, opt)
		}
		if name == "x" {
			bytes = min(float64(member.UncompressedSize64), mostExpanded*float64(member.CompressedSize64))
		}
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", quote(name), err)
		}
	}
	x, y, size := found["x"], found["y"], func() float64 { return bytes }
	switch {
	case x == nil:
		return nil, fmt.Errorf("no array X among %s: np.savez(file, X=X, y=y) writes it", listTexts(names))
	case y == nil && training:
		return nil, errors.New("the archive has no array y: np.savez(file, X=X, y=y) writes both")
	case y == nil:
		return arrayRows(size, x), nil
	case y.rows != x.rows || y.cols != 1:
		return nil, fmt.Errorf("y has shape (%d, %d), X has %d rows: one target for each is needed", y.rows,
			y.cols, x.rows)
	}
	return arrayRows(size, x, y), nil
}

// The fields of the header of a .npy file, a Python dictionary.
var (
	npyElement = regexp.MustCompile(`'descr': *'([<>|=]?)([a-zA-Z][^']*)'`)
	npyRecords = regexp.MustCompile(`'descr': *\[`)
	npyFortran = regexp.MustCompile(`'fortran_order': *(True|False)`)
	npyShape   = regexp.MustCompile(`'shape': *\(([-\d, ]*)\)`)
)

// openArray reads the header of a .npy file, in version 1 or 2 of its format.
func openArray(r io.Reader, opt Options) (*array, error) {
	damaged := errors.New("damaged NumPy header")
	const longest = 1 << 16 // two dimensions and a type take about a hundred bytes
	a := &array{order: binary.LittleEndian, body: bufio.NewReader(r)}
	lead := make([]byte, 12)
	n, _ := io.ReadFull(a.body, lead[:10])
	if n < 8 || string(lead[:6]) != "\x93NUMPY" {
		return nil, errors.New("not a NumPy (.npy) file")
	}
	switch lead[6] {
	case 1:
	case 2:
		io.ReadFull(a.body, lead[10:])
	default:
		return nil, fmt.Errorf("NumPy format version %d is not known", lead[6])
	}
	length := binary.LittleEndian.Uint32(lead[8:])
	if length > longest {
		return nil, damaged
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(a.body, header); err != nil {
		return nil, damaged
	}
	of, fortran := npyElement.FindSubmatch(header), npyFortran.FindSubmatch(header)
	shape := npyShape.FindSubmatch(header)
	switch {
	case npyRecords.Match(header):
		return nil, errors.New("a structured array: numpy.lib.recfunctions.structured_to_unstructured(a) " +
			"makes a plain one of it")
	case of == nil || fortran == nil || shape == nil:
		return nil, damaged
	}
	var known bool
	if a.element, known = elements[string(of[2])]; !known {
		return nil, fmt.Errorf("elements of type %s: numbers are needed, a.astype(float) makes them",
			quote(string(of[1])+string(of[2])))
	}
	if a.fortran = string(fortran[1]) == "True"; string(of[1]) == ">" {
		a.order = binary.BigEndian
	}
	sides := strings.FieldsFunc(string(shape[1]), func(c rune) bool { return c == ',' || c == ' ' })
	if len(sides) != 1 && len(sides) != 2 {
		return nil, fmt.Errorf("shape (%s): an array of two dimensions is needed", shape[1])
	}
	var high, wide error
	a.rows, high = strconv.Atoi(sides[0])
	a.cols, wide = strconv.Atoi(append(sides, "1")[1])
	switch {
	case high != nil || wide != nil:
		return nil, damaged
	case a.rows < 1 || a.cols < 1:
		return nil, fmt.Errorf("shape (%d, %d) holds no examples", a.rows, a.cols)
	}
	err := opt.fitsDense(a.rows, a.cols)
	if err == nil && a.fortran { // it is held beside the matrix
		err = opt.fits(32*float64(a.rows)*float64(a.cols), "%d rows of %d columns in Fortran order", a.rows,
			a.cols)
	}
	if err != nil {
		return nil, err
	}
	if a.cols > mostColumns {
		return nil, errColumns
	}
	a.held = make([]byte, a.size*a.cols)
	return a, nil
}
