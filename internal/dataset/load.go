package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"bootbench/linalg"
)

// Load reads the data set that path names:
//
//   - "-": Options.Stdin, a table or sparse lines;
//   - "synthetic:NAME,n=2000,seed=1,...": generated, see Generators;
//   - the name of an embedded set, see Names;
//   - a file: .csv and .tsv (a table), .svm and .libsvm (sparse lines), .txt, .data and .dat (either, which
//     is detected), .npy, .npz (arrays X and y), .parquet;
//   - several files with the same columns as one table, by a pattern such as rows-*.csv (see filepath.Match),
//     in the order of their names.
//
// Text and .npy may be compressed by gzip or zstd, with .gz or .zst after the other extension. A file with
// the name of an embedded set is given as ./NAME.
func Load(path string, opt Options) (*Set, error) { return load(path, opt, nil) }

// LoadInputs reads new inputs from a path as in Load, with targets or without. Missing values are treated as
// in the training set, unless opt says otherwise, and inputs are dense or sparse as there.
func (e *Encoding) LoadInputs(path string, opt Options) (*Inputs, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	return load(path, e.options(opt), e)
}

// load reads a training set, or new inputs for one.
func load(path string, opt Options, train *Encoding) (s *Set, err error) {
	switch {
	case strings.HasPrefix(path, syntheticPrefix):
		s, err = generate(path, opt)
	case slices.Contains(Names(), path):
		s, err = Open(path)
	default:
		return read(path, opt, train)
	}
	if err == nil && train != nil {
		err = train.take(s)
	}
	return s, err
}

// Files lists the file that a path names, which may not exist, or the files that match it as a pattern.
func Files(path string) ([]string, error) {
	if _, err := os.Stat(path); err == nil || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	paths, err := filepath.Glob(path)
	if err == nil && len(paths) == 0 {
		err = errors.New("no file has such a name")
	}
	if err != nil {
		return nil, &Error{File: path, Err: err}
	}
	return paths, nil
}

// read reads the files of a path as one: a training set, or new inputs for one.
func read(path string, opt Options, train *Encoding) (*Set, error) {
	paths, err := Files(path)
	if err != nil {
		return nil, err
	}
	var files []*source
	for _, p := range paths {
		f, err := open(p, opt)
		if err != nil {
			return nil, err
		}
		defer f.file.Close() // file may be nil
		files = append(files, f)
	}
	name := printable(path)
	if len(files) == 1 {
		name = files[0].name
	}
	return readFiles(name, files, opt, train)
}

func readFiles(name string, files []*source, opt Options, train *Encoding) (*Set, error) {
	opt = opt.complete()
	var to interface {
		readFile(f *source) error
		set() (*Set, error) // after the last file
	} = newTable(name, opt, train)
	if files[0].format == libsvmFormat {
		to = &sparse{name: name, opt: opt, train: train, x: linalg.CSR{Start: []int{0}}}
	}
	for _, f := range files {
		if (f.format == libsvmFormat) != (files[0].format == libsvmFormat) {
			return nil, errorIn(f.name,
				"is another kind of file than those before: files of one table are alike")
		}
		if err := to.readFile(f); err != nil {
			return nil, inFile(f.name, err)
		}
	}
	s, err := to.set()
	if err != nil {
		return nil, inFile(name, err)
	}
	return s, nil
}

type format int

const (
	unknownFormat format = iota
	tableFormat
	libsvmFormat
	eitherText // a table or sparse lines
	npyFormat
	npzFormat
	parquetFormat
)

// formats lists the formats by extension, compression's removed.
var formats = map[string]format{
	".csv": tableFormat, ".tsv": tableFormat, ".tab": tableFormat,
	".svm": libsvmFormat, ".libsvm": libsvmFormat,
	".txt": eitherText, ".data": eitherText, ".dat": eitherText,
	".npy": npyFormat, ".npz": npzFormat, ".parquet": parquetFormat,
}

// source is an opened file or stream.
type source struct {
	name    string // as messages show it
	format  format
	file    *os.File // nil for a stream
	size    int64    // of the file, 0 for a stream
	raw     *bufio.Reader
	text    *bufio.Reader // raw, decompressed; these are nil for .npz and .parquet
	in, out counted       // bytes of raw, and of its decompression
}

