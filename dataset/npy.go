package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadNPY reads a NumPy file (format versions 1 to 3) with one array of two
// dimensions: a row per example, features first, target in the last column.
// Elements are float64 or float32 in either byte order; C and Fortran order
// are accepted. Columns are named x1, x2, ... and y. The header is not trusted:
// memory grows with what was read, never with what was announced.
func ReadNPY(r io.Reader, name string, opt Options) (*Set, error) {
	a, err := readArray(r, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	if a.cols < 2 {
		return nil, &Error{File: name, Err: fmt.Errorf("shape (%d, %d): at least one feature and a target column are needed", a.rows, a.cols)}
	}
	x, y, err := a.split(a.cols - 1)
	if err != nil {
		return nil, inFile(name, err)
	}
	return newFileSet(name, numbered(x.Cols), "y", x, y)
}

// inFile adds the name of the file to an error.
func inFile(name string, err error) error {
	if e, ok := err.(*Error); ok {
		e.File = name
		return e
	}
	return &Error{File: name, Err: reason(err)}
}

// array is a NumPy array of two dimensions, elements in the order of the file.
type array struct {
	arrayHeader
	data []float64
}

// arrayHeader is the header of a NumPy file.
type arrayHeader struct {
	rows, cols int
	fortran    bool             // columns first
	size       int              // bytes of an element: 4 or 8
	order      binary.ByteOrder // of an element
}

// readArray reads header and elements, and nothing may follow.
func readArray(r io.Reader, opt Options) (*array, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	h, err := readArrayHeader(b)
	if err != nil {
		return nil, err
	}
	if h.rows < 1 || h.cols < 1 {
		return nil, fmt.Errorf("shape (%d, %d) holds no examples", h.rows, h.cols)
	}
	if err := opt.checkSize(h.rows, h.cols); err != nil {
		return nil, err
	}
	a := &array{arrayHeader: h}
	if err := a.readElements(b); err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); err != io.EOF {
		return nil, fmt.Errorf("more bytes than shape (%d, %d) accounts for", h.rows, h.cols)
	}
	return a, nil
}

// readElements reads rows*cols numbers piece by piece.
func (a *array) readElements(b *bufio.Reader) error {
	piece := make([]byte, 1<<15)
	for left := a.rows * a.cols; left > 0; {
		n := min(left, len(piece)/a.size)
		if _, err := io.ReadFull(b, piece[:n*a.size]); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return fmt.Errorf("the file ends before the %d x %d elements of its shape", a.rows, a.cols)
			}
			return err
		}
		for k := range n {
			a.data = append(a.data, a.element(piece[k*a.size:]))
		}
		left -= n
	}
	return nil
}

// element decodes the first element of b.
func (a *array) element(b []byte) float64 {
	if a.size == 4 {
		return float64(math.Float32frombits(a.order.Uint32(b)))
	}
	return math.Float64frombits(a.order.Uint64(b))
}

// split takes the first d columns as inputs and the next one, if there is
// one, as targets.
func (a *array) split(d int) (Matrix, []float64, error) {
	x := NewMatrix(a.rows, d)
	var y []float64
	if a.cols > d {
		y = make([]float64, a.rows)
	}
	for i := range a.rows {
		row := x.Row(i)
		for j := range a.cols {
			k := i*a.cols + j
			if a.fortran {
				k = j*a.rows + i
			}
			v := a.data[k]
			if err := checkFinite(v); err != nil {
				return Matrix{}, nil, &Error{Row: i + 1, Column: a.columnName(j, d), Err: err}
			}
			if j < d {
				row[j] = v
			} else {
				y[i] = v
			}
		}
	}
	return x, y, nil
}

func (a *array) columnName(j, d int) string {
	if j == d {
		return "y"
	}
	return "x" + strconv.Itoa(j+1)
}

// longestHeader bounds the text of a NumPy header; two dimensions and a plain
// element type take about a hundred bytes.
const longestHeader = 1 << 16

