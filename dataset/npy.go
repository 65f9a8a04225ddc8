package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ReadNPY reads a NumPy file (format versions 1 to 3) with one array of two
// dimensions: a row per example, features first, target in the last column unless
// the options name another. Elements are floats of 4 or 8 bytes, integers or
// booleans in either byte order; C and Fortran order are accepted. Columns are
// named x1, x2, ... and y; NaN is a missing value. The header is not trusted:
// memory grows with what was read, never with what was announced.
func ReadNPY(r io.Reader, name string, opt Options) (*Set, error) {
	return arraySource{name: name, stream: r}.set(opt)
}

// arraySource is where an array comes from.
type arraySource struct {
	name   string
	stream io.Reader
	file   *os.File // the same, not packed; nil: it can only be read from its beginning
}

// readArrayFiles reads an array, or several as one table.
func readArrayFiles(files []*source, name string, opt Options, plan func(t *table) error) (*table, error) {
	if len(files) > 1 {
		return readArrays(arraysOf(files), name, opt, plan)
	}
	t, err := files[0].array().read(opt, plan)
	if err != nil {
		return nil, inFile(name, err)
	}
	return t, nil
}

// set reads a training set.
func (s arraySource) set(opt Options) (*Set, error) {
	t, err := s.read(opt, (*table).planTrainingArray)
	if err != nil {
		return nil, inFile(s.name, err)
	}
	return t.trainingArray()
}

// planTrainingArray is planTraining for an array, which must hold a feature and a target.
func (t *table) planTrainingArray() error {
	if len(t.columns) < 2 {
		return fmt.Errorf("shape (%d, %d): at least one feature and a target column are needed", t.rows,
			len(t.columns))
	}
	return t.planTraining()
}

// trainingArray makes a training set of an array whose columns have their roles.
func (t *table) trainingArray() (*Set, error) {
	if err := t.checkNumbers(); err != nil {
		return nil, t.bad(err)
	}
	return t.set()
}

// inputArray makes new inputs of an array likewise.
func (t *table) inputArray(train *Set) (*Inputs, error) {
	if err := t.checkNumbers(); err != nil {
		return nil, t.bad(err)
	}
	return t.inputs(train)
}

// inFile adds the name of the file to an error.
func inFile(name string, err error) error {
	if e, ok := err.(*Error); ok {
		e.File = name
		return e
	}
	return &Error{File: name, Err: reason(err)}
}

// arrayHeader is the header of a NumPy file.
type arrayHeader struct {
	rows, cols int
	flat       bool // one dimension: a column
	fortran    bool // columns first
	kind       byte // of an element: f, i, u or b
	size       int  // its bytes
	order      binary.ByteOrder
	length     int64 // bytes of the header
}

// read reads header and elements, after plan has given the columns their roles, and nothing
// may follow.
func (s arraySource) read(opt Options, plan func(t *table) error) (*table, error) {
	if _, plain := s.size(); plain {
		return readArrays([]arraySource{s}, s.name, opt, plan)
	}
	b := bufio.NewReaderSize(s.stream, 1<<16)
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
	t := newArrayTable(s.name, h.rows, h.cols, opt)
	t.byColumn = h.fortran
	if err := h.readElements(b, &t.cells); err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); err != io.EOF {
		return nil, h.errLong()
	}
	return t, plan(t)
}

// newArrayTable is a table of numbers.
func newArrayTable(name string, rows, cols int, opt Options) *table {
	t := &table{file: name, opt: opt, array: true, rows: rows, stride: cols}
	t.namePositions(cols)
	for j := range t.columns {
		t.columns[j].kind = numbers
		t.used = append(t.used, j)
	}
	return t
}

// readArrayHeaders reads those of arrays that stand in files as one table, and adds up their rows.
func readArrayHeaders(sources []arraySource) (files []arrayFile, rows int, err error) {
	for _, s := range sources {
		h, err := readArrayHeader(bufio.NewReaderSize(s.stream, 1<<12))
		switch {
		case err != nil:
		case h.rows < 1 || h.cols < 1:
			err = fmt.Errorf("shape (%d, %d) holds no examples", h.rows, h.cols)
		case len(files) > 0 && h.cols != files[0].h.cols:
			err = fmt.Errorf("%d columns, %s has %d: files of one table have the same columns", h.cols,
				sources[0].name, files[0].h.cols)
		}
		if err != nil {
			return nil, 0, inFile(s.name, err)
		}
		files = append(files, arrayFile{h: h, from: s.file})
		rows += h.rows
	}
	return files, rows, nil
}

