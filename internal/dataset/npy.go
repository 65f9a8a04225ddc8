package dataset

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sbinet/npyio/npy"
)

// arrays are NumPy arrays side by side, a row per example: one with the target in the last column, or the X
// and y of an archive. Elements are floats of 4 or 8 bytes, integers or booleans in either byte order; C and
// Fortran order are accepted. Columns are named x1, x2, ... and y; NaN is a missing value.
type arrays struct {
	parts  []*array
	head   header
	number int
	cells  []cell
}

func (a *arrays) header() header { return a.head }

func (a *arrays) next() ([]cell, int, error) {
	a.cells = a.cells[:0]
	for _, part := range a.parts {
		row, err := part.next()
		if err != nil {
			return nil, 0, err
		}
		for _, v := range row {
			a.cells = append(a.cells, cell{number: v, isNumber: true})
		}
	}
	a.number++
	return a.cells, a.number, nil
}

// openArray reads the header of a .npy file.
func openArray(f *source, opt Options) (*arrays, error) {
	a, err := newArray(f.text, f.size, opt)
	if err != nil {
		return nil, err
	}
	head := header{names: numbered("x", a.cols), headless: true, array: true}
	return &arrays{parts: []*array{a}, head: head}, nil
}

// openArchive reads the headers of an .npz archive with the arrays X and y. New inputs need no y.
func openArchive(f *source, opt Options) (*arrays, error) {
	archive, err := zip.NewReader(f.file, f.size)
	if err != nil {
		return nil, errors.New("not a NumPy archive (.npz)")
	}
	found, names := map[string]*array{}, []string{}
	for _, member := range archive.File {
		name := strings.ToLower(strings.TrimSuffix(member.Name, ".npy"))
		if names = append(names, name); name != "x" && name != "y" {
			continue
		}
		r, err := member.Open()
		if err == nil {
			found[name], err = newArray(bufio.NewReader(r), int64(member.UncompressedSize64), opt)
		}
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", quote(name), err)
		}
	}
	x, y := found["x"], found["y"]
	if x == nil {
		return nil, fmt.Errorf("no array X among %s: np.savez(file, X=X, y=y) writes it", listTexts(names))
	}
	a := &arrays{parts: []*array{x}, head: header{names: numbered("x", x.cols), headless: true, array: true,
		noTarget: y == nil}}
	if y != nil {
		if y.rows != x.rows || y.cols != 1 {
			return nil, fmt.Errorf("y has shape (%d, %d), X has %d rows: one target for each is needed", y.rows,
				y.cols, x.rows)
		}
		a.parts, a.head.names = append(a.parts, y), append(a.head.names, "y")
	}
	return a, nil
}

// array is a NumPy array whose header was read.
type array struct {
	rows, cols int
	body       io.Reader
	read       func(dst []float64) error // the next elements, in the order of the file
	given      int                       // rows
	row        []float64
	fortran    bool      // elements come by columns:
	all        []float64 // are read before the first row
}

// newArray reads a header and compares it with the size of the file, negative if that is not known: npyio
// trusts what a header says.
func newArray(r *bufio.Reader, size int64, opt Options) (*array, error) {
	const longestHeader = 1 << 16 // two dimensions and a type take about a hundred bytes
	lead, _ := r.Peek(12)
	switch {
	case len(lead) < 8 || string(lead[:6]) != "\x93NUMPY":
		return nil, errors.New("not a NumPy (.npy) file")
	case lead[6] != 1 && lead[6] != 2:
		return nil, fmt.Errorf("NumPy format version %d is not known", lead[6])
	case len(lead) < 12 || lead[6] == 2 && binary.LittleEndian.Uint32(lead[8:]) > longestHeader:
		return nil, errHeader
	}
	counted := &io.LimitedReader{R: r, N: 2 * longestHeader}
	header, err := readHeader(counted)
	if err != nil {
		return nil, errHeader
	}
	a := &array{body: r, fortran: header.Header.Descr.Fortran}
	bytes, err := a.setType(header.Header.Descr.Type)
	if err != nil {
		return nil, err
	}
	switch shape := header.Header.Descr.Shape; len(shape) {
	case 1:
		a.rows, a.cols = shape[0], 1
	case 2:
		a.rows, a.cols = shape[0], shape[1]
	default:
		return nil, fmt.Errorf("shape %v: an array of two dimensions is needed", shape)
	}
	if a.rows < 1 || a.cols < 1 {
		return nil, fmt.Errorf("shape (%d, %d) holds no examples", a.rows, a.cols)
	}
	if err := opt.fitsDense(a.rows, a.cols); err != nil {
		return nil, err
	}
	if a.cols > mostColumns {
		return nil, errColumns
	}
	need := 2*longestHeader - counted.N + int64(bytes)*int64(a.rows)*int64(a.cols)
	switch {
	case size >= 0 && size < need:
		return nil, a.errShort()
	case size >= 0 && size > need:
		return nil, a.errLong()
	}
	a.row = make([]float64, a.cols)
	return a, nil
}

var errHeader = errors.New("damaged NumPy header")

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
func (a *array) setType(name string) (bytes int, err error) {
	types := map[string]func(io.Reader, binary.ByteOrder) func([]float64) error{
		"f4": elementsOf[float32], "f8": elementsOf[float64], "b1": elementsOf[uint8],
		"i1": elementsOf[int8], "i2": elementsOf[int16], "i4": elementsOf[int32], "i8": elementsOf[int64],
		"u1": elementsOf[uint8], "u2": elementsOf[uint16], "u4": elementsOf[uint32], "u8": elementsOf[uint64],
	}
	if len(name) != 3 || !strings.Contains("<>|", name[:1]) || types[name[1:]] == nil {
		return 0, fmt.Errorf("elements of type %s: numbers are needed, a.astype(float) makes them", quote(name))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if name[0] == '>' {
		order = binary.BigEndian
	}
	a.read = types[name[1:]](a.body, order)
	return int(name[2] - '0'), nil
}

// elementsOf reads the next elements of an array.
func elementsOf[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	r io.Reader, order binary.ByteOrder) func(dst []float64) error {
	var values []T
	return func(dst []float64) error {
		values = slices.Grow(values[:0], len(dst))[:len(dst)]
		err := binary.Read(r, order, values)
		for k, v := range values {
			dst[k] = float64(v)
		}
		return err
	}
}

// next is the next row, or io.EOF.
func (a *array) next() ([]float64, error) {
	switch {
	case a.given == a.rows:
		if n, _ := io.ReadFull(a.body, make([]byte, 1)); n > 0 {
			return nil, a.errLong()
		}
		return nil, io.EOF
	case !a.fortran:
		if err := a.fill(a.row); err != nil {
			return nil, err
		}
	default:
		var piece [1 << 12]float64
		for rest := a.rows*a.cols - len(a.all); rest > 0; rest = a.rows*a.cols - len(a.all) {
			some := piece[:min(len(piece), rest)]
			if err := a.fill(some); err != nil {
				return nil, err
			}
			a.all = append(a.all, some...)
		}
		for j := range a.row {
			a.row[j] = a.all[j*a.rows+a.given]
		}
	}
	a.given++
	return a.row, nil
}

// fill reads the next elements.
func (a *array) fill(dst []float64) error {
	err := a.read(dst)
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