// readArrayHeader reads the magic string, the version and the header text.
func readArrayHeader(r io.Reader) (arrayHeader, error) {
	var lead [8]byte
	if _, err := io.ReadFull(r, lead[:]); err != nil || string(lead[:6]) != "\x93NUMPY" {
		return arrayHeader{}, errors.New("not a NumPy (.npy) file")
	}
	var length uint32
	var err error
	switch lead[6] {
	case 1:
		var short uint16
		err = binary.Read(r, binary.LittleEndian, &short)
		length = uint32(short)
	case 2, 3:
		err = binary.Read(r, binary.LittleEndian, &length)
	default:
		return arrayHeader{}, fmt.Errorf("NumPy format version %d is not known", lead[6])
	}
	if err != nil || length > longestHeader {
		return arrayHeader{}, errors.New("damaged NumPy header")
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return arrayHeader{}, errors.New("damaged NumPy header")
	}
	return parseArrayHeader(string(text))
}

// parseArrayHeader reads the Python dictionary of the header, such as
// {'descr': '<f8', 'fortran_order': False, 'shape': (506, 14), }.
func parseArrayHeader(text string) (arrayHeader, error) {
	descr, ok1 := headerValue(text, "descr")
	order, ok2 := headerValue(text, "fortran_order")
	shape, ok3 := headerValue(text, "shape")
	if !ok1 || !ok2 || !ok3 {
		return arrayHeader{}, errors.New("damaged NumPy header")
	}
	var h arrayHeader
	if err := h.setType(descr); err != nil {
		return arrayHeader{}, err
	}
	if err := h.setShape(shape); err != nil {
		return arrayHeader{}, err
	}
	h.fortran = strings.HasPrefix(order, "True")
	if !h.fortran && !strings.HasPrefix(order, "False") {
		return arrayHeader{}, errors.New("damaged NumPy header")
	}
	return h, nil
}

// headerValue returns what follows the key and its colon.
func headerValue(text, key string) (string, bool) {
	_, rest, ok := strings.Cut(text, "'"+key+"'")
	rest, colon := strings.CutPrefix(strings.TrimLeft(rest, " "), ":")
	return strings.TrimLeft(rest, " "), ok && colon
}

// setType reads an element type such as '<f8'.
func (h *arrayHeader) setType(value string) error {
	rest, quoted := strings.CutPrefix(value, "'")
	kind, _, closed := strings.Cut(rest, "'")
	if !quoted || !closed {
		return errors.New("arrays with named fields are not supported: save one float64 array of two dimensions")
	}
	switch kind {
	case "<f8":
		h.order, h.size = binary.LittleEndian, 8
	case ">f8":
		h.order, h.size = binary.BigEndian, 8
	case "<f4":
		h.order, h.size = binary.LittleEndian, 4
	case ">f4":
		h.order, h.size = binary.BigEndian, 4
	default:
		return fmt.Errorf("elements of type %s: float64 or float32 is needed, a.astype(float) makes it", quote(kind))
	}
	return nil
}

// setShape reads a shape such as (506, 14).
func (h *arrayHeader) setShape(value string) error {
	rest, opened := strings.CutPrefix(value, "(")
	list, _, closed := strings.Cut(rest, ")")
	if !opened || !closed {
		return errors.New("damaged NumPy header")
	}
	list = strings.TrimSuffix(strings.TrimSpace(list), ",")
	sizes := strings.Split(list, ",")
	if len(sizes) != 2 {
		return fmt.Errorf("shape %s: an array of two dimensions is needed", quote("("+list+")"))
	}
	for k, into := range []*int{&h.rows, &h.cols} {
		v, err := strconv.Atoi(strings.TrimSpace(sizes[k]))
		if err != nil || v < 0 {
			return fmt.Errorf("shape %s is not a pair of sizes", quote("("+list+")"))
		}
		*into = v
	}
	return nil
}