// readArrays reads arrays in files that can be read from anywhere as one, row after row: all of it, or a
// rank's even part of the rows.
func readArrays(sources []arraySource, name string, opt Options, plan func(t *table) error) (*table, error) {
	files, rows, err := readArrayHeaders(sources)
	if err != nil {
		return nil, err
	}
	first, last := 0, rows
	if opt.Ranks != nil {
		first, last = bound(rows, opt.Ranks.Rank(), opt.Ranks.Size()), bound(rows, opt.Ranks.Rank()+1,
			opt.Ranks.Size())
	}
	cols := files[0].h.cols
	if err := opt.checkSize(opt.share(rows), cols); err != nil {
		return nil, inFile(name, err)
	}
	for k, s := range sources {
		size, plain := s.size()
		if !plain {
			return nil, inFile(s.name, errors.New("is packed: several arrays are read as one table if they are not"))
		}
		if err := files[k].h.checkLength(size); err != nil {
			return nil, inFile(s.name, err)
		}
	}
	t := newArrayTable(name, last-first, cols, opt)
	if err := plan(t); err != nil {
		return nil, inFile(name, err)
	}
	t.placed = newPlaced(t.rows, t.columns)
	before := 0 // rows in the files before
	for k := range files {
		f := &files[k]
		from, to := max(first, before), min(last, before+f.h.rows)
		if f.first, f.rows = from-before, to-from; from < to {
			if err := f.read(t.placed.tail(from - first)); err != nil {
				return nil, inFile(sources[k].name, err)
			}
		}
		before += f.h.rows
	}
	return t, nil
}

// size is the number of bytes of a file that can be read from anywhere.
func (s arraySource) size() (int64, bool) {
	if s.file == nil {
		return 0, false
	}
	info, err := s.file.Stat()
	return info.Size(), err == nil && info.Mode().IsRegular()
}

// checkLength compares the size of a file with that of header and elements.
func (h *arrayHeader) checkLength(size int64) error {
	switch need := h.length + int64(h.size)*int64(h.rows)*int64(h.cols); {
	case size < need:
		return h.errShort()
	case size > need:
		return h.errLong()
	}
	return nil
}

// readElements reads rows*cols numbers piece by piece.
func (h *arrayHeader) readElements(b *bufio.Reader, cells *cellList) error {
	piece, values := make([]byte, 1<<15), make([]float64, 1<<15)
	for left := h.rows * h.cols; left > 0; {
		n := min(left, len(piece)/h.size)
		if _, err := io.ReadFull(b, piece[:n*h.size]); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return h.errShort()
			}
			return err
		}
		h.decode(values[:n], piece)
		cells.appendAll(values[:n])
		left -= n
	}
	return nil
}

// decode decodes the first elements of b into dst.
func (h *arrayHeader) decode(dst []float64, b []byte) {
	if h.kind == 'f' && h.size == 8 && h.order == binary.LittleEndian {
		for k := range dst {
			dst[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
		return
	}
	for k := range dst {
		dst[k] = h.element(b[k*h.size:])
	}
}

// element decodes the first element of b.
func (h *arrayHeader) element(b []byte) float64 {
	var bits uint64
	switch h.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(h.order.Uint16(b))
	case 4:
		bits = uint64(h.order.Uint32(b))
	default:
		bits = h.order.Uint64(b)
	}
	switch unused := 64 - 8*h.size; {
	case h.kind == 'f' && h.size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case h.kind == 'f':
		return math.Float64frombits(bits)
	case h.kind == 'i':
		return float64(int64(bits<<unused) >> unused)
	}
	return float64(bits)
}

// checkNumbers counts the missing values of an array and refuses infinities.
func (t *table) checkNumbers() error {
	for k, j := range t.used {
		c := &t.columns[j]
		if c.role == unused {
			continue
		}
		for i := range t.rows {
			switch v := t.at(i, k); {
			case math.IsNaN(v):
				c.miss(i + 1)
			case math.IsInf(v, 0):
				return &Error{Row: i + 1, Column: c.name, Err: checkFinite(v)}
			}
		}
	}
	return nil
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
	h, err := parseArrayHeader(string(text))
	h.length = int64(len(lead)) + int64(length) + 2
	if lead[6] > 1 {
		h.length += 2
	}
	return h, err
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
	name, _, closed := strings.Cut(rest, "'")
	if !quoted || !closed {
		return errors.New("arrays with named fields are not supported: save one float64 array of two dimensions")
	}
	switch {
	case slices.Contains([]string{"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"},
		name[min(1, len(name)):]):
		h.kind, h.size = name[1], int(name[2]-'0')
	default:
		return fmt.Errorf("elements of type %s: numbers are needed, a.astype(float) makes them", quote(name))
	}
	switch {
	case name[0] == '>':
		h.order = binary.BigEndian
	case name[0] == '<' || h.size == 1:
		h.order = binary.LittleEndian
	default:
		return fmt.Errorf("elements of type %s: the byte order is not known", quote(name))
	}
	return nil
}

// setShape reads a shape such as (506, 14) or (506,).
func (h *arrayHeader) setShape(value string) error {
	rest, opened := strings.CutPrefix(value, "(")
	list, _, closed := strings.Cut(rest, ")")
	if !opened || !closed {
		return errors.New("damaged NumPy header")
	}
	list = strings.TrimSuffix(strings.TrimSpace(list), ",")
	sizes := strings.Split(list, ",")
	if len(sizes) > 2 || list == "" {
		return fmt.Errorf("shape %s: an array of two dimensions is needed", quote("("+list+")"))
	}
	h.cols, h.flat = 1, len(sizes) == 1
	for k, into := range []*int{&h.rows, &h.cols}[:len(sizes)] {
		v, err := strconv.Atoi(strings.TrimSpace(sizes[k]))
		if err != nil || v < 0 {
			return fmt.Errorf("shape %s is not a pair of sizes", quote("("+list+")"))
		}
		*into = v
	}
	return nil
}