// open opens a file or standard input and finds its format.
func open(path string, opt Options) (*source, error) {
	s := &source{name: printable(path), format: eitherText}
	r := opt.Stdin
	if path == "-" {
		s.name = "standard input"
		if r == nil {
			return nil, errorIn(s.name, "not available here")
		}
	} else if err := s.openFile(path); err != nil {
		return nil, &Error{File: path, Err: reason(err)}
	} else {
		r = s.file
	}
	if s.format == npzFormat || s.format == parquetFormat { // read from anywhere, not compressed
		return s, nil
	}
	s.in.Reader = r
	s.raw = bufio.NewReader(&s.in)
	r, err := decompressed(s.raw)
	if err != nil {
		s.file.Close()
		return nil, errorIn(s.name, "decompressing: %w", err)
	}
	s.out.Reader = r
	s.text = newText(&s.out)
	if s.format == eitherText {
		s.format = tableFormat
		if sample, _ := s.text.Peek(sampleBytes); isSparse(sample) {
			s.format = libsvmFormat
		}
	}
	return s, nil
}

// textBytes estimates the size of the text, as if all were compressed like the beginning; 0 if unknown.
func (s *source) textBytes() float64 {
	if s.size == 0 || s.raw == nil {
		return 0
	}
	return float64(s.size) * float64(s.out.bytes) / float64(s.in.bytes-s.raw.Buffered())
}

// openFile opens a file that exists and has a known extension.
func (s *source) openFile(path string) error {
	plain := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	s.format = formats[filepath.Ext(plain)]
	info, err := os.Stat(path)
	switch {
	case err != nil && s.format == unknownFormat && filepath.Ext(path) == "" &&
		!strings.ContainsAny(path, `/\`):
		return fmt.Errorf("neither a file nor an embedded set (%s)", strings.Join(Names(), ", "))
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("is a directory")
	case s.format == unknownFormat:
		return errors.New("unknown extension: .csv, .tsv, .txt, .data, .dat, .svm, .libsvm, .npy, .npz or " +
			".parquet is needed; save a sheet or a table as CSV, an array as .npy")
	}
	s.size = info.Size()
	s.file, err = os.Open(path)
	return err
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	bytes int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}

// decompressed undoes the compression that the first bytes indicate.
func decompressed(b *bufio.Reader) (io.Reader, error) {
	lead, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(lead, []byte("\x1f\x8b")):
		return gzip.NewReader(b)
	case bytes.HasPrefix(lead, []byte("\x28\xb5\x2f\xfd")): // no goroutine, and a window of at most 64 MiB
		return zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<26))
	}
	return b, nil
}

// newText buffers the sample for detection, and skips the UTF-8 byte order mark.
func newText(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, 2*sampleBytes)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return b
}

// rows are the examples of a file of columns.
type rows struct {
	header
	// each calls add with each row, valid until add returns, and its line or number from 1.
	each func(add func(cells []cell, number int) error) error
	// left estimates how many rows follow the row that each gives; nil if nothing tells it.
	left func() float64
}

// header describes the columns of a file.
type header struct {
	names    []string
	headless bool              // the names are positions
	unit     string            // of places: a line of a text or a row of an array
	line     int               // of the names in a text
	refused  map[string]string // columns with neither numbers nor texts: their contents
}

// cell is the content of a cell: a text, "" if empty, or a number.
type cell struct {
	text     string
	number   float64
	isNumber bool
}

// asText is the cell as in a text file.
func (x cell) asText() string {
	if x.isNumber {
		return formatNumber(x.number)
	}
	return x.text
}

func (t *table) openRows(f *source) (*rows, error) {
	switch f.format {
	case npyFormat:
		a, err := openArray(f.text, t.opt)
		if err != nil {
			return nil, err
		}
		return arrayRows(f.textBytes, a), nil
	case npzFormat:
		return openArchive(f, t.opt, t.train == nil)
	case parquetFormat:
		return openParquet(f, t.opt)
	}
	return t.openText(f)
}

// readFile appends the rows of a file. All files must have the columns of the first.
func (t *table) readFile(f *source) (err error) {
	defer func() {
		if p := recover(); p != nil && f.format == parquetFormat { // the library trusts the contents of pages
			err = fmt.Errorf("damaged Parquet file: %v", p)
		} else if p != nil {
			panic(p)
		}
	}()
	r, err := t.openRows(f)
	if err != nil {
		return err
	}
	at := place{f.name, r.unit, r.line}
	if err := t.begin(r.header); err != nil {
		return at.error("", err)
	}
	return r.each(func(cells []cell, number int) error {
		at.number = number
		t.grow(r.left)
		return t.add(cells, at)
	})
}
